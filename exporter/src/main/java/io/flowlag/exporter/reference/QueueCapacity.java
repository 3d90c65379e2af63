package io.flowlag.exporter.reference;

import com.sun.jna.Platform;
import io.flowlag.exporter.capture.posix.CLibrary;
import io.flowlag.exporter.capture.posix.LinuxLibrary;
import io.flowlag.exporter.capture.posix.NetworkInterfaces;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.function.IntConsumer;

/**
 * The rate of an interface's shaper, {@code tbf} or {@code htb}, as root of its queueing disciplines, read from the kernel by
 * rtnetlink(7). Immutable; allocates.
 *
 * @param kind    of the root queueing discipline, such as {@code tbf}; empty if it cannot be read.
 * @param rateBps bits/s, link headers included; {@link #UNKNOWN_BPS} if there is no shaper, or not one root class.
 */
public record QueueCapacity(String kind, long rateBps) {
    /** No rate is known. */
    public static final long UNKNOWN_BPS = -1;

    private static final int AF_NETLINK = 16;
    private static final int SOCK_RAW = 3;
    private static final int GET_CLASS = 42;
    private static final int GET_QDISC = 38;
    private static final int NEW_CLASS = 40;
    private static final int NEW_QDISC = 36;
    private static final int FLAG_REQUEST = 1;
    private static final int FLAG_DUMP = 0x300;
    private static final int MESSAGE_ERROR = 2;
    private static final int MESSAGE_DONE = 3;
    private static final int PARENT_ROOT = -1;

    // nlmsghdr: length 4, type 2, flags 2, sequence 4, port 4; tcmsg: family 1 (3), interface 4, handle 4, parent 4, info 4
    private static final int TYPE_OFFSET = 4;
    private static final int FLAGS_OFFSET = 6;
    private static final int HEADER_LENGTH_BYTES = 16;
    private static final int INTERFACE_OFFSET = HEADER_LENGTH_BYTES + 4;
    private static final int PARENT_OFFSET = INTERFACE_OFFSET + 8;
    private static final int ATTRIBUTES_OFFSET = PARENT_OFFSET + 8;
    // rtattr: length 2 (with this header), type 2, then data; the next begins at a multiple of 4
    private static final int ATTRIBUTE_HEADER_LENGTH_BYTES = 4;
    private static final int ATTRIBUTE_TYPE_MASK = 0x3FFF;
    private static final int ATTRIBUTE_KIND = 1;
    private static final int ATTRIBUTE_OPTIONS = 2;
    private static final int OPTION_PARAMETERS = 1;
    private static final int TBF_OPTION_RATE64 = 4;
    private static final int HTB_OPTION_CEILING64 = 7;
    // tc_ratespec: cell 1, link layer 1, overhead 2, cell align 2, least packet 2, octets/s 4; in htb a second one, the ceiling
    private static final int RATE_OFFSET = 8;
    private static final int RATE_LENGTH_BYTES = 12;
    private static final int BUFFER_LENGTH_BYTES = 1 << 16;
    private static final int BITS_PER_OCTET = 8;
    private static final ByteOrder ORDER = ByteOrder.nativeOrder();

    /** The result of one dump. */
    private static final class Answer {
        private String kind = "";
        private long octetsPerSecond = UNKNOWN_BPS;
        private int rootCount;
    }

    /** Reads the kernel's state. Returns it; never throws. */
    public static QueueCapacity of(final String interfaceName) {
        final int interfaceIndex = Platform.isLinux() ? NetworkInterfaces.indexOf(interfaceName) : 0;
        if (interfaceIndex == 0) {
            return new QueueCapacity("", UNKNOWN_BPS);
        }
        final Answer qdisc = ask(GET_QDISC, NEW_QDISC, interfaceIndex);
        if ("htb".equals(qdisc.kind)) {
            final Answer classes = ask(GET_CLASS, NEW_CLASS, interfaceIndex);
            return new QueueCapacity(qdisc.kind, classes.rootCount == 1 ? bits(classes.octetsPerSecond) : UNKNOWN_BPS);
        }
        return new QueueCapacity(qdisc.kind, bits(qdisc.octetsPerSecond));
    }

    private static long bits(final long octetsPerSecond) {
        return octetsPerSecond < 0 ? UNKNOWN_BPS : octetsPerSecond * BITS_PER_OCTET;
    }

