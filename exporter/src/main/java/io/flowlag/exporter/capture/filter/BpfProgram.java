package io.flowlag.exporter.capture.filter;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Locale;

/**
 * A filter program: a list of instructions, not necessarily valid ({@link BpfVerifier} says). Immutable; safe from any thread;
 * allocates at construction. Owns the layout of an instruction, which the kernel and libpcap share:
 * <pre>
 *   0  code  2
 *   2  jt    1   how many instructions to skip when a condition holds
 *   3  jf    1   and when it does not
 *   4  k     4   operand
 * </pre>
 * in the byte order of the machine.
 */
public final class BpfProgram {
    public static final int INSTRUCTION_LENGTH_BYTES = 8;
    /** The longest program that the Linux kernel takes. */
    public static final int MAX_KERNEL_INSTRUCTIONS = 4096;

    private static final int CODE_OFFSET = 0;
    private static final int JUMP_TRUE_OFFSET = CODE_OFFSET + 2;
    private static final int JUMP_FALSE_OFFSET = JUMP_TRUE_OFFSET + 1;
    private static final int OPERAND_OFFSET = JUMP_FALSE_OFFSET + 1;
    private static final ByteOrder ORDER = ByteOrder.nativeOrder();

    /** The kernel's range for loads of packet metadata ({@code SKF_AD_OFF}). */
    private static final int ANCILLARY_BASE = -0x1000;
    private static final int ANCILLARY_PACKET_TYPE = ANCILLARY_BASE + 4;
    private static final int PACKET_TYPE_OUTGOING = 4;

    /** In this order: code, jump if true, jump if false, operand. */
    private static final int FIELDS = 4;
    private final int[] fields;

    private BpfProgram(final int[] fields) {
        this.fields = fields;
    }

    /** A program from four numbers for each instruction: code, jump if true, jump if false, operand. */
    public static BpfProgram of(final int... fields) {
        if (fields.length % FIELDS != 0) {
            throw new IllegalArgumentException("fields.length=" + fields.length + " is not a multiple of " + FIELDS);
        }
        return new BpfProgram(fields.clone());
    }

    /** A program from its encoding; it keeps nothing of the buffer. */
    public static BpfProgram decode(final DirectBuffer buffer, final int offset, final int instructionCount) {
        final int[] fields = new int[instructionCount * FIELDS];
        for (int i = 0; i < instructionCount; i++) {
            final int at = offset + i * INSTRUCTION_LENGTH_BYTES;
            fields[i * FIELDS] = buffer.getShort(at + CODE_OFFSET, ORDER) & 0xffff;
            fields[i * FIELDS + 1] = buffer.getByte(at + JUMP_TRUE_OFFSET) & 0xff;
            fields[i * FIELDS + 2] = buffer.getByte(at + JUMP_FALSE_OFFSET) & 0xff;
            fields[i * FIELDS + 3] = buffer.getInt(at + OPERAND_OFFSET, ORDER);
        }
        return new BpfProgram(fields);
    }

    /** {@return whether it loads packet metadata, which only the kernel has} */
    public boolean hasAncillaryLoads() {
        boolean hasAny = false;
        for (int i = 0; i < instructionCount(); i++) {
            final boolean isLoad = (code(i) & (BpfOpcode.CLASS_MASK | BpfOpcode.MODE_MASK)) == BpfOpcode.LD + BpfOpcode.ABS;
            hasAny |= isLoad && operand(i) < 0 && operand(i) >= ANCILLARY_BASE;
        }
        return hasAny;
    }

    /** The program that accepts so many octets of every packet; with 0 it accepts no packet. */
    public static BpfProgram accept(final int snapLengthBytes) {
        return of(BpfOpcode.RET + BpfOpcode.K, 0, 0, snapLengthBytes);
    }

    /**
     * This program restricted to packets of one direction. Only the Linux kernel can run the result, because the direction is
     * not in the packet.
     *
     * @param outgoing whether packets that leave match, else those that arrive.
     */
    public BpfProgram forDirection(final boolean outgoing) {
        final int[] prefix = {
            BpfOpcode.LD + BpfOpcode.W + BpfOpcode.ABS, 0, 0, ANCILLARY_PACKET_TYPE,
            BpfOpcode.JMP + BpfOpcode.JEQ + BpfOpcode.K, outgoing ? 1 : 0, outgoing ? 0 : 1, PACKET_TYPE_OUTGOING,
            BpfOpcode.RET + BpfOpcode.K, 0, 0, 0,
            BpfOpcode.LD + BpfOpcode.W + BpfOpcode.IMM, 0, 0, 0,
        };
        final int[] joined = Arrays.copyOf(prefix, prefix.length + fields.length);
        System.arraycopy(fields, 0, joined, prefix.length, fields.length);
        return new BpfProgram(joined);
    }

    /** Writes the program in the layout of kernel and libpcap. Returns how many octets were written. */
    public int encode(final MutableDirectBuffer buffer, final int offset) {
        for (int i = 0; i < instructionCount(); i++) {
            final int at = offset + i * INSTRUCTION_LENGTH_BYTES;
            buffer.putShort(at + CODE_OFFSET, (short) code(i), ORDER);
            buffer.putByte(at + JUMP_TRUE_OFFSET, (byte) jumpTrue(i));
            buffer.putByte(at + JUMP_FALSE_OFFSET, (byte) jumpFalse(i));
            buffer.putInt(at + OPERAND_OFFSET, operand(i), ORDER);
        }
        return instructionCount() * INSTRUCTION_LENGTH_BYTES;
    }

    public int instructionCount() {
        return fields.length / FIELDS;
    }

    /** Code of an instruction. Returns 16 bits. */
    public int code(final int index) {
        return fields[index * FIELDS];
    }

    /** How many instructions to skip if the condition holds. Returns 8 bits. */
    public int jumpTrue(final int index) {
        return fields[index * FIELDS + 1];
    }

    /** How many instructions to skip if the condition does not hold. Returns 8 bits. */
    public int jumpFalse(final int index) {
        return fields[index * FIELDS + 2];
    }

    /** Operand of an instruction. Returns 32 bits, unsigned. */
    public int operand(final int index) {
        return fields[index * FIELDS + 3];
    }

    @Override
    public boolean equals(final Object other) {
        return other instanceof BpfProgram && Arrays.equals(fields, ((BpfProgram) other).fields);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(fields);
    }

    /** {@return the instructions as {@code tcpdump -dd} would print them, on one line} */
    @Override
    public String toString() {
        final StringBuilder text = new StringBuilder();
        for (int i = 0; i < instructionCount(); i++) {
            text.append(String.format(Locale.ROOT, "{0x%x,%d,%d,0x%08x}", code(i), jumpTrue(i), jumpFalse(i), operand(i)));
        }
        return text.toString();
    }
}
