package io.flowlag.tests.support;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * The kernel's own address translation: whatever leaves by an interface has that interface's address as its source. Asked for by
 * netlink, as nft(8) does it, since a small system has no such program:
 * <pre>
 *   table ip nat { chain post { type nat hook postrouting priority 100; masquerade } }
 * </pre>
 */
final class SourceTranslation {
    private static final int AF_NETLINK = 16;
    private static final int NETLINK_NETFILTER = 12;
    private static final int SUBSYSTEM_NFTABLES = 10;
    private static final int BATCH_BEGIN = 0x10;
    private static final int BATCH_END = 0x11;
    private static final int NEW_TABLE = SUBSYSTEM_NFTABLES << 8;
    private static final int NEW_CHAIN = NEW_TABLE | 3;
    private static final int NEW_RULE = NEW_TABLE | 6;
    private static final int REQUEST = 1;
    private static final int ACKNOWLEDGE = 4;
    private static final int CREATE = 0x400;
    private static final int APPEND = 0x800;
    private static final int IPV4 = 2;
    private static final int NESTED = 0x8000;
    private static final int POSTROUTING = 4;
    private static final int PRIORITY = 100;
    private static final int ERROR = 2;
    private static final int ALL_FLAGS = REQUEST | ACKNOWLEDGE | CREATE | APPEND;
    private static final int LENGTH_BYTES = 4096;

    private final ByteBuffer octets = ByteBuffer.allocate(LENGTH_BYTES).order(ByteOrder.nativeOrder());
    private int messages;

    /** Something between the header of an attribute or message and what follows it. */
    private interface Content {
        void put();
    }

    /** Translates in the network namespace of the calling thread, for as long as that exists. */
    static void begin() throws IOException {
        new SourceTranslation().ask();
    }

    private void ask() throws IOException {
        message(BATCH_BEGIN, REQUEST, 0, SUBSYSTEM_NFTABLES, () -> { });
        message(NEW_TABLE, ALL_FLAGS, IPV4, 0, () -> text(1, "nat"));
        message(NEW_CHAIN, ALL_FLAGS, IPV4, 0, () -> {
            text(1, "nat");
            text(3, "post");
            attribute(NESTED | 4, () -> {
                number(1, POSTROUTING);
                number(2, PRIORITY);
            });
            text(7, "nat");
        });
        message(NEW_RULE, ALL_FLAGS, IPV4, 0, () -> {
            text(1, "nat");
            text(2, "post");
            attribute(NESTED | 4, () -> attribute(NESTED | 1, () -> text(1, "masq")));
        });
        message(BATCH_END, REQUEST, 0, SUBSYSTEM_NFTABLES, () -> { });
        send();
    }

    private void message(final int type, final int flags, final int family, final int resource, final Content content) {
        final int start = octets.position();
        octets.putInt(0).putShort((short) type).putShort((short) flags).putInt(++messages).putInt(0);
        octets.put((byte) family).put((byte) 0).put((byte) (resource >> 8)).put((byte) resource);
        content.put();
        octets.putInt(start, octets.position() - start);
    }

    private void attribute(final int type, final Content content) {
        final int start = octets.position();
        octets.putShort((short) 0).putShort((short) type);
        content.put();
        octets.putShort(start, (short) (octets.position() - start));
        while (octets.position() % Integer.BYTES != 0) {
            octets.put((byte) 0);
        }
    }

    private void text(final int type, final String value) {
        attribute(type, () -> octets.put(value.getBytes(StandardCharsets.US_ASCII)).put((byte) 0));
    }

    private void number(final int type, final int value) {
        attribute(type, () -> octets.putInt(Integer.reverseBytes(value)));
    }

    /** The kernel answers each message that asks for it, with 0 or an error number. */
    private void send() throws IOException {
        final int fd = (int) LinuxCalls.check("socket", LinuxCalls.socket(AF_NETLINK, LinuxCalls.SOCK_RAW, NETLINK_NETFILTER));
        try {
            final ByteBuffer address = ByteBuffer.allocate(12).order(ByteOrder.nativeOrder()).putShort((short) AF_NETLINK);
            LinuxCalls.check("sendto", LinuxCalls.sendto(
                fd, octets.array(), octets.position(), 0, address.array(), address.capacity()));
            for (int answered = 0; answered < messages - 2;) {
                final byte[] answers = new byte[LENGTH_BYTES];
                final ByteBuffer in = ByteBuffer.wrap(answers).order(ByteOrder.nativeOrder());
                in.limit((int) LinuxCalls.check("read", LinuxCalls.read(fd, answers, answers.length)));
                while (in.hasRemaining()) {
                    final int start = in.position();
                    final int error = in.getShort(start + 4) == ERROR ? in.getInt(start + 16) : 0;
                    if (error != 0) {
                        throw new IOException("the kernel does not translate addresses: errno " + -error);
                    }
                    answered++;
                    in.position(Math.min(in.limit(), start + (in.getInt(start) + 3 & ~3)));
                }
            }
        } finally {
            LinuxCalls.close(fd);
        }
    }
}
