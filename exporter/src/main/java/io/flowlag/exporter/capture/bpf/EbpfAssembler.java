package io.flowlag.exporter.capture.bpf;

import org.agrona.MutableDirectBuffer;
import org.agrona.collections.IntArrayList;

import java.nio.ByteOrder;

/**
 * Writes an eBPF program, instruction by instruction, with labels to jump to (RFC 9669). An instruction has eight octets, in the
 * byte order of the machine:
 * <pre>
 *   0  code       1
 *   1  registers  1   destination in the lower half, source in the upper one
 *   2  offset     2   of memory, or how many instructions to skip
 *   4  immediate  4
 * </pre>
 * A code is the sum of a class and what the class needs. One thread; allocates.
 */
public final class EbpfAssembler {
    public static final int INSTRUCTION_LENGTH_BYTES = 8;

    /** Classes. */
    public static final int LD = 0x00;
    public static final int LDX = 0x01;
    public static final int ST = 0x02;
    public static final int STX = 0x03;
    public static final int ALU = 0x04;
    public static final int JMP = 0x05;
    public static final int JMP32 = 0x06;
    public static final int ALU64 = 0x07;

    /** Sizes of memory: 4, 2, 1 and 8 octets. */
    public static final int W = 0x00;
    public static final int H = 0x08;
    public static final int B = 0x10;
    public static final int DW = 0x18;

    /** Modes of loads and stores: of packets (ABS, IND), of memory, and an exchange that is a barrier. */
    public static final int ABS = 0x20;
    public static final int IND = 0x40;
    public static final int MEM = 0x60;
    public static final int ATOMIC = 0xc0;
    /** Immediates of ATOMIC. */
    public static final int ATOMIC_ADD = 0x00;
    public static final int ATOMIC_EXCHANGE = 0xe1;

    /** The other operand: the immediate, or the source register. */
    public static final int K = 0x00;
    public static final int X = 0x08;

    /** Operations of ALU and ALU64. */
    public static final int ADD = 0x00;
    public static final int SUB = 0x10;
    public static final int OR = 0x40;
    public static final int AND = 0x50;
    public static final int LSH = 0x60;
    public static final int RSH = 0x70;
    public static final int MOV = 0xb0;
    /** With {@link #X}, from network order to that of a little-endian machine; the immediate has the bits. */
    public static final int END = 0xd0;

    /** Conditions of JMP and JMP32, unsigned. */
    public static final int JA = 0x00;
    public static final int JEQ = 0x10;
    public static final int JGT = 0x20;
    public static final int JGE = 0x30;
    public static final int JNE = 0x50;
    public static final int JLT = 0xa0;
    public static final int JLE = 0xb0;

    /** Helpers. */
    public static final int HELPER_MAP_LOOKUP = 1;
    public static final int HELPER_MONOTONIC_NS = 5;
    public static final int HELPER_PROCESSOR_ID = 8;
    public static final int HELPER_LOAD_BYTES = 26;
    public static final int HELPER_ADJUST_HEAD = 44;
    public static final int HELPER_REDIRECT_MAP = 51;
    public static final int HELPER_TAI_NS = 208;

    public static final int R0 = 0;
    public static final int R1 = 1;
    public static final int R2 = 2;
    public static final int R3 = 3;
    public static final int R4 = 4;
    public static final int R5 = 5;
    public static final int R6 = 6;
    public static final int R7 = 7;
    public static final int R8 = 8;
    public static final int R9 = 9;
    /** Behind the program's 512 octets of stack. */
    public static final int FRAME = 10;

    private static final int CALL = 0x80;
    private static final int EXIT = 0x90;
    /** Of the source register: the immediate is the descriptor of a map. */
    private static final int PSEUDO_MAP = 1;
    /** The same, of its first value. */
    private static final int PSEUDO_MAP_VALUE = 2;
    private static final int NONE = -1;
    private static final ByteOrder ORDER = ByteOrder.nativeOrder();

