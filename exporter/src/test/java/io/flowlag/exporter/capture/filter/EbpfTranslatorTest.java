package io.flowlag.exporter.capture.filter;

import com.sun.jna.Platform;
import io.flowlag.exporter.capture.CaptureException;
import io.flowlag.exporter.capture.LinkType;
import io.flowlag.exporter.capture.bpf.BpfCall;
import io.flowlag.exporter.capture.bpf.EbpfAssembler;
import io.flowlag.exporter.capture.posix.CLibrary;
import io.flowlag.exporter.capture.posix.LinuxLibrary;
import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import static io.flowlag.exporter.capture.bpf.EbpfAssembler.MOV;
import static io.flowlag.exporter.capture.bpf.EbpfAssembler.R1;
import static io.flowlag.exporter.capture.bpf.EbpfAssembler.R6;
import static io.flowlag.exporter.capture.filter.BpfOpcode.*;
import static org.junit.jupiter.api.Assertions.*;

/** Runs translated programs in this kernel, by BPF_PROG_TEST_RUN, which shows a socket filter what is behind the link header. */
class EbpfTranslatorTest {
    private static final int TEST_RUN = 10;
    private static final int RETURNED_OFFSET = 4;
    private static final int LINK_HEADER_LENGTH_BYTES = 14;
    private static final int PACKET_LENGTH_BYTES = 64;
    private static final int PROGRAM_COUNT = 200;
    private static final int MAX_INSTRUCTIONS = 20;
    private static final int PACKETS_PER_PROGRAM = 4;
    private static final long SEED = 27;

    private static boolean isAllowed;

    private final UnsafeBuffer attributes = new UnsafeBuffer(BufferUtil.allocateDirectAligned(128, 8));
    private final UnsafeBuffer packet = new UnsafeBuffer(BufferUtil.allocateDirectAligned(256, 8));
    private final Random random = new Random(SEED);

    @BeforeAll
    static void askKernel() {
        try {
            CLibrary.close(load(BpfProgram.accept(1)));
            isAllowed = BpfCall.isKnown();
        } catch (final CaptureException ex) {
            isAllowed = false;
        }
    }

    @Test
    void shouldTranslateRandomProgramsSoThatTheyReturnTheSame() {
        Assumptions.assumeTrue(isAllowed, "needs CAP_BPF");
        int wantedCount = 0;
        for (int i = 0; i < PROGRAM_COUNT; i++) {
            final BpfProgram program = program();
            if (BpfVerifier.refusal(program) == null) {
                wantedCount += assertSame(program);
            }
        }
        assertTrue(wantedCount > PROGRAM_COUNT / 10, "programs that want packets: " + wantedCount);
    }

    @Test
    void shouldTranslateExpressions() {
        Assumptions.assumeTrue(isAllowed && BpfCompiler.isAvailable(), "needs CAP_BPF and libpcap");
        for (final String expression : List.of("udp", "tcp[tcpflags] & (tcp-syn|tcp-fin) != 0", "ip[2:2] / ip[8] > 3",
            "host 10.0.0.1 or net 192.168.0.0/16 or ip6", "ip[6] << (ip[7] & 31) > 100", "less 60 and portrange 1-1024")) {
            assertSame(BpfCompiler.compile(expression, LinkType.RAW, 96));
        }
    }

    @Test
    void shouldRefuseWhatEbpfDoesNotKnowOfAPacket() {
        final CaptureException ex = assertThrows(CaptureException.class, () -> EbpfTranslator.append(
            BpfProgram.of(LD + W + ABS, 0, 0, -0x1000 + 52, RET + A, 0, 0, 0), new EbpfAssembler(), 0));
        assertEquals(CaptureException.Kind.UNAVAILABLE, ex.kind());
    }

    /** {@return how many packets the program wants} */
    private int assertSame(final BpfProgram program) {
        final int fd = load(program);
        final BpfFilter filter = new BpfFilter(program);
        int wantedCount = 0;
        try {
            for (int i = 0; i < PACKETS_PER_PROGRAM; i++) {
                final int lengthBytes = LINK_HEADER_LENGTH_BYTES + 20 + random.nextInt(PACKET_LENGTH_BYTES);
                final byte[] octets = new byte[lengthBytes];
                random.nextBytes(octets);
                octets[12] = 8;
                octets[13] = 0;
                octets[LINK_HEADER_LENGTH_BYTES] = 0x45;
                octets[LINK_HEADER_LENGTH_BYTES + 9] = (byte) (random.nextBoolean() ? 17 : 6);
                packet.putBytes(0, octets);
                final int capturedBytes = lengthBytes - LINK_HEADER_LENGTH_BYTES;
                final int expected = filter.run(packet, LINK_HEADER_LENGTH_BYTES, capturedBytes, capturedBytes);
                assertEquals(expected, runInKernel(fd, lengthBytes), program + " seed " + SEED);
                wantedCount += expected != 0 ? 1 : 0;
            }
        } finally {
            CLibrary.close(fd);
        }
        return wantedCount;
    }

    private static int load(final BpfProgram program) {
        final EbpfAssembler to = new EbpfAssembler();
        final int end = to.label();
        // The kernel refuses what nothing leads to.
        if (EbpfTranslator.append(program, to.computeBy(MOV, R6, R1), end)) {
            to.place(end).exit();
        }
        return BpfCall.loadProgram(BpfCall.PROGRAM_SOCKET_FILTER, to);
    }

    /** A program that no compiler would create; it may be invalid. */
    private BpfProgram program() {
        final List<Integer> fields = new ArrayList<>();
        for (int i = 0; i < MEMORY_WORDS / 4; i++) {
            fields.addAll(List.of(ST, 0, 0, i));
        }
        final int count = random.nextInt(MAX_INSTRUCTIONS);
        for (int i = 0; i < count; i++) {
            final int code = BpfPropertyTest.CODES[random.nextInt(BpfPropertyTest.CODES.length)];
            final boolean isMemory = code == ST || code == STX || code == LD + MEM || code == LDX + W + MEM;
            final boolean isAny = random.nextInt(4) == 0 && (code & CLASS_MASK) != LD && (code & CLASS_MASK) != LDX;
            final int operand = isMemory || code == JMP + JA ? random.nextInt(4) :
                isAny && code != ALU + LSH && code != ALU + RSH ? random.nextInt() : random.nextInt(20);
            fields.addAll(List.of(code, random.nextInt(4), random.nextInt(4), operand));
        }
        fields.addAll(List.of(RET + A, 0, 0, 0));
        return BpfProgram.of(fields.stream().mapToInt(Integer::intValue).toArray());
    }

    private int runInKernel(final int fd, final int lengthBytes) {
        attributes.setMemory(0, attributes.capacity(), (byte) 0);
        attributes.putInt(0, fd);
        attributes.putInt(8, lengthBytes);
        attributes.putLong(16, packet.addressOffset());
        final long number = Platform.isIntel() ? 321 : 280;
        assertEquals(0, LinuxLibrary.syscall(number, TEST_RUN, attributes.addressOffset(), 80));
        return attributes.getInt(RETURNED_OFFSET);
    }
}
