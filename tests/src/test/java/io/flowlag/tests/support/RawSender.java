package io.flowlag.tests.support;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;

/** Sends frames as they are, link header included, on an interface of the namespace in which its thread is. */
public final class RawSender implements AutoCloseable {
    private static final int ADDRESS_LENGTH_BYTES = 20;

    private final int fd;
    private final byte[] address;

    /**
     * Opens the sender.
     *
     * @param interfaceName to send on.
     */
    public RawSender(final String interfaceName) throws IOException {
        final int index = LinuxCalls.if_nametoindex(interfaceName);
        if (index == 0) {
            throw new IOException("no interface " + interfaceName);
        }
        fd = (int) LinuxCalls.check("socket", LinuxCalls.socket(LinuxCalls.AF_PACKET, LinuxCalls.SOCK_RAW, 0));
        address = ByteBuffer.allocate(ADDRESS_LENGTH_BYTES).order(ByteOrder.nativeOrder())
            .putShort((short) LinuxCalls.AF_PACKET).putShort((short) 0).putInt(index).array();
    }

    /** Sends frames on an interface of a namespace. */
    public static void send(final NetworkNamespace from, final String interfaceName, final List<byte[]> frames)
        throws Exception {
        from.call(() -> {
            try (RawSender sender = new RawSender(interfaceName)) {
                for (final byte[] frame : frames) {
                    sender.send(frame);
                }
            }
            return null;
        });
    }

    /**
     * Sends one frame.
     *
     * @param frame from the first octet of the destination address on.
     */
    public void send(final byte[] frame) throws IOException {
        LinuxCalls.check("sendto", LinuxCalls.sendto(fd, frame, frame.length, 0, address, address.length));
    }

    @Override
    public void close() {
        LinuxCalls.close(fd);
    }
}
