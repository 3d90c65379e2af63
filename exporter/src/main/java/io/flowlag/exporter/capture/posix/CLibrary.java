package io.flowlag.exporter.capture.posix;

import com.sun.jna.Native;
import com.sun.jna.Platform;
import com.sun.jna.Pointer;

/**
 * Functions of the C library by their own names, mapped directly: a call with primitive arguments allocates nothing. Addresses
 * and lengths are {@code long}, so this is for 64-bit systems. After a call that failed, {@link Errno#last()} has the reason.
 * Stateless; safe from any thread.
 */
public final class CLibrary {
    static {
        Native.register(CLibrary.class, Platform.C_LIBRARY_NAME);
    }

    private CLibrary() {
    }

    /** socket(2). Returns file descriptor, or -1. */
    public static native int socket(int domain, int type, int protocol);

    /** bind(2); the length is in octets. Returns 0, or -1. */
    public static native int bind(int fd, long address, int addressLength);

    /** setsockopt(2); the length is in octets. Returns 0, or -1. */
    public static native int setsockopt(int fd, int level, int option, long valueAddress, int valueLength);

    /** getsockopt(2); at the last address is the 32-bit length of the value, in and out. Returns 0, or -1. */
    public static native int getsockopt(int fd, int level, int option, long valueAddress, long lengthAddress);

    /** ioctl(2) with one address. Returns 0 or more, or -1. */
    public static native int ioctl(int fd, long request, long address);

    /** mmap(2); address 0 for any. Returns the address, or -1. */
    public static native long mmap(long address, long lengthBytes, int protection, int flags, int fd, long offset);

    /** munmap(2). Returns 0, or -1. */
    public static native int munmap(long address, long lengthBytes);

    /** poll(2) of {@code struct pollfd}s. Returns how many are ready, or -1. */
    public static native int poll(long address, long count, int timeoutMs);

    /** open(2) without a mode. Returns file descriptor, or -1. */
    public static native int open(String path, int flags);

    /** close(2). Returns 0, or -1. */
    public static native int close(int fd);

    static native int if_nametoindex(String name);

    static native Pointer if_nameindex();

    static native void if_freenameindex(Pointer list);

    static native String strerror(int errno);
}
