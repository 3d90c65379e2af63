package io.flowlag.exporter.capture.filter;

import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import io.flowlag.exporter.capture.CaptureException;

/**
 * Functions of libpcap by their own names, mapped directly. The library is loaded at the first call; call {@link #require}
 * before it. Any thread may call {@link #require}; a handle is used by one thread.
 */
final class Libpcap {
    /** {@code PCAP_NETMASK_UNKNOWN}: expressions that need the network mask are refused with a message. */
    static final int NETMASK_UNKNOWN = -1;
    /** {@code PCAP_ERRBUF_SIZE}. */
    static final int ERROR_LENGTH_BYTES = 256;

    private static final String[] NAMES = {"pcap", "libpcap.so.0.8", "libpcap.so.1"};
    private static final String LOAD_FAILURE = load();

    private Libpcap() {
    }

    /** {@return whether libpcap is installed} */
    static boolean isAvailable() {
        return LOAD_FAILURE == null;
    }

    /** Fails unless libpcap is installed; the message begins with the wish. */
    static void require(final String wish) {
        if (!isAvailable()) {
            throw new CaptureException(CaptureException.Kind.UNAVAILABLE,
                wish + " needs libpcap, which was not found: install it (Debian and Ubuntu: package libpcap0.8)");
        }
    }

    private static String load() {
        final StringBuilder failure = new StringBuilder();
        for (final String name : NAMES) {
            try {
                Native.register(Libpcap.class, NativeLibrary.getInstance(name));
                return null;
            } catch (final UnsatisfiedLinkError ex) {
                failure.append(ex.getMessage()).append("; ");
            }
        }
        return failure.toString();
    }

    static native Pointer pcap_open_dead(int linkType, int snapLengthBytes);

    static native Pointer pcap_create(String interfaceName, byte[] error);

    static native int pcap_set_snaplen(Pointer handle, int snapLengthBytes);

    static native int pcap_activate(Pointer handle);

    static native int pcap_datalink(Pointer handle);

    static native int pcap_compile(Pointer handle, long programAddress, String expression, int optimize, int netmask);

    static native void pcap_freecode(long programAddress);

    static native String pcap_geterr(Pointer handle);

    static native String pcap_statustostr(int status);

    static native void pcap_close(Pointer handle);

    static native int bpf_filter(long instructionsAddress, long packetAddress, int wireLengthBytes, int capturedLengthBytes);
}
