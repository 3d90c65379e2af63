package io.flowlag.exporter.capture.filter;

import org.junit.jupiter.api.Test;

import static io.flowlag.exporter.capture.filter.BpfOpcode.*;
import static org.junit.jupiter.api.Assertions.*;

class BpfVerifierTest {
    @Test
    void shouldAcceptTheShortestProgram() {
        assertNull(BpfVerifier.refusal(BpfProgram.accept(96)));
    }

    @Test
    void shouldRefuseWhatDoesNotEnd() {
        assertRefused("does not end");
        assertRefused("does not end", LD + IMM, 0, 0, 1);
    }

    @Test
    void shouldRefuseJumpsOutOfTheProgramAndBack() {
        assertRefused("instruction 0 jumps behind the end", JMP + JA, 0, 0, 1, RET + K, 0, 0, 0);
        assertRefused("instruction 0 jumps behind the end", JMP + JEQ, 0, 1, 7, RET + K, 0, 0, 0);
        assertRefused("instruction 0 jumps behind the end", JMP + JEQ, 1, 0, 7, RET + K, 0, 0, 0);
        assertRefused("instruction 0 jumps back", JMP + JA, 0, 0, -1, RET + K, 0, 0, 0);
        assertNull(BpfVerifier.refusal(BpfProgram.of(JMP + JA, 0, 0, 0, RET + K, 0, 0, 0)));
    }

    @Test
    void shouldRefuseMemoryThatThereIsNot() {
        assertRefused("instruction 0 uses memory word 16 of 16", ST, 0, 0, 16, RET + K, 0, 0, 0);
        assertRefused("instruction 0 uses memory word 4294967295 of 16", LDX + MEM, 0, 0, -1, RET + K, 0, 0, 0);
    }

    @Test
    void shouldRefuseReadsOfMemoryThatMayNotBeWritten() {
        assertRefused("instruction 0 reads memory word 3", LD + MEM, 0, 0, 3, RET + A, 0, 0, 0);
        assertNull(BpfVerifier.refusal(BpfProgram.of(ST, 0, 0, 3, LD + MEM, 0, 0, 3, RET + A, 0, 0, 0)));
        assertRefused("instruction 2 reads memory word 3",
            JMP + JEQ, 1, 0, 0, ST, 0, 0, 3, LD + MEM, 0, 0, 3, RET + A, 0, 0, 0);
        assertRefused("instruction 2 reads memory word 3",
            JMP + JA, 0, 0, 1, ST, 0, 0, 3, LD + MEM, 0, 0, 3, RET + A, 0, 0, 0);
    }

    @Test
    void shouldRefuseArithmeticWithoutAResult() {
        assertRefused("instruction 0 divides by zero", ALU + DIV, 0, 0, 0, RET + A, 0, 0, 0);
        assertRefused("instruction 0 divides by zero", ALU + MOD, 0, 0, 0, RET + A, 0, 0, 0);
        assertRefused("instruction 0 shifts", ALU + LSH, 0, 0, 32, RET + A, 0, 0, 0);
        assertNull(BpfVerifier.refusal(BpfProgram.of(ALU + DIV + X, 0, 0, 0, RET + A, 0, 0, 0)));
    }

    @Test
    void shouldRefuseUnknownCodes() {
        assertRefused("instruction 0 has the unknown code 0xff", 0xff, 0, 0, 0, RET + K, 0, 0, 0);
        assertRefused("instruction 0 has the unknown code 0xd", JMP + JA + X, 0, 0, 0, RET + K, 0, 0, 0);
        assertRefused("instruction 0 has the unknown code 0xe", RET + X, 0, 0, 0, RET + K, 0, 0, 0);
    }

    private static void assertRefused(final String reason, final int... fields) {
        final String refusal = BpfVerifier.refusal(BpfProgram.of(fields));
        assertNotNull(refusal);
        assertTrue(refusal.contains(reason), refusal);
    }
}
