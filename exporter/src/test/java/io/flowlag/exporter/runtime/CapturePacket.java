package io.flowlag.exporter.runtime;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/** A packet of a capture with nanoseconds, and changes to it. */
record CapturePacket(long timeNs, int wireBytes, byte[] octets) {
    private static final int FILE_HEADER = 24;
    private static final int RECORD_HEADER = 16;
    private static final int NANOSECONDS = 0xA1B2_3C4D;
    private static final long SECOND_NS = 1_000_000_000L;
    private static final int TYPE_OFFSET = 12;
    private static final int REFERENCE_PORT = 8620;
    private static final byte TAG = (byte)0x81;

    CapturePacket later(final long byNs) {
        return new CapturePacket(timeNs + byNs, wireBytes, octets);
    }

    CapturePacket cut(final int snapBytes) {
        return new CapturePacket(timeNs, wireBytes, Arrays.copyOf(octets, Math.min(octets.length, snapBytes)));
    }

    int ipOffset() {
        return octets[TYPE_OFFSET] == TAG ? 18 : 14;
    }

    boolean isIpv4() {
        return octets[ipOffset()] >> 4 == 4;
    }

    CapturePacket routed() {
        final byte[] changed = octets.clone();
        changed[ipOffset() + (isIpv4() ? 8 : 7)]--;
        return new CapturePacket(timeNs, wireBytes, changed);
    }

    private int transportOffset() {
        return ipOffset() + (isIpv4() ? 20 : 40);
    }

    boolean isReference() {
        final int port = transportOffset() + 2;
        return octets[ipOffset() + (isIpv4() ? 9 : 6)] == 17 &&
            ((octets[port] & 0xFF) << 8 | octets[port + 1] & 0xFF) == REFERENCE_PORT;
    }

    /** With another payload, unless it is a reference. */
    CapturePacket renewed() {
        final byte[] changed = octets.clone();
        if (!isReference()) {
            changed[octets.length - 1] ^= 1;
            changed[transportOffset() + 1] ^= 1;
        }
        return new CapturePacket(timeNs, wireBytes, changed);
    }

    /** From its destination to its source. */
    CapturePacket answer() {
        final byte[] changed = octets.clone();
        final int addressBytes = isIpv4() ? 4 : 16;
        final int addresses = ipOffset() + (isIpv4() ? 12 : 8);
        System.arraycopy(octets, addresses, changed, addresses + addressBytes, addressBytes);
        System.arraycopy(octets, addresses + addressBytes, changed, addresses, addressBytes);
        final int protocol = octets[ipOffset() + (isIpv4() ? 9 : 6)];
        final int ports = ipOffset() + (isIpv4() ? 20 : 40);
        if (protocol == 6 || protocol == 17) {
            System.arraycopy(octets, ports, changed, ports + 2, 2);
            System.arraycopy(octets, ports + 2, changed, ports, 2);
        }
        return new CapturePacket(timeNs, wireBytes, changed);
    }

    static List<CapturePacket> read(final Path file) throws IOException {
        final ByteBuffer octets = ByteBuffer.wrap(Files.readAllBytes(file));
        octets.order(octets.getInt(0) == NANOSECONDS ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN);
        final List<CapturePacket> packets = new ArrayList<>();
        int at = FILE_HEADER;
        while (at < octets.capacity()) {
            final int length = octets.getInt(at + 8);
            packets.add(new CapturePacket(
                octets.getInt(at) * SECOND_NS + octets.getInt(at + 4), octets.getInt(at + 12),
                Arrays.copyOfRange(octets.array(), at + RECORD_HEADER, at + RECORD_HEADER + length)));
            at += RECORD_HEADER + length;
        }
        return packets;
    }

    static void write(final Path file, final List<CapturePacket> packets) throws IOException {
        final ByteBuffer octets = ByteBuffer.allocate(
            FILE_HEADER + packets.stream().mapToInt((each) -> RECORD_HEADER + each.octets.length).sum());
        octets.putInt(NANOSECONDS).putShort((short)2).putShort((short)4).putInt(0).putInt(0).putInt(65_535).putInt(1);
        packets.stream().sorted(Comparator.comparingLong(CapturePacket::timeNs)).forEach((each) -> octets
            .putInt((int)(each.timeNs / SECOND_NS)).putInt((int)(each.timeNs % SECOND_NS)).putInt(each.octets.length)
            .putInt(each.wireBytes).put(each.octets));
        Files.write(file, octets.array());
    }
}