    private final IntArrayList heads = new IntArrayList();
    private final IntArrayList immediates = new IntArrayList();
    /** Of each instruction the label that it jumps to, or {@link #NONE}. */
    private final IntArrayList targets = new IntArrayList();
    /** Of each label the instruction behind it. */
    private final IntArrayList places = new IntArrayList();

    /** Adds one instruction. */
    public EbpfAssembler add(final int code, final int destination, final int source, final int offset, final int immediate) {
        return add(code, destination, source, offset, immediate, NONE);
    }

    private EbpfAssembler add(
        final int code, final int destination, final int source, final int offset, final int immediate, final int target) {
        heads.addInt(code | destination << 8 | source << 12 | offset << Short.SIZE);
        immediates.addInt(immediate);
        targets.addInt(target);
        return this;
    }

    /** Computes in 64 bits with a constant, whose sign is extended. */
    public EbpfAssembler compute(final int operation, final int register, final int immediate) {
        return add(ALU64 + K + operation, register, 0, 0, immediate);
    }

    /** Computes in 64 bits with a register. */
    public EbpfAssembler computeBy(final int operation, final int register, final int source) {
        return add(ALU64 + X + operation, register, source, 0, 0);
    }

    /** Loads memory at a register's address. */
    public EbpfAssembler load(final int size, final int register, final int base, final int offset) {
        return add(LDX + MEM + size, register, base, offset, 0);
    }

    /** Stores a register at a register's address. */
    public EbpfAssembler store(final int size, final int base, final int offset, final int register) {
        return add(STX + MEM + size, base, register, offset, 0);
    }

    /** Loads the address of a map, for a helper. */
    public EbpfAssembler loadMap(final int register, final int mapFd) {
        return add(LD + DW, register, PSEUDO_MAP, 0, mapFd).add(0, 0, 0, 0, 0);
    }

    /** Loads the address of the first value of an array. */
    public EbpfAssembler loadMapValue(final int register, final int mapFd) {
        return add(LD + DW, register, PSEUDO_MAP_VALUE, 0, mapFd).add(0, 0, 0, 0, 0);
    }

    /** Calls a helper: it takes R1 to R5, which are lost, and returns R0. */
    public EbpfAssembler call(final int helper) {
        return add(JMP + CALL, 0, 0, 0, helper);
    }

    /** Returns R0. */
    public EbpfAssembler exit() {
        return add(JMP + EXIT, 0, 0, 0, 0);
    }

    /** {@return a new label, which has no place yet} */
    public int label() {
        places.addInt(NONE);
        return places.size() - 1;
    }

    /** Puts a label before the next instruction. */
    public EbpfAssembler place(final int label) {
        places.setInt(label, heads.size());
        return this;
    }

    /** Goes to a label. */
    public EbpfAssembler jump(final int label) {
        return add(JMP + JA, 0, 0, 0, 0, label);
    }

    /** Goes to a label if a register compares so with a constant; the code is a class and a condition. */
    public EbpfAssembler jumpIf(final int code, final int register, final int immediate, final int label) {
        return add(code + K, register, 0, 0, immediate, label);
    }

    /** The same with two registers. */
    public EbpfAssembler jumpIfBy(final int code, final int register, final int source, final int label) {
        return add(code + X, register, source, 0, 0, label);
    }

    public int instructionCount() {
        return heads.size();
    }

    /** Writes the program; throws an {@link IllegalStateException} if a jump is too far, or a label has no place. */
    public void encode(final MutableDirectBuffer buffer, final int offset) {
        for (int i = 0; i < instructionCount(); i++) {
            final int at = offset + i * INSTRUCTION_LENGTH_BYTES;
            buffer.putInt(at, heads.getInt(i) | skipCount(i) << Short.SIZE, ORDER);
            buffer.putInt(at + Integer.BYTES, immediates.getInt(i), ORDER);
        }
    }

    private int skipCount(final int index) {
        if (targets.getInt(index) == NONE) {
            return 0;
        }
        final int place = places.getInt(targets.getInt(index));
        final int count = place - index - 1;
        if (place == NONE || count != (short) count) {
            throw new IllegalStateException("instruction " + index + " cannot jump to " + place);
        }
        return count;
    }
}
