package io.flowlag.tests.benchmark;

import com.sun.jna.Platform;
import io.flowlag.exporter.capture.PacketHandler;
import io.flowlag.exporter.capture.bpf.BpfCall;
import io.flowlag.exporter.capture.bpf.EbpfAssembler;
import io.flowlag.exporter.capture.posix.CLibrary;
import io.flowlag.exporter.capture.posix.Errno;
import io.flowlag.exporter.capture.posix.LinuxLibrary;
import io.flowlag.exporter.capture.posix.NetworkInterfaces;
import io.flowlag.exporter.lab.GeneratedTraffic;
import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;

import java.io.IOException;

import static io.flowlag.exporter.capture.bpf.EbpfAssembler.*;

/**
 * Packets without a sender: the kernel's test of an XDP program with live frames (Linux 5.18), which pass into the stack as if
 * an interface had received them, past that interface's own XDP program, or leave by it. The program gives each a source port at
 * random, one for each flow. What the kernel does with a packet, up to who captures it, is done in the calling thread's time, or
 * in that of the processor's thread for such work.
 * <pre>
 *   BPF_PROG_TEST_RUN   program 4, (4), octets in 4, (4), address of them 8, (8), repeat 4, (4), context octets 4, (4), address
 *                       of the context 8, (8), flags 4, (4), batch 4
 *   struct xdp_md       begin 4, end 4, (4), interface 4, queue 4, (4)
 * </pre>
 */
final class LiveFrameSender extends FrameSender {
    private static final int SYSCALL_X86 = 321;
    private static final int SYSCALL_ARM = 280;
    private static final int PROGRAM_TEST_RUN = 10;
    private static final int FLAG_LIVE_FRAMES = 1 << 1;
    private static final int BATCH_FRAMES = 64;
    private static final int ATTRIBUTES_BYTES = 80;
    private static final int CONTEXT_BYTES = 24;
    private static final int REPEAT_OFFSET = 32;

    private static final int MODULO = 0x90;
    private static final int HELPER_RANDOM = 7;
    private static final int HELPER_REDIRECT = 23;
    private static final int XDP_DROP = 1;
    private static final int XDP_PASS = 2;
    private static final int SOURCE_PORT_OFFSET = 34;
    private static final int CHECKSUM_OFFSET = 40;

    private final UnsafeBuffer attributes = allocate(ATTRIBUTES_BYTES);
    private final UnsafeBuffer context = allocate(CONTEXT_BYTES);
    private final UnsafeBuffer frame = allocate(FRAME_BYTES);
    private final int programFd;

    /**
     * Loads the program.
     *
     * @param interfaceName of the calling process's network namespace, which receives, or sends.
     * @param isSent        whether it sends; the end of a veth pair, if the other has NAPI: an XDP program, or GRO.
     */
    LiveFrameSender(final String interfaceName, final int flowCount, final boolean isSent) {
        final int interfaceIndex = NetworkInterfaces.indexOf(interfaceName);
        try (GeneratedTraffic traffic = new GeneratedTraffic(Profiles.min64().toBuilder().packetCount(1).flowCount(1).build())) {
            final PacketHandler handler =
                packet -> frame.putBytes(0, packet.buffer(), packet.offset(), packet.capturedLengthBytes());
            traffic.poll(handler, 1);
        }
        programFd = BpfCall.loadProgram(BpfCall.PROGRAM_XDP, program(flowCount, isSent ? interfaceIndex : 0));
        context.putInt(4, FRAME_BYTES);
        context.putInt(12, interfaceIndex);
        attributes.putInt(0, programFd);
        attributes.putInt(8, FRAME_BYTES);
        attributes.putLong(16, frame.addressOffset());
        attributes.putInt(40, CONTEXT_BYTES);
        attributes.putLong(48, context.addressOffset());
        attributes.putInt(64, FLAG_LIVE_FRAMES);
        attributes.putInt(72, BATCH_FRAMES);
    }

    private static EbpfAssembler program(final int flowCount, final int sendingIndex) {
        final EbpfAssembler program = new EbpfAssembler();
        final int isShort = program.label();
        program
            .computeBy(MOV, R6, R1)
            .call(HELPER_RANDOM)
            .compute(MODULO, R0, flowCount)
            .load(W, R1, R6, 0)
            .load(W, R2, R6, Integer.BYTES)
            .computeBy(MOV, R3, R1)
            .compute(ADD, R3, FRAME_BYTES)
            .jumpIfBy(JMP + JGT, R3, R2, isShort)
            .store(H, R1, SOURCE_PORT_OFFSET, R0)
            .compute(MOV, R0, 0)
            .store(H, R1, CHECKSUM_OFFSET, R0);
        if (sendingIndex == 0) {
            program.compute(MOV, R0, XDP_PASS);
        } else {
            program.compute(MOV, R1, sendingIndex).compute(MOV, R2, 0).call(HELPER_REDIRECT);
        }
        return program
            .exit()
            .place(isShort)
            .compute(MOV, R0, XDP_DROP)
            .exit();
    }

    private static UnsafeBuffer allocate(final int lengthBytes) {
        return new UnsafeBuffer(BufferUtil.allocateDirectAligned(lengthBytes, Long.BYTES));
    }

    /** Each call waits for the kernel's other processors (RCU) for some 10 ms. */
    @Override
    int mostBehind() {
        return MOST_FRAMES;
    }

    @Override
    long send(final int count) throws IOException {
        attributes.putInt(REPEAT_OFFSET, count);
        if (LinuxLibrary.syscall(Platform.isIntel() ? SYSCALL_X86 : SYSCALL_ARM, PROGRAM_TEST_RUN, attributes.addressOffset(),
            ATTRIBUTES_BYTES) < 0) {
            throw new IOException("live frames: " + Errno.describe(Errno.last()));
        }
        return count;
    }

    @Override
    public void close() {
        CLibrary.close(programFd);
    }
}
