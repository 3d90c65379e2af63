package io.flowlag.exporter.runtime;

import io.flowlag.common.memory.OffHeapBuffer;
import io.flowlag.exporter.capture.posix.CLibrary;
import io.flowlag.exporter.capture.posix.LinuxLibrary;
import org.agrona.concurrent.UnsafeBuffer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * Tells the service manager how the process is, by datagrams to its socket as of sd_notify(3); does nothing without a manager.
 * Never blocks: what the manager does not take is dropped. Used by the conductor.
 */
final class ServiceManager implements AutoCloseable {
    /** Environment variable with the path of the socket; {@code @} begins an abstract name. */
    static final String SOCKET = "NOTIFY_SOCKET";
    static final String READY = "READY=1";
    static final String WATCHDOG = "WATCHDOG=1";
    static final String STOPPING = "STOPPING=1";

    private static final Logger LOG = LoggerFactory.getLogger(ServiceManager.class);
    private static final int AF_UNIX = 1;
    private static final int SOCK_DGRAM_CLOEXEC = 2 | 0x80000;
    private static final int MSG_DONTWAIT_NOSIGNAL = 0x40 | 0x4000;
    /** Octets of a path in {@code struct sockaddr_un}, behind the two of its family. */
    private static final int MAX_PATH_BYTES = 108;
    private static final int NONE = -1;

    private final UnsafeBuffer buffer = OffHeapBuffer.allocate(2 + MAX_PATH_BYTES);
    private int fd = NONE;

    private ServiceManager() {
    }

    /** {@return the manager at a socket; null for none} */
    static ServiceManager of(final String socket) {
        final ServiceManager manager = new ServiceManager();
        if (socket != null) {
            manager.connect(socket);
        }
        return manager;
    }

    private void connect(final String socket) {
        final byte[] path = socket.getBytes(StandardCharsets.UTF_8);
        if (path.length == 0 || path.length > MAX_PATH_BYTES) {
            LOG.warn("{} is not the path of a socket: {}", SOCKET, socket);
            return;
        }
        if (path[0] == '@') {
            path[0] = 0;
        }
        buffer.putShort(0, (short)AF_UNIX, ByteOrder.nativeOrder());
        buffer.putBytes(2, path);
        fd = CLibrary.socket(AF_UNIX, SOCK_DGRAM_CLOEXEC, 0);
        if (fd >= 0 && LinuxLibrary.connect(fd, buffer.addressOffset(), 2 + path.length) < 0) {
            LOG.warn("the service manager cannot be reached at {}", socket);
            close();
        }
    }

    /** Sends a state. */
    void tell(final String state) {
        if (fd >= 0) {
            final int lengthBytes = buffer.putStringWithoutLengthAscii(0, state);
            LinuxLibrary.send(fd, buffer.addressOffset(), lengthBytes, MSG_DONTWAIT_NOSIGNAL);
        }
    }

    @Override
    public void close() {
        if (fd >= 0) {
            CLibrary.close(fd);
            fd = NONE;
        }
    }
}
