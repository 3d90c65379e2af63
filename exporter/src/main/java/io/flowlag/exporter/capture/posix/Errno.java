package io.flowlag.exporter.capture.posix;

import com.sun.jna.Native;

/** The error numbers of Linux that are told apart, and words for them. Stateless; safe from any thread. */
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
    /** No such device. */
    public static final int ENODEV = 19;
    /** Invalid argument. */
    public static final int EINVAL = 22;
    /** Result out of range; also: a wish that the driver cannot fulfil. */
    public static final int ERANGE = 34;
    /** Function not implemented. */
    public static final int ENOSYS = 38;
    /** Too long for the path. */
    public static final int EMSGSIZE = 90;
    /** No such option. */
    public static final int ENOPROTOOPT = 92;
    /** Operation not supported. */
    public static final int EOPNOTSUPP = 95;
    /** Address family not supported. */
    public static final int EAFNOSUPPORT = 97;
    /** Address in use. */
    public static final int EADDRINUSE = 98;
    /** Not an address of this host. */
    public static final int EADDRNOTAVAIL = 99;
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

    /**
     * Words for an error number.
     *
     * @param errno the number.
     * @return a few words.
     */
    public static String describe(final int errno) {
        switch (errno) {
            case EPERM:
                return "operation not permitted";
            case EINTR:
                return "interrupted";
            case EAGAIN:
                return "no room at the moment";
            case EMSGSIZE:
                return "too long for the path";
            case EADDRINUSE:
                return "address in use";
            case EADDRNOTAVAIL:
                return "not an address of this host";
            case ENETUNREACH:
                return "no route";
            case ENOBUFS:
                return "no buffer is free";
            case ECONNREFUSED:
                return "refused by the other end";
            case EHOSTUNREACH:
                return "host unreachable";
            case ENXIO:
                return "no such device or address";
            case ENOMEM:
                return "out of memory";
            case EACCES:
                return "permission denied";
            case ENODEV:
                return "no such device";
            case EINVAL:
                return "invalid argument";
            case ERANGE:
                return "not offered by the driver";
            case ENOSYS:
                return "not implemented";
            case ENOPROTOOPT:
                return "no such option";
            case EOPNOTSUPP:
                return "not supported";
            case EAFNOSUPPORT:
                return "address family not supported";
            case ENETDOWN:
                return "network is down";
            default:
                return "error number " + errno;
        }
    }
}
