package io.flowlag.exporter.runtime.collect;

import java.io.ByteArrayOutputStream;
import java.util.HexFormat;

/** IPFIX files put together by hand, in hexadecimal. */
final class IpfixFiles {
    /** Template 256: src, dst, ports, protocol, packets, octets, start and end in ms, end reason. */
    static final String FLOW_TEMPLATE =
        "0100 000a 0008 0004 000c 0004 0007 0002 000b 0002 0004 0001 0002 0008 0001 0008 0098 0008 0099 0008 0088 0001";
    /** 2026-11-21T08:00:00.000Z in ms. */
    static final long START_MS = 1_795_248_000_000L;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private int sequence;

    /** A Set around records in hexadecimal. */
    static String set(final int setId, final String records) {
        final String digits = records.replace(" ", "");
        return String.format("%04x%04x%s", setId, 4 + digits.length() / 2, digits);
    }

    static String flow(final String src, final String dst, final int packets, final int durationMs) {
        return src + dst + "c001" + "0035" + "11" + String.format("%016x%016x%016x%016x", packets, packets * 100L, START_MS,
            START_MS + durationMs) + "01";
    }

    IpfixFiles message(final int recordCount, final String... sets) {
        final String body = String.join("", sets).replace(" ", "");
        final String header = String.format("000a%04x%08x%08x%08x", 16 + body.length() / 2, START_MS / 1000, sequence, 1);
        out.writeBytes(HexFormat.of().parseHex(header + body));
        sequence += recordCount;
        return this;
    }

    IpfixFiles octets(final byte[] octets) {
        out.writeBytes(octets);
        return this;
    }

    byte[] toBytes() {
        return out.toByteArray();
    }

    /** Two flows. */
    static byte[] twoFlows() {
        return new IpfixFiles().message(2, set(2, FLOW_TEMPLATE),
            set(256, flow("c0000201", "c6336402", 5, 1500) + flow("0a000001", "cb007103", 1, 0))).toBytes();
    }
}
