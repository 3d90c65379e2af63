package io.flowlag.exporter.capture.filter;

import io.flowlag.common.memory.CheckedBuffer;
import io.flowlag.exporter.fuzz.Corpus;
import io.flowlag.exporter.fuzz.FuzzTarget;
import io.flowlag.exporter.fuzz.GuardedMemory;
import org.agrona.concurrent.UnsafeBuffer;

import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

import static io.flowlag.exporter.capture.filter.BpfOpcode.*;

/**
 * Filter programs and packets: a program that is accepted runs to its end on any packet and reads no octet behind it. An input is
 * how many instructions it has (1 octet), the instructions, and the packet.
 */
public final class FilterTarget implements FuzzTarget {
    private static final int MAX_BYTES = 512;
    private static final int PACKET_BYTES = 64;
    private static final int WORD_BITS = 32;

    private final GuardedMemory programMemory = new GuardedMemory(MAX_BYTES);
    private final GuardedMemory packetMemory = new GuardedMemory(MAX_BYTES);
    private final UnsafeBuffer instructions = new UnsafeBuffer(0, 0);
    private final CheckedBuffer packet = new CheckedBuffer(0, 0);

    /** A target. */
    public FilterTarget() {
    }

    @Override
    public List<byte[]> seeds() {
        final List<byte[]> seeds = new ArrayList<>(Corpus.of("filter"));
        seeds.add(input(RET + K, 0, 0, -1));
        seeds.add(input(LD + H + ABS, 0, 0, 12, JMP + JEQ + K, 0, 1, 0x0800, RET + K, 0, 0, 96, RET + K, 0, 0, 0));
        seeds.add(input(LDX + B + MSH, 0, 0, 14, LD + H + IND, 0, 0, 16, JMP + JGT + K, 0, 2, 1024, MISC + TAX, 0, 0, 0,
            LD + B + IND, 0, 0, 1, RET + A, 0, 0, 0));
        seeds.add(input(LD + W + LEN, 0, 0, 0, ST, 0, 0, 3, LDX + W + MEM, 0, 0, 3, ALU + DIV + X, 0, 0, 0,
            ALU + LSH + K, 0, 0, 3, STX, 0, 0, 15, LD + MEM, 0, 0, 15,
            ALU + NEG, 0, 0, 0, JMP + JSET + X, 1, 0, 0, RET + K, 0, 0, 0, RET + A, 0, 0, 0));
        return seeds;
    }

    private static byte[] input(final int... fields) {
        final int count = fields.length / 4;
        final UnsafeBuffer input =
            new UnsafeBuffer(new byte[1 + count * BpfProgram.INSTRUCTION_LENGTH_BYTES + PACKET_BYTES]);
        input.putByte(0, (byte)count);
        for (int i = 0; i < count; i++) {
            final int at = 1 + i * BpfProgram.INSTRUCTION_LENGTH_BYTES;
            input.putShort(at, (short)fields[4 * i], ByteOrder.nativeOrder());
            input.putByte(at + 2, (byte)fields[4 * i + 1]);
            input.putByte(at + 3, (byte)fields[4 * i + 2]);
            input.putInt(at + 4, fields[4 * i + 3], ByteOrder.nativeOrder());
        }
        return input.byteArray();
    }

    /** Beginnings of instructions: the code, and jumps over none or one. */
    @Override
    public List<byte[]> dictionary() {
        return IntStream.of(LD + W + ABS, LD + H + IND, LD + B + ABS, LD + IMM, LD + MEM, LDX + W + IMM, LDX + W + MEM,
            LDX + W + LEN, LDX + B + MSH, ST, STX, ALU + ADD + X, ALU + MUL + K, ALU + DIV + X, ALU + MOD + X, ALU + RSH + X,
            ALU + XOR + K, JMP + JA, JMP + JGE + X, JMP + JSET + K, RET + A, MISC + TAX, MISC + TXA)
            .mapToObj((code) -> new byte[] {(byte)code, 0, 0, (byte)(code & 1)}).toList();
    }

    @Override
    public long take(final byte[] octets, final int length) {
        if (length == 0) {
            return 0;
        }
        final int count = Math.min(octets[0] & 0xff, (length - 1) / BpfProgram.INSTRUCTION_LENGTH_BYTES);
        final int programBytes = count * BpfProgram.INSTRUCTION_LENGTH_BYTES;
        programMemory.wrap(instructions, octets, 1, programBytes);
        final BpfProgram program = BpfProgram.decode(instructions, 0, count);
        final String refusal = BpfVerifier.refusal(program);
        if (refusal != null) {
            return -1L - refusal.chars().filter(Character::isLetter).sum();
        }
        final int packetBytes = length - 1 - programBytes;
        packetMemory.wrap(packet, octets, 1 + programBytes, packetBytes);
        final int wanted = new BpfFilter(program).run(packet, 0, packetBytes, 2 * packetBytes);
        return 1L + count + ((long)Integer.numberOfLeadingZeros(wanted) << WORD_BITS);
    }

    @Override
    public int maxInputBytes() {
        return MAX_BYTES;
    }

    @Override
    public long allocationBoundBytes() {
        return 64 << 10;
    }
}
