package io.flowlag.exporter.capture.posix;

import com.sun.jna.Native;

/** The error numbers of Linux that are told apart, and words for them. Stateless; safe from any thread. */
public final class Errno {
    /** Not permitted. */
    public static final int EPERM = 1;
    /** No such device or address. */
    public static final int ENXIO = 6;
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
    /** No such option. */
    public static final int ENOPROTOOPT = 92;
    /** Operation not supported. */
    public static final int EOPNOTSUPP = 95;
    /** Address family not supported. */
    public static final int EAFNOSUPPORT = 97;
    /** Network is down. */
    public static final int ENETDOWN = 100;

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
