package io.flowlag.exporter.capture.xdp;

import io.flowlag.common.time.Nanoseconds;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.nio.ByteOrder;

/**
 * The layouts and numbers of AF_XDP's calls, as in Linux's {@code if_xdp.h}, {@code if_link.h}, {@code bpf.h}, {@code poll.h} and
 * {@code time.h} on 64-bit little-endian machines. Fields are in the byte order of the machine. Stateless.
 * <pre>
 *   sockaddr_xdp      family 2, flags 2, interface 4, queue 4, socket whose frames are shared 4
 *   xdp_umem_reg      address 8, length 8, frame length 4, headroom 4 (and fields that may be left out)
 *   xdp_mmap_offsets  of receive, transmit, fill and completion ring: producer 8, consumer 8, entries 8, flags 8
 *   xdp_statistics    packets dropped 8, descriptors refused 8 and 8, ring full 8, and two more
 *   xdp_options       flags 4
 *   timespec          seconds 8, nanoseconds 8
 * </pre>
 */
final class XdpLayout {
    static final int AF_XDP = 44;
    static final int SOCK_RAW_CLOEXEC = 3 | 0x80000;
    static final int SOL_XDP = 283;

    static final int XDP_MMAP_OFFSETS = 1;
    static final int XDP_RX_RING = 2;
    static final int XDP_UMEM_REG = 4;
    static final int XDP_UMEM_FILL_RING = 5;
    static final int XDP_UMEM_COMPLETION_RING = 6;
    static final int XDP_STATISTICS = 7;
    static final int XDP_OPTIONS = 8;
    static final long PAGE_OFFSET_RX_RING = 0;
    static final long PAGE_OFFSET_FILL_RING = 0x1_0000_0000L;

    /** The kernel says when it must be woken; a packet may be in several frames. */
    private static final int BIND_USE_NEED_WAKEUP = 1 << 3;
    private static final int BIND_USE_SEVERAL_FRAMES = 1 << 4;
    private static final int OPTION_ZERO_COPY = 1;
    static final int RING_NEED_WAKEUP = 1;
    static final int MSG_DONTWAIT = 0x40;

    static final int PROTECTION_READ_WRITE = 0x3;
    static final int MAP_SHARED = 0x1;
    static final int MAP_PRIVATE_ANONYMOUS = 0x22;

    static final int ADDRESS_LENGTH_BYTES = 16;
    static final int FRAMES_LENGTH_BYTES = 24;
    static final int RING_OFFSETS_LENGTH_BYTES = 32;
    static final int OFFSETS_LENGTH_BYTES = 4 * RING_OFFSETS_LENGTH_BYTES;
    static final int OFFSETS_OF_FILL_RING = 2 * RING_OFFSETS_LENGTH_BYTES;
    static final int STATISTICS_LENGTH_BYTES = 48;
    static final int TIME_LENGTH_BYTES = 16;

    static final int CLOCK_REALTIME = 0;
    static final int CLOCK_TAI = 11;

    /** Octets that the kernel leaves free at the beginning of a frame. */
    static final int HEADROOM_BYTES = 256;

    private static final ByteOrder ORDER = ByteOrder.nativeOrder();
    private static final int STATISTICS_RING_FULL_OFFSET = 24;

    private XdpLayout() {
    }

    /** Of a queue. Asks for no way of copying: the kernel takes zero copy where the driver has it. */
    static void putAddress(
        final MutableDirectBuffer buffer, final int interfaceIndex, final int queue, final boolean hasSeveralFrames) {
        buffer.putShort(0, (short)AF_XDP, ORDER);
        buffer.putShort(2, (short)(BIND_USE_NEED_WAKEUP | (hasSeveralFrames ? BIND_USE_SEVERAL_FRAMES : 0)), ORDER);
        buffer.putInt(4, interfaceIndex, ORDER);
        buffer.putInt(8, queue, ORDER);
        buffer.putInt(12, 0, ORDER);
    }

    static void putFrames(final MutableDirectBuffer buffer, final long address, final long lengthBytes, final int frameBytes) {
        buffer.putLong(0, address, ORDER);
        buffer.putLong(8, lengthBytes, ORDER);
        buffer.putInt(16, frameBytes, ORDER);
        buffer.putInt(20, 0, ORDER);
    }

    static boolean optionsHaveZeroCopy(final DirectBuffer buffer) {
        return (buffer.getInt(0, ORDER) & OPTION_ZERO_COPY) != 0;
    }

    /** Packets that found no free frame, did not fit one, or found the receive ring full. */
    static long statisticsDrops(final DirectBuffer buffer) {
        return buffer.getLong(0, ORDER) + buffer.getLong(STATISTICS_RING_FULL_OFFSET, ORDER);
    }

    static long timeNs(final DirectBuffer buffer) {
        return buffer.getLong(0, ORDER) * Nanoseconds.PER_SECOND + buffer.getLong(8, ORDER);
    }
}
