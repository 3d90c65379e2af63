package io.flowlag.exporter.capture.posix;

import com.sun.jna.Native;
import com.sun.jna.Platform;

/**
 * Functions of Linux's C library beyond those of {@link CLibrary}: not every system has them. Mapped directly: a call allocates
 * nothing. After a call that failed, {@link Errno#last()} has the reason. Stateless; safe from any thread.
 */
public final class LinuxLibrary {
    static {
        Native.register(LinuxLibrary.class, Platform.C_LIBRARY_NAME);
    }

    private LinuxLibrary() {
    }

    /** connect(2); the length is in octets. Returns 0, or -1. */
    public static native int connect(int fd, long address, int addressLength);

    /** send(2). Returns octets sent, or -1. */
    public static native long send(int fd, long address, long lengthBytes, int flags);

    /** recv(2). Returns octets received, or -1. */
    public static native long recv(int fd, long address, long lengthBytes, int flags);

    /** recvmsg(2) with a {@code struct msghdr}. Returns octets received, or -1. */
    public static native long recvmsg(int fd, long messageAddress, int flags);

    /** syscall(2) of a call with a number, an address and a length, such as bpf(2). Returns 0 or more, or -1. */
    public static native long syscall(long number, int command, long address, int lengthBytes);

    /** clock_gettime(2) into a {@code struct timespec}. Returns 0, or -1. */
    public static native int clock_gettime(int clock, long timeAddress);

    /** adjtimex(2) with a {@code struct timex}. Returns the state of the clock, or -1. */
    public static native int adjtimex(long address);
}
