package io.flowlag.tests.benchmark;

import io.flowlag.exporter.capture.PacketHandler;
import io.flowlag.exporter.capture.PacketSource;
import io.flowlag.exporter.capture.posix.CLibrary;
import io.flowlag.exporter.capture.posix.Errno;
import io.flowlag.exporter.capture.posix.LinuxLibrary;
import io.flowlag.exporter.capture.posix.NetworkInterfaces;
import io.flowlag.exporter.lab.GeneratedTraffic;
import io.flowlag.exporter.lab.TrafficProfile;
import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;

import java.io.IOException;
import java.nio.ByteOrder;

/**
 * Sends packets of 60 octets at a rate, or as fast as an interface takes them: the kernel's transmission ring (packet(7),
 * PACKET_TX_RING, version 2), filled once with the frames of {@link TrafficProfile#min64} and sent again and again, past the
 * queueing discipline. What the kernel does with a packet on a veth pair, up to who captures it, is done in this process's time,
 * unless another processor is configured to receive. One thread uses an instance.
 * <pre>
 *   frame of the ring
 *     0  status  4        4  length  4        8  ...        32  octets
 * </pre>
 */
final class RingSender extends FrameSender {
    private static final int AF_PACKET = 17;
    private static final int SOCK_RAW = 3;
    private static final int SOL_SOCKET = 1;
    private static final int SO_SNDBUF = 7;
    private static final int SOL_PACKET = 263;
    private static final int PACKET_VERSION = 10;
    private static final int PACKET_TX_RING = 13;
    private static final int PACKET_QDISC_BYPASS = 20;
    private static final int TPACKET_V2 = 1;
    private static final int STATUS_SEND_REQUEST = 1;
    private static final int PROTECTION_READ_WRITE = 3;
    private static final int MAP_SHARED = 1;

    private static final int SLOT_BYTES = 128;
    private static final int BLOCK_BYTES = 1 << 16;
    private static final int BLOCKS = MOST_FRAMES * SLOT_BYTES / BLOCK_BYTES;
    private static final int LENGTH_OFFSET = 4;
    private static final int OCTETS_OFFSET = 32;
    private static final int ADDRESS_BYTES = 20;
    /**
     * Some hundred packets under way, as by the kernel's default. If another processor receives them, they wait in its backlog of
     * a thousand packets.
     */
    private static final int SEND_BUFFER_BYTES = 104 * 1024;

    private final int fd;
    private final UnsafeBuffer ring = new UnsafeBuffer(0, 0);
    private final UnsafeBuffer argument = new UnsafeBuffer(BufferUtil.allocateDirectAligned(64, Long.BYTES));
    private int nextSlot;

    /**
     * Opens an interface and fills the ring.
     *
     * @param interfaceName of the calling process's network namespace.
     * @throws IOException if that cannot be done.
     */
    RingSender(final String interfaceName, final int flowCount) throws IOException {
        fd = CLibrary.socket(AF_PACKET, SOCK_RAW, 0);
        check("socket", fd);
        setInt(SOL_SOCKET, SO_SNDBUF, SEND_BUFFER_BYTES);
        setInt(SOL_PACKET, PACKET_VERSION, TPACKET_V2);
        setInt(SOL_PACKET, PACKET_QDISC_BYPASS, 1);
        argument.putInt(0, BLOCK_BYTES);
        argument.putInt(4, BLOCKS);
        argument.putInt(8, SLOT_BYTES);
        argument.putInt(12, MOST_FRAMES);
        check("transmission ring", CLibrary.setsockopt(fd, SOL_PACKET, PACKET_TX_RING, argument.addressOffset(), 16));
        final long address = CLibrary.mmap(0, (long)BLOCKS * BLOCK_BYTES, PROTECTION_READ_WRITE, MAP_SHARED, fd, 0);
        check("mapping", address == -1 ? -1 : 0);
        ring.wrap(address, BLOCKS * BLOCK_BYTES);
        argument.setMemory(0, ADDRESS_BYTES, (byte)0);
        argument.putShort(0, (short)AF_PACKET);
        argument.putShort(2, (short)0, ByteOrder.BIG_ENDIAN);
        argument.putInt(4, NetworkInterfaces.indexOf(interfaceName));
        check("bind to " + interfaceName, CLibrary.bind(fd, argument.addressOffset(), ADDRESS_BYTES));
        fill(flowCount);
    }

    private void fill(final int flowCount) {
        final int[] slot = new int[1];
        try (GeneratedTraffic traffic = new GeneratedTraffic(
            Profiles.min64().toBuilder().packetCount(MOST_FRAMES).flowCount(flowCount).build())) {
            final PacketHandler handler = packet -> ring.putBytes(
                slot[0]++ * SLOT_BYTES + OCTETS_OFFSET, packet.buffer(), packet.offset(), packet.capturedLengthBytes());
            while (traffic.poll(handler, 256) != PacketSource.END_OF_SOURCE) {
                // goes on to the end
            }
        }
    }

    /** Waits until the interface has taken the packets. */
    @Override
    long send(final int count) throws IOException {
        for (int i = 0; i < count; i++) {
            ring.putInt(nextSlot * SLOT_BYTES + LENGTH_OFFSET, FRAME_BYTES);
            ring.putIntRelease(nextSlot * SLOT_BYTES, STATUS_SEND_REQUEST);
            nextSlot = (nextSlot + 1) % MOST_FRAMES;
        }
        final long octets = LinuxLibrary.send(fd, 0, 0, 0);
        check("send", octets);
        return octets / FRAME_BYTES;
    }

    private void setInt(final int level, final int option, final int value) throws IOException {
        argument.putInt(0, value);
        check("option " + option, CLibrary.setsockopt(fd, level, option, argument.addressOffset(), Integer.BYTES));
    }

    private static void check(final String what, final long result) throws IOException {
        if (result < 0) {
            throw new IOException(what + ": " + Errno.describe(Errno.last()));
        }
    }

    @Override
    public void close() {
        CLibrary.munmap(ring.addressOffset(), (long)BLOCKS * BLOCK_BYTES);
        CLibrary.close(fd);
    }
}
