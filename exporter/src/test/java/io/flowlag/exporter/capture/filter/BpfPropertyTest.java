package io.flowlag.exporter.capture.filter;

import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Assume;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.agrona.concurrent.UnsafeBuffer;

import java.util.List;
import java.util.stream.IntStream;

import static io.flowlag.exporter.capture.filter.BpfOpcode.*;
import static org.junit.jupiter.api.Assertions.*;

/** Properties of programs that no compiler would create. */
class BpfPropertyTest {
    private static final int MAX_INSTRUCTIONS = 24;
    private static final int MAX_OPERAND = 40;
    static final int[] CODES = {
        LD + W + ABS, LD + H + ABS, LD + B + ABS, LD + W + IND, LD + H + IND, LD + B + IND, LD + W + LEN, LD + IMM, LD + MEM,
        LDX + W + IMM, LDX + W + LEN, LDX + B + MSH, LDX + W + MEM, ST, STX,
        ALU + ADD, ALU + SUB, ALU + MUL, ALU + DIV, ALU + MOD, ALU + OR, ALU + AND, ALU + XOR, ALU + LSH, ALU + RSH,
        ALU + ADD + X, ALU + SUB + X, ALU + MUL + X, ALU + DIV + X, ALU + MOD + X, ALU + OR + X, ALU + AND + X, ALU + XOR + X,
        ALU + LSH + X, ALU + RSH + X, ALU + NEG,
        JMP + JA, JMP + JEQ, JMP + JGT, JMP + JGE, JMP + JSET, JMP + JEQ + X, JMP + JGT + X, JMP + JGE + X, JMP + JSET + X,
        MISC + TAX, MISC + TXA, RET + K, RET + A,
    };

    @Property(tries = 5_000)
    void shouldAgreeWithLibpcapOnEveryProgramThatIsVerified(
        @ForAll("programs") final BpfProgram program, @ForAll("packets") final byte[] octets, @ForAll final int wireLengthBytes) {
        Assume.that(BpfCompiler.isAvailable());
        Assume.that(BpfVerifier.refusal(program) == null);
        final int result = new BpfFilter(program).run(new UnsafeBuffer(octets), 0, octets.length, wireLengthBytes);
        assertEquals(new NativeFilter(program).run(octets, wireLengthBytes), result);
    }

    /** Bounds checks are on in tests: a read beyond the packet would throw. */
    @Property
    void shouldRefuseOrRunAnything(@ForAll("anything") final BpfProgram program, @ForAll("packets") final byte[] octets) {
        if (BpfVerifier.refusal(program) == null) {
            new BpfFilter(program).run(new UnsafeBuffer(octets), 0, octets.length, octets.length);
        } else {
            assertThrows(IllegalArgumentException.class, () -> new BpfFilter(program));
        }
    }

    @Property
    void shouldDecodeWhatWasEncoded(@ForAll("anything") final BpfProgram program) {
        final UnsafeBuffer buffer = new UnsafeBuffer(new byte[MAX_INSTRUCTIONS * BpfProgram.INSTRUCTION_LENGTH_BYTES + 8]);
        final int lengthBytes = program.encode(buffer, 8);
        final BpfProgram decoded = BpfProgram.decode(buffer, 8, lengthBytes / BpfProgram.INSTRUCTION_LENGTH_BYTES);
        assertEquals(program, decoded);
        assertEquals(program.hashCode(), decoded.hashCode());
        assertEquals(program.toString(), decoded.toString());
    }

    @Provide
    Arbitrary<BpfProgram> programs() {
        return body().map(body -> {
            final int[] prepared = IntStream.concat(preamble(), IntStream.concat(
                body.stream().flatMapToInt(IntStream::of), IntStream.of(RET + A, 0, 0, 0))).toArray();
            return BpfProgram.of(prepared);
        });
    }

    /** Writes the first memory words, so that most programs that read some are valid. */
    private static IntStream preamble() {
        return IntStream.range(0, 4).flatMap(i -> IntStream.of(ST, 0, 0, i));
    }

    private static Arbitrary<List<int[]>> body() {
        final Arbitrary<int[]> instruction = Combinators.combine(
            Arbitraries.of(IntStream.of(CODES).boxed().toArray(Integer[]::new)), Arbitraries.integers().between(0, 3),
            Arbitraries.integers().between(0, 3), operands()).as(BpfPropertyTest::instruction);
        return instruction.list().ofMaxSize(MAX_INSTRUCTIONS - 5);
    }

    private static int[] instruction(final int code, final int jumpTrue, final int jumpFalse, final int operand) {
        final boolean isMemory = code == ST || code == STX || code == LD + MEM || code == LDX + W + MEM;
        final boolean isShift = code == ALU + LSH || code == ALU + RSH;
        return new int[] {code, jumpTrue, jumpFalse,
            isMemory || code == JMP + JA ? operand & 3 : isShift ? operand & 31 : operand};
    }

    private static Arbitrary<Integer> operands() {
        return Arbitraries.oneOf(Arbitraries.integers().between(0, MAX_OPERAND), Arbitraries.integers());
    }

    @Provide
    Arbitrary<BpfProgram> anything() {
        final Arbitrary<int[]> instruction = Combinators.combine(Arbitraries.integers().between(0, 0xff),
            Arbitraries.integers().between(0, 255), Arbitraries.integers().between(0, 255), operands())
            .as((code, jumpTrue, jumpFalse, operand) -> new int[] {code, jumpTrue, jumpFalse, operand});
        return instruction.list().ofMaxSize(MAX_INSTRUCTIONS)
            .map(all -> BpfProgram.of(all.stream().flatMapToInt(IntStream::of).toArray()));
    }

    @Provide
    Arbitrary<byte[]> packets() {
        return Arbitraries.bytes().array(byte[].class).ofMaxSize(MAX_OPERAND + 8);
    }
}
