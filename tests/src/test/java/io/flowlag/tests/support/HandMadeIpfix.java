package io.flowlag.tests.support;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;

/**
 * IPFIX Messages written field by field without the product's code. They validate the collectors' wrappers before these check the
 * product.
 */
public final class HandMadeIpfix {
    private static final int EXPORT_TIME_S = 1_700_000_100;
    private static final int DOMAIN = 7;
    private static final int IPV4_TEMPLATE = 256;
    private static final int IPV6_TEMPLATE = 257;
    private static final int[][] COMMON_FIELDS =
        {{7, 2}, {11, 2}, {4, 1}, {2, 8}, {1, 8}, {152, 8}, {153, 8}, {136, 1}};
    private static final int[][] IPV4_ADDRESSES = {{8, 4}, {12, 4}};
    private static final int[][] IPV6_ADDRESSES = {{27, 16}, {28, 16}};

    private final List<byte[]> messages = new ArrayList<>();
    private int sequence;

    /**
     * Messages of one flow each, with the templates in the first.
     *
     * @param flows to be said.
     */
    public HandMadeIpfix(final List<Flow> flows) {
        for (final Flow flow : flows) {
            messages.add(message(flow, messages.isEmpty()));
            sequence++;
        }
    }

    /** {@return the messages} */
    public List<byte[]> messages() {
        return messages;
    }

    /** {@return flows of both address families and of protocols with and without ports} */
    public static List<Flow> someFlows() {
        final long startMs = 1_700_000_000_123L;
        return List.of(
            new Flow("10.0.0.1", "172.16.0.1", 17, 1001, 443, 1, 100, startMs, startMs),
            new Flow("255.254.253.252", "172.16.0.1", 6, 65_535, 443, 2, 200, startMs + 1, startMs + 877),
            new Flow("2001:db8::3", "2001:db8:0:ffff::ff", 17, 1003, 443, 3, 300, startMs + 2, startMs + 60_000),
            new Flow("10.0.0.4", "172.16.0.1", 1, 0, 0, 4, 400, startMs + 3, startMs + 4),
            new Flow("2001:db8::5", "2001:db8::ff", 132, 1005, 2905, 5_000_000_000L, 6_000_000_000_000L, startMs, startMs + 5));
    }

    private byte[] message(final Flow flow, final boolean withTemplates) {
        final boolean ipv4 = flow.source().indexOf(':') < 0;
        final byte[] templates = withTemplates ? set(2, octets(out -> {
            putTemplate(out, IPV4_TEMPLATE, IPV4_ADDRESSES);
            putTemplate(out, IPV6_TEMPLATE, IPV6_ADDRESSES);
        })) : new byte[0];
        final byte[] data = set(ipv4 ? IPV4_TEMPLATE : IPV6_TEMPLATE, octets(out -> putRecord(out, flow)));
        return octets(out -> {
            out.writeShort(10);
            out.writeShort(16 + templates.length + data.length);
            out.writeInt(EXPORT_TIME_S);
            out.writeInt(sequence);
            out.writeInt(DOMAIN);
            out.write(templates);
            out.write(data);
        });
    }

    private static byte[] set(final int id, final byte[] content) {
        return octets(out -> {
            out.writeShort(id);
            out.writeShort(4 + content.length);
            out.write(content);
        });
    }

    private static void putTemplate(final DataOutputStream out, final int id, final int[][] addresses) throws IOException {
        out.writeShort(id);
        out.writeShort(addresses.length + COMMON_FIELDS.length);
        for (final int[][] fields : new int[][][] {addresses, COMMON_FIELDS}) {
            for (final int[] field : fields) {
                out.writeShort(field[0]);
                out.writeShort(field[1]);
            }
        }
    }

    private static void putRecord(final DataOutputStream out, final Flow flow) throws IOException {
        out.write(InetAddress.getByName(flow.source()).getAddress());
        out.write(InetAddress.getByName(flow.destination()).getAddress());
        out.writeShort(flow.sourcePort());
        out.writeShort(flow.destinationPort());
        out.writeByte(flow.protocol());
        out.writeLong(flow.packets());
        out.writeLong(flow.octets());
        out.writeLong(flow.firstMs());
        out.writeLong(flow.lastMs());
        out.writeByte(1);
    }

    private interface Writing {
        void to(DataOutputStream out) throws IOException;
    }

    private static byte[] octets(final Writing writing) {
        final ByteArrayOutputStream octets = new ByteArrayOutputStream();
        try {
            writing.to(new DataOutputStream(octets));
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
        return octets.toByteArray();
    }
}
