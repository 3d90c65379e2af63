package io.flowlag.exporter.capture.bpf;

import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.util.HexFormat;

import static io.flowlag.exporter.capture.bpf.EbpfAssembler.*;
import static org.junit.jupiter.api.Assertions.*;

class EbpfAssemblerTest {
    @Test
    void shouldEncodeInstructionsAndJumpsToLabels() {
        final EbpfAssembler program = new EbpfAssembler();
        final int end = program.label();
        program.computeBy(MOV, R6, R1)
            .load(W, R0, R6, 8)
            .jumpIf(JMP32 + JGT, R0, -2, end)
            .loadMap(R1, 7)
            .store(DW, FRAME, -16, R0)
            .jump(end)
            .call(HELPER_MONOTONIC_NS)
            .place(end)
            .compute(AND, R0, 0xff)
            .exit();
        assertEquals(
            "bf16000000000000" + "6160080000000000" + "26000500feffffff" + "1811000007000000" +
            "0000000000000000" + "7b0af0ff00000000" + "0500010000000000" + "8500000005000000" + "57000000ff000000" +
            "9500000000000000", encoded(program));
    }

    @Test
    void shouldRefuseJumpsThatAreTooFarOrGoNowhere() {
        final EbpfAssembler program = new EbpfAssembler();
        final int end = program.label();
        program.jump(end);
        assertThrows(IllegalStateException.class, () -> encoded(program));
        for (int i = 0; i <= Short.MAX_VALUE; i++) {
            program.exit();
        }
        program.place(end).exit();
        assertThrows(IllegalStateException.class, () -> encoded(program));
    }

    private static String encoded(final EbpfAssembler program) {
        final byte[] octets = new byte[program.instructionCount() * INSTRUCTION_LENGTH_BYTES];
        program.encode(new UnsafeBuffer(octets), 0);
        return HexFormat.of().formatHex(octets);
    }
}
