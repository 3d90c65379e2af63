package io.flowlag.exporter.capture.xdp;

import io.flowlag.exporter.capture.CaptureException;
import io.flowlag.exporter.capture.CaptureException.Kind;
import io.flowlag.exporter.capture.bpf.BpfCall;
import io.flowlag.exporter.capture.bpf.EbpfAssembler;
import io.flowlag.exporter.capture.posix.CLibrary;
import io.flowlag.exporter.capture.posix.Errno;
import org.agrona.concurrent.UnsafeBuffer;

import static io.flowlag.exporter.capture.bpf.EbpfAssembler.*;

/**
 * The XDP program of an interface, which hands a packet to the socket of its receive queue and puts the time in front of it; the
 * kernel detaches it when the process ends. A packet that it cannot hand over goes on to the host and is counted. Owned by one
 * thread. Allocates at construction.
 * <p>
 * Shared with the program, in one value of a map:
 * <pre>
 *   0  packets that went on to the host  8
 *   8  whether all are to go on          8
 * </pre>
 */
final class XdpHook implements AutoCloseable {
    private static final int VALUE_LENGTH_BYTES = 16;
    private static final int STOPPED_OFFSET = 8;
    private static final int PROGRAM_FLAG_SEVERAL_FRAMES = 1 << 5;
    private static final int ATTACH_XDP = 37;
    private static final int MODE_GENERIC = 1 << 1;
    private static final int MODE_DRIVER = 1 << 2;
    private static final int XDP_PASS = 2;
    private static final int XDP_REDIRECT = 4;
    /** Of {@code struct xdp_md}: begin and end of the packet, and the number of its queue. */
    private static final int END_OFFSET = 4;
    private static final int QUEUE_OFFSET = 16;
    private static final int NONE = -1;

    private final String interfaceName;
    private final UnsafeBuffer value = new UnsafeBuffer(0, 0);
    private int socketsFd = NONE;
    private int valueFd = NONE;
    private int programFd = NONE;
    private int linkFd = NONE;

    /** Loads a program, which is not attached yet. */
    XdpHook(final String interfaceName, final int queueCount, final boolean hasSeveralFrames) {
        this.interfaceName = interfaceName;
        try {
            socketsFd = BpfCall.createMap(BpfCall.MAP_XDP_SOCKETS, Integer.BYTES, queueCount, 0);
            valueFd = BpfCall.createMap(BpfCall.MAP_ARRAY, VALUE_LENGTH_BYTES, 1, BpfCall.MAP_FLAG_MMAPABLE);
            programFd = BpfCall.loadProgram(
                BpfCall.PROGRAM_XDP, program(socketsFd, valueFd), hasSeveralFrames ? PROGRAM_FLAG_SEVERAL_FRAMES : 0);
        } catch (final CaptureException ex) {
            close();
            throw failure(ex);
        }
        final long address = CLibrary.mmap(
            0, VALUE_LENGTH_BYTES, XdpLayout.PROTECTION_READ_WRITE, XdpLayout.MAP_SHARED, valueFd, 0);
        if (address == -1) {
            final String reason = Errno.describe(Errno.last());
            close();
            throw new CaptureException(Kind.UNAVAILABLE, interfaceName + ": the map of the XDP program: " + reason);
        }
        value.wrap(address, VALUE_LENGTH_BYTES);
    }

    private static EbpfAssembler program(final int socketsFd, final int valueFd) {
        final EbpfAssembler program = new EbpfAssembler();
        final int lost = program.label();
        final int pass = program.label();
        return program
            .computeBy(MOV, R6, R1)
            .loadMapValue(R9, valueFd)
            .load(DW, R0, R9, STOPPED_OFFSET)
            .jumpIf(JMP + JNE, R0, 0, pass)
            .call(HELPER_TAI_NS)
            .computeBy(MOV, R8, R0)
            .loadMap(R1, socketsFd)
            .load(W, R2, R6, QUEUE_OFFSET)
            .compute(MOV, R3, XDP_PASS)
            .call(HELPER_REDIRECT_MAP)
            .jumpIf(JMP + JNE, R0, XDP_REDIRECT, lost)
            .computeBy(MOV, R1, R6)
            .compute(MOV, R2, -XdpQueue.STAMP_LENGTH_BYTES)
            .call(HELPER_ADJUST_HEAD)
            .jumpIf(JMP + JNE, R0, 0, lost)
            .load(W, R1, R6, 0)
            .load(W, R2, R6, END_OFFSET)
            .computeBy(MOV, R3, R1)
            .compute(ADD, R3, XdpQueue.STAMP_LENGTH_BYTES)
            .jumpIfBy(JMP + JGT, R3, R2, lost)
            .store(DW, R1, 0, R8)
            .compute(MOV, R0, XDP_REDIRECT)
            .exit()
            .place(lost)
            .compute(MOV, R1, 1)
            .add(STX + ATOMIC + DW, R9, R1, 0, ATOMIC_ADD)
            .place(pass)
            .compute(MOV, R0, XDP_PASS)
            .exit();
    }

    /** Assigns a socket to its queue. */
    void put(final int queue, final int socketFd) {
        try {
            BpfCall.update(socketsFd, queue, socketFd);
        } catch (final CaptureException ex) {
            throw failure(ex);
        }
    }

    /**
     * Attaches the program: from now on packets come.
     *
     * @return why the driver does not run it, so that the kernel's generic code does; empty if the driver does.
     */
    String attach(final int interfaceIndex) {
        try {
            linkFd = BpfCall.link(programFd, interfaceIndex, ATTACH_XDP, MODE_DRIVER);
            return "";
        } catch (final CaptureException ex) {
            attachGeneric(interfaceIndex);
            return ex.getMessage();
        }
    }

    private void attachGeneric(final int interfaceIndex) {
        try {
            linkFd = BpfCall.link(programFd, interfaceIndex, ATTACH_XDP, MODE_GENERIC);
        } catch (final CaptureException ex) {
            throw new CaptureException(ex.kind(), failure(ex).getMessage() +
                ": 'ip link show " + interfaceName + "' shows a program of another process");
        }
    }

    /** Lets all packets go on to the host from now on; they are not counted. */
    void stop() {
        value.putLongVolatile(STOPPED_OFFSET, 1);
    }

    /** {@return packets that went on to the host, as none of the sockets could have them} */
    long passedCount() {
        return value.getLongVolatile(0);
    }

    @Override
    public void close() {
        if (value.capacity() > 0) {
            CLibrary.munmap(value.addressOffset(), VALUE_LENGTH_BYTES);
            value.wrap(0, 0);
        }
        linkFd = closed(linkFd);
        programFd = closed(programFd);
        valueFd = closed(valueFd);
        socketsFd = closed(socketsFd);
    }

    private static int closed(final int fd) {
        if (fd != NONE) {
            CLibrary.close(fd);
        }
        return NONE;
    }

    private CaptureException failure(final CaptureException cause) {
        return new CaptureException(cause.kind(), interfaceName + ": " + cause.getMessage() +
            (cause.kind() == Kind.NO_PERMISSION ? " and CAP_NET_ADMIN: run with sudo" : ", at the source 'xdp'"));
    }
}
