package io.flowlag.exporter.decode;

import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.HexFormat;

/** Builds packets layer by layer, from the inside out; every number is as it is on the wire. */
final class Frames {
    static final String SOURCE_IPV4 = "c0000201";
    static final String DESTINATION_IPV4 = "c6336402";
    static final String SOURCE_IPV6 = "20010db8000000000000000000000001";
    static final String DESTINATION_IPV6 = "20010db8000100000000000000000002";

    private Frames() {
    }

    static byte[] hex(final String digits) {
        return HexFormat.of().parseHex(digits.replace(" ", ""));
    }

    static byte[] join(final byte[]... parts) {
        final ByteArrayOutputStream joined = new ByteArrayOutputStream();
        for (final byte[] part : parts) {
            joined.writeBytes(part);
        }
        return joined.toByteArray();
    }

    /** A header written as hexadecimal digits with {@code %} fields of {@link String#format}, then its payload. */
    static byte[] header(final String format, final byte[] payload, final Object... fields) {
        return join(hex(String.format(format, fields)), payload);
    }

    static byte[] cut(final byte[] frame, final int lengthBytes) {
        return Arrays.copyOf(frame, lengthBytes);
    }

    static byte[] with(final byte[] frame, final int index, final int octet) {
        final byte[] changed = frame.clone();
        changed[index] = (byte)octet;
        return changed;
    }

    /** {@return octets 1, 2, ..} */
    static byte[] payload(final int lengthBytes) {
        final byte[] payload = new byte[lengthBytes];
        for (int i = 0; i < lengthBytes; i++) {
            payload[i] = (byte)(i + 1);
        }
        return payload;
    }

    static byte[] ethernet(final int typeOrLength, final byte[] payload) {
        return header("0200000000020200000000 01 %04x", payload, typeOrLength);
    }

    static byte[] vlan(final int id, final int type, final byte[] payload) {
        return header("%04x %04x", payload, id, type);
    }

    static byte[] mpls(final int label, final boolean isBottom, final byte[] payload) {
        return header("%08x", payload, label << 12 | (isBottom ? 0x100 : 0) | 64);
    }

    static byte[] pppoe(final int protocol, final byte[] payload) {
        return header("1100 0007 %04x %04x", payload, payload.length + 2, protocol);
    }

    static byte[] ipv4(final int protocol, final byte[] payload) {
        return ipv4(0x1234, 0x4000, protocol, payload);
    }

    static byte[] ipv4(final int identification, final int flagsAndOffset, final int protocol, final byte[] payload) {
        return header("45b8 %04x %04x %04x 3f %02x abcd " + SOURCE_IPV4 + DESTINATION_IPV4,
            payload, 20 + payload.length, identification, flagsAndOffset, protocol);
    }

    static byte[] ipv6(final int nextHeader, final byte[] payload) {
        return header("6b845678 %04x %02x 3e " + SOURCE_IPV6 + DESTINATION_IPV6, payload, payload.length, nextHeader);
    }

    /** Hop-by-hop or destination options, or routing: one of 8 octets. */
    static byte[] extension(final int nextHeader, final byte[] payload) {
        return header("%02x 00 01 04 00000000", payload, nextHeader);
    }

    static byte[] ipv6Fragment(
        final int nextHeader, final int offsetAndMore, final int identification, final byte[] payload) {
        return header("%02x 00 %04x %08x", payload, nextHeader, offsetAndMore, identification);
    }

    static byte[] udp(final int sourcePort, final int destinationPort, final byte[] payload) {
        return header("%04x %04x %04x beef", payload, sourcePort, destinationPort, 8 + payload.length);
    }

    static byte[] tcp(final int sourcePort, final int destinationPort, final int controlBits, final byte[] payload) {
        return header("%04x %04x 01020304 05060708 %04x 2000 cafe 0000",
            payload, sourcePort, destinationPort, 0x5000 | controlBits);
    }

    static byte[] sctp(final int sourcePort, final int destinationPort, final byte[] payload) {
        return header("%04x %04x 11223344 55667788", payload, sourcePort, destinationPort);
    }

    static byte[] icmp(final int type, final int code, final byte[] payload) {
        return header("%02x %02x beef 0001 0002", payload, type, code);
    }
}
