package io.flowlag.exporter.capture.posix;

import com.sun.jna.Native;

/** The error numbers of Linux that the code distinguishes. Stateless; safe from any thread. */
public final class Errno {
    /** Not permitted. */
    public static final int EPERM = 1;
    /** Interrupted by a signal. */
    public static final int EINTR = 4;
    /** No such device or address. */
    public static final int ENXIO = 6;
    /** Nothing there, or no room, at the moment. */
    public static final int EAGAIN = 11;
    /** Out of memory. */
    public static final int ENOMEM = 12;
    /** Permission denied. */
    public static final int EACCES = 13;
    /** Device or resource busy. */
    public static final int EBUSY = 16;
    /** No such device. */
    public static final int ENODEV = 19;
    /** Result out of range; also: a request that the driver cannot fulfil. */
    public static final int ERANGE = 34;
    /** Too long for the path. */
    public static final int EMSGSIZE = 90;
    /** Address in use. */
    public static final int EADDRINUSE = 98;
    /** Network is down. */
    public static final int ENETDOWN = 100;
    /** No route. */
    public static final int ENETUNREACH = 101;
    /** No buffer of the kernel is free. */
    public static final int ENOBUFS = 105;
    /** Refused by the other end. */
    public static final int ECONNREFUSED = 111;
    /** The host does not answer. */
    public static final int EHOSTUNREACH = 113;

    private Errno() {
    }

    /** {@return the error number of the last call of this thread that failed} */
    public static int last() {
        return Native.getLastError();
    }

    /** {@return the C library's message for an error number, in lower case; calls the library and allocates} */
    public static String describe(final int errno) {
        final String text = CLibrary.strerror(errno);
        return Character.toLowerCase(text.charAt(0)) + text.substring(1);
    }
}
