package io.flowlag.tests.support;

import com.sun.jna.Native;
import com.sun.jna.Platform;

import java.io.IOException;

/** System calls that tests need and Java does not have. Independent of the product's own. */
final class LinuxCalls {
    static final int O_RDWR = 2;
    static final int CLONE_NEWNET = 0x40000000;
    static final int AF_PACKET = 17;
    static final int SOCK_RAW = 3;
    static final long TUNSETIFF = 0x400454caL;
    static final long TUNSETLINK = 0x400454cdL;
    static final int IFF_TUN = 1;
    static final int IFF_NO_PI = 0x1000;
    private static final int CAPABILITY_VERSION_3 = 0x20080522;

    static {
        Native.register(LinuxCalls.class, Platform.C_LIBRARY_NAME);
    }

    private LinuxCalls() {
    }

    static native int open(String path, int flags);

    static native int close(int fd);

    static native int setns(int fd, int type);

    static native int socket(int domain, int type, int protocol);

    static native long sendto(int fd, byte[] octets, long lengthBytes, int flags, byte[] address, int addressLength);

    static native long write(int fd, byte[] octets, long lengthBytes);

    static native long read(int fd, byte[] octets, long lengthBytes);

    static native int ioctl(int fd, long request, byte[] argument);

    static int ioctlNumber(final int fd, final long request, final long number) {
        return ByNumber.ioctl(fd, request, number);
    }

    static native int if_nametoindex(String name);

    static native int geteuid();

    private static native int capset(int[] header, int[] data);

    static long check(final String what, final long result) throws IOException {
        if (result < 0) {
            throw new IOException(what + " failed: errno " + Native.getLastError());
        }
        return result;
    }

    /** Takes all capabilities but some, by their numbers, from the calling thread, for the rest of its life. */
    static void dropCapabilitiesBut(final int... kept) throws IOException {
        // Twice: effective, permitted, inheritable.
        final int[] sets = new int[6];
        for (final int number : kept) {
            sets[3 * (number / Integer.SIZE)] |= 1 << number;
            sets[3 * (number / Integer.SIZE) + 1] |= 1 << number;
        }
        check("capset", capset(new int[] {CAPABILITY_VERSION_3, 0}, sets));
    }

    /** The one name twice in C, told apart in Java by the type of its argument: each needs a class of its own. */
    private static final class ByNumber {
        static {
            Native.register(ByNumber.class, Platform.C_LIBRARY_NAME);
        }

        static native int ioctl(int fd, long request, long number);
    }
}
