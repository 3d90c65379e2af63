package io.flowlag.exporter.capture.filter;

import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;

/** The oracle: libpcap's own interpreter, on the same program and octets. */
final class NativeFilter {
    private static final int MAX_PACKET_LENGTH_BYTES = 1 << 18;

    private final UnsafeBuffer instructions;
    private final UnsafeBuffer packet = new UnsafeBuffer(BufferUtil.allocateDirectAligned(MAX_PACKET_LENGTH_BYTES, 8));

    NativeFilter(final BpfProgram program) {
        instructions = new UnsafeBuffer(
            BufferUtil.allocateDirectAligned(program.instructionCount() * BpfProgram.INSTRUCTION_LENGTH_BYTES, 8));
        program.encode(instructions, 0);
    }

    int run(final byte[] octets, final int wireLengthBytes) {
        packet.putBytes(0, octets);
        return Libpcap.bpf_filter(instructions.addressOffset(), packet.addressOffset(), wireLengthBytes, octets.length);
    }
}