    private static Answer ask(final int question, final int answerType, final int interfaceIndex) {
        final Answer answer = new Answer();
        final int fd = CLibrary.socket(AF_NETLINK, SOCK_RAW | UdpLayout.SOCK_CLOEXEC, 0);
        if (fd < 0) {
            return answer;
        }
        try {
            final UnsafeBuffer buffer = UdpSocket.direct(BUFFER_LENGTH_BYTES);
            buffer.putInt(0, ATTRIBUTES_OFFSET, ORDER);
            buffer.putShort(TYPE_OFFSET, (short)question, ORDER);
            buffer.putShort(FLAGS_OFFSET, (short)(FLAG_REQUEST | FLAG_DUMP), ORDER);
            buffer.putInt(INTERFACE_OFFSET, interfaceIndex, ORDER);
            boolean isMore = LinuxLibrary.send(fd, buffer.addressOffset(), ATTRIBUTES_OFFSET, 0) == ATTRIBUTES_OFFSET;
            while (isMore) {
                final long lengthBytes = LinuxLibrary.recv(fd, buffer.addressOffset(), BUFFER_LENGTH_BYTES, 0);
                isMore = lengthBytes > 0 && read(buffer, (int)lengthBytes, answerType, interfaceIndex, answer);
            }
            return answer;
        } finally {
            CLibrary.close(fd);
        }
    }

    /** Reads one datagram of the answer; returns whether another follows. */
    private static boolean read(final DirectBuffer buffer, final int lengthBytes, final int answerType,
        final int interfaceIndex, final Answer answer) {
        int offset = 0;
        while (offset + HEADER_LENGTH_BYTES <= lengthBytes) {
            final int messageLengthBytes = buffer.getInt(offset, ORDER);
            final int type = buffer.getShort(offset + TYPE_OFFSET, ORDER);
            if (type == MESSAGE_DONE || type == MESSAGE_ERROR || messageLengthBytes < HEADER_LENGTH_BYTES ||
                messageLengthBytes > lengthBytes - offset) {
                return false;
            }
            if (type == answerType && messageLengthBytes >= ATTRIBUTES_OFFSET &&
                buffer.getInt(offset + INTERFACE_OFFSET, ORDER) == interfaceIndex &&
                buffer.getInt(offset + PARENT_OFFSET, ORDER) == PARENT_ROOT) {
                readRoot(buffer, offset + ATTRIBUTES_OFFSET, offset + messageLengthBytes, answer);
            }
            offset += messageLengthBytes + 3 & -4;
        }
        return true;
    }

    private static void readRoot(final DirectBuffer buffer, final int begin, final int end, final Answer answer) {
        final int[] options = new int[2];
        answer.rootCount++;
        attributes(buffer, begin, end, ATTRIBUTE_KIND, (offset) -> answer.kind = text(buffer, offset));
        attributes(buffer, begin, end, ATTRIBUTE_OPTIONS, (offset) -> {
            options[0] = offset + ATTRIBUTE_HEADER_LENGTH_BYTES;
            options[1] = offset + attributeLengthBytes(buffer, offset);
        });
        final boolean isHtb = "htb".equals(answer.kind);
        if (isHtb || "tbf".equals(answer.kind)) {
            // The ceiling of a htb class is the second rate.
            final int rateOffset = ATTRIBUTE_HEADER_LENGTH_BYTES + RATE_OFFSET + (isHtb ? RATE_LENGTH_BYTES : 0);
            attributes(buffer, options[0], options[1], OPTION_PARAMETERS, (offset) -> {
                if (attributeLengthBytes(buffer, offset) >= rateOffset + Integer.BYTES) {
                    answer.octetsPerSecond = buffer.getInt(offset + rateOffset, ORDER) & 0xFFFF_FFFFL;
                }
            });
            attributes(buffer, options[0], options[1], isHtb ? HTB_OPTION_CEILING64 : TBF_OPTION_RATE64, (offset) ->
                answer.octetsPerSecond = buffer.getLong(offset + ATTRIBUTE_HEADER_LENGTH_BYTES, ORDER));
        }
    }

    /** Walks over attributes and passes the positions of those of a type. */
    private static void attributes(
        final DirectBuffer buffer, final int begin, final int end, final int type, final IntConsumer handler) {
        int offset = begin;
        while (offset + ATTRIBUTE_HEADER_LENGTH_BYTES <= end) {
            final int lengthBytes = attributeLengthBytes(buffer, offset);
            if (lengthBytes < ATTRIBUTE_HEADER_LENGTH_BYTES || lengthBytes > end - offset) {
                return;
            }
            if ((buffer.getShort(offset + 2, ORDER) & ATTRIBUTE_TYPE_MASK) == type) {
                handler.accept(offset);
            }
            offset += lengthBytes + 3 & -4;
        }
    }

    private static int attributeLengthBytes(final DirectBuffer buffer, final int offset) {
        return buffer.getShort(offset, ORDER) & 0xFFFF;
    }

    private static String text(final DirectBuffer buffer, final int offset) {
        final byte[] octets = new byte[attributeLengthBytes(buffer, offset) - ATTRIBUTE_HEADER_LENGTH_BYTES];
        buffer.getBytes(offset + ATTRIBUTE_HEADER_LENGTH_BYTES, octets);
        return new String(octets, StandardCharsets.US_ASCII).replace("\0", "");
    }
}
