package io.flowlag.tests.support;

import io.flowlag.exporter.capture.posix.CLibrary;
import io.flowlag.exporter.capture.posix.LinuxLibrary;
import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;

import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The socket of a service manager, to which a process sends its state; one datagram each. One thread. */
public final class NotifySocket implements AutoCloseable {
    private static final int AF_UNIX = 1;
    private static final int SOCK_DGRAM = 2;
    private static final int MSG_DONTWAIT = 0x40;
    private static final int BUFFER_BYTES = 4096;

    private final UnsafeBuffer buffer = new UnsafeBuffer(BufferUtil.allocateDirectAligned(BUFFER_BYTES, Long.BYTES));
    private final List<String> states = new ArrayList<>();
    private final Path path;
    private final int fd;

    /** Binds the socket. */
    public NotifySocket(final Path path) throws IOException {
        this.path = path;
        fd = CLibrary.socket(AF_UNIX, SOCK_DGRAM, 0);
        final byte[] name = path.toString().getBytes(StandardCharsets.UTF_8);
        buffer.putShort(0, (short)AF_UNIX, ByteOrder.nativeOrder());
        buffer.putBytes(Short.BYTES, name);
        if (fd < 0 || CLibrary.bind(fd, buffer.addressOffset(), Short.BYTES + name.length) < 0) {
            throw new IOException("cannot bind " + path);
        }
    }

    /** {@return where it is} */
    public Path path() {
        return path;
    }

    /** {@return how often a state came} */
    public long received(final String state) {
        int lengthBytes = receive();
        while (lengthBytes > 0) {
            states.add(buffer.getStringWithoutLengthAscii(0, lengthBytes));
            lengthBytes = receive();
        }
        return states.stream().filter(state::equals).count();
    }

    private int receive() {
        return (int)LinuxLibrary.recv(fd, buffer.addressOffset(), BUFFER_BYTES, MSG_DONTWAIT);
    }

    /** Forgets what came. */
    public void clear() {
        received("");
        states.clear();
    }

    @Override
    public String toString() {
        return "received " + states;
    }

    @Override
    public void close() {
        CLibrary.close(fd);
    }
}
