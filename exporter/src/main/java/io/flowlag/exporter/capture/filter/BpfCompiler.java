package io.flowlag.exporter.capture.filter;

import com.sun.jna.Pointer;
import io.flowlag.exporter.capture.CaptureException;
import io.flowlag.exporter.capture.CaptureException.Kind;
import io.flowlag.exporter.capture.LinkType;
import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;

import java.lang.ref.Reference;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Compiles filter expressions, pcap-filter(7), by libpcap. Safe from any thread: compilations are serialised, because libpcap
 * before 1.8 is not thread-safe. Allocates; not for the packet path.
 */
public final class BpfCompiler {
    /** The layout of {@code struct bpf_program}: number of instructions, and their address. */
    private static final int COUNT_OFFSET = 0;
    private static final int ADDRESS_OFFSET = COUNT_OFFSET + Long.BYTES;
    private static final int PROGRAM_LENGTH_BYTES = ADDRESS_OFFSET + Long.BYTES;

    /** The number of raw IP inside libpcap; in files it is {@link LinkType#RAW}. */
    private static final int DLT_RAW = 12;
    private static final int STATUS_NO_SUCH_DEVICE = -5;
    private static final int STATUS_PERMISSION_DENIED = -8;
    private static final int STATUS_INTERFACE_DOWN = -9;

    private BpfCompiler() {
    }

    /** {@return whether libpcap, which compiles all expressions, is installed} */
    public static boolean isAvailable() {
        return Libpcap.isAvailable();
    }

    /**
     * Fails unless libpcap is there.
     *
     * @param wish its purpose, the beginning of the message.
     * @throws CaptureException of kind {@link Kind#UNAVAILABLE} if it is not.
     */
    public static void requireLibpcap(final String wish) {
        Libpcap.require(wish);
    }

    /**
     * Compiles for captured packets, which have their VLAN tags in the frame as on the wire.
     *
     * @param linkType        of the packets, a {@link LinkType} number.
     * @param snapLengthBytes returned by the program for packets that match.
     * @throws CaptureException of kind {@link Kind#BAD_FILTER} if the expression is wrong, {@link Kind#UNAVAILABLE} without
     *         libpcap.
     */
    public static synchronized BpfProgram compile(final String expression, final int linkType, final int snapLengthBytes) {
        Libpcap.require(title(expression));
        final Pointer handle = Libpcap.pcap_open_dead(inProcessLinkType(linkType), snapLengthBytes);
        try {
            final BpfProgram program = compile(handle, expression);
            if (program.hasAncillaryLoads()) {
                throw new CaptureException(Kind.BAD_FILTER,
                    title(expression) + ": only the kernel knows that of a packet (inbound, outbound, ifindex)");
            }
            return program;
        } finally {
            Libpcap.pcap_close(handle);
        }
    }

    /**
     * Compiles for the kernel's side of an interface. There the outer VLAN tag may be metadata instead of packet data. Only a
     * program compiled for a live handle checks both places.
     *
     * @param interfaceName   that the program is to run on; it must be up.
     * @param linkType        of the interface's packets, a {@link LinkType} number.
     * @param snapLengthBytes returned by the program for packets that match.
     * @return the program; it may contain loads that only the kernel supports.
     * @throws CaptureException if the expression is wrong or the interface cannot be opened.
     */
    public static synchronized BpfProgram compileForInterface(
        final String expression, final String interfaceName, final int linkType, final int snapLengthBytes) {
        Libpcap.require(interfaceName + ": " + title(expression));
        final byte[] error = new byte[Libpcap.ERROR_LENGTH_BYTES];
        final Pointer handle = Libpcap.pcap_create(interfaceName, error);
        if (handle == null) {
            throw new CaptureException(Kind.NO_INPUT, interfaceName + ": libpcap: " + text(error));
        }
        try {
            Libpcap.pcap_set_snaplen(handle, snapLengthBytes);
            final int status = Libpcap.pcap_activate(handle);
            if (status < 0) {
                throw activationFailure(interfaceName, status, Libpcap.pcap_geterr(handle));
            }
            if (Libpcap.pcap_datalink(handle) != inProcessLinkType(linkType)) {
                throw new CaptureException(Kind.UNAVAILABLE, interfaceName + ": libpcap sees link type " +
                    Libpcap.pcap_datalink(handle) + " there, the packet ring " + linkType +
                    ": drop the filter or use the source 'pcap'");
            }
            return compile(handle, expression);
        } finally {
            Libpcap.pcap_close(handle);
        }
    }

    /** The beginning of messages about an expression. */
    public static String title(final String expression) {
        return "filter '" + expression + "'";
    }

    private static BpfProgram compile(final Pointer handle, final String expression) {
        final UnsafeBuffer program = new UnsafeBuffer(BufferUtil.allocateDirectAligned(PROGRAM_LENGTH_BYTES, Long.BYTES));
        final long address = program.addressOffset();
        if (Libpcap.pcap_compile(handle, address, expression, 1, Libpcap.NETMASK_UNKNOWN) != 0) {
            throw new CaptureException(Kind.BAD_FILTER, title(expression) + ": " + Libpcap.pcap_geterr(handle));
        }
        try {
            final int instructionCount = program.getInt(COUNT_OFFSET, ByteOrder.nativeOrder());
            final UnsafeBuffer instructions = new UnsafeBuffer(program.getLong(ADDRESS_OFFSET, ByteOrder.nativeOrder()),
                instructionCount * BpfProgram.INSTRUCTION_LENGTH_BYTES);
            return verified(BpfProgram.decode(instructions, 0, instructionCount), expression);
        } finally {
            Libpcap.pcap_freecode(address);
            Reference.reachabilityFence(program);
        }
    }

    private static BpfProgram verified(final BpfProgram program, final String expression) {
        final String refusal = BpfVerifier.refusal(program);
        if (refusal != null) {
            throw new CaptureException(Kind.BAD_FILTER, title(expression) + ": its program cannot be run: " + refusal +
                " (protochain, for example, needs loops)");
        }
        return program;
    }

    private static CaptureException activationFailure(final String interfaceName, final int status, final String error) {
        final String reason = Libpcap.pcap_statustostr(status) + (error.isEmpty() ? "" : " (" + error + ")");
        switch (status) {
            case STATUS_NO_SUCH_DEVICE:
                return new CaptureException(Kind.NO_INPUT, interfaceName + ": " + reason);
            case STATUS_PERMISSION_DENIED:
                return new CaptureException(Kind.NO_PERMISSION, interfaceName + ": " + reason);
            case STATUS_INTERFACE_DOWN:
                return new CaptureException(Kind.NO_INPUT, interfaceName +
                    ": a filter can be compiled only while the interface is up: ip link set " + interfaceName + " up");
            default:
                return new CaptureException(Kind.NO_INPUT, interfaceName + ": libpcap cannot open it: " + reason);
        }
    }

    private static int inProcessLinkType(final int linkType) {
        return linkType == LinkType.RAW || linkType == LinkType.RAW_OPENBSD ? DLT_RAW : linkType;
    }

    private static String text(final byte[] error) {
        int length = 0;
        while (length < error.length && error[length] != 0) {
            length++;
        }
        return new String(Arrays.copyOf(error, length), StandardCharsets.UTF_8);
    }
}
