package io.flowlag.tests.support;

import java.io.IOException;
import java.nio.charset.StandardCharsets;

/**
 * An interface without link headers whose wire is this object: what is written arrives at the interface. Made in the namespace in
 * which the constructor's thread is, and gone when closed.
 */
public final class TunInterface implements AutoCloseable {
    private static final int REQUEST_LENGTH_BYTES = 40;
    private static final int FLAGS_OFFSET = 16;

    private final int fd;

    /**
     * Makes the interface; it is down.
     *
     * @param interfaceName of the interface.
     */
    public TunInterface(final String interfaceName) throws IOException {
        fd = (int) LinuxCalls.check("open /dev/net/tun", LinuxCalls.open("/dev/net/tun", LinuxCalls.O_RDWR));
        final byte[] request = new byte[REQUEST_LENGTH_BYTES];
        final byte[] octets = interfaceName.getBytes(StandardCharsets.US_ASCII);
        System.arraycopy(octets, 0, request, 0, octets.length);
        final int flags = LinuxCalls.IFF_TUN | LinuxCalls.IFF_NO_PI;
        request[FLAGS_OFFSET] = (byte) flags;
        request[FLAGS_OFFSET + 1] = (byte) (flags >>> 8);
        LinuxCalls.check("TUNSETIFF", LinuxCalls.ioctl(fd, LinuxCalls.TUNSETIFF, request));
    }

    /**
     * Makes the interface, while it is down, look like another kind of hardware.
     *
     * @param hardwareType the kernel's number.
     */
    public void hardwareType(final int hardwareType) throws IOException {
        LinuxCalls.check("TUNSETLINK", LinuxCalls.ioctlNumber(fd, LinuxCalls.TUNSETLINK, hardwareType));
    }

    /**
     * Lets a packet arrive.
     *
     * @param packet from the first octet of the IP header on.
     */
    public void receive(final byte[] packet) throws IOException {
        LinuxCalls.check("write", LinuxCalls.write(fd, packet, packet.length));
    }

    @Override
    public void close() {
        LinuxCalls.close(fd);
    }
}
