package io.flowlag.exporter.capture.filter;

import io.flowlag.exporter.capture.CapturedPacket;
import io.flowlag.exporter.capture.PacketFilter;
import org.agrona.DirectBuffer;

import java.nio.ByteOrder;

import static io.flowlag.exporter.capture.filter.BpfOpcode.*;

/**
 * Runs a filter program in the process, with the same results as libpcap's {@code bpf_filter}. The program is verified once,
 * here. As in libpcap, a load beyond the captured octets and a division by zero refuse the packet. One thread may call it (it
 * has scratch memory); allocates at construction only.
 */
public final class BpfFilter implements PacketFilter {
    private static final int WORD_BITS = 32;

    private final int[] codes;
    private final int[] jumpsTrue;
    private final int[] jumpsFalse;
    private final int[] operands;
    private final int[] memory = new int[MEMORY_WORDS];

    /** A filter from a program that {@link BpfVerifier} accepts. */
    public BpfFilter(final BpfProgram program) {
        final String refusal = BpfVerifier.refusal(program);
        if (refusal != null) {
            throw new IllegalArgumentException("filter program cannot be run: " + refusal);
        }
        final int count = program.instructionCount();
        codes = new int[count];
        jumpsTrue = new int[count];
        jumpsFalse = new int[count];
        operands = new int[count];
        for (int i = 0; i < count; i++) {
            codes[i] = program.code(i);
            jumpsTrue[i] = program.jumpTrue(i);
            jumpsFalse[i] = program.jumpFalse(i);
            operands[i] = program.operand(i);
        }
    }

    @Override
    public boolean matches(final CapturedPacket packet) {
        return run(packet.buffer(), packet.offset(), packet.capturedLengthBytes(), packet.wireLengthBytes()) != 0;
    }

    /**
     * Runs the program on one packet.
     *
     * @param buffer              holds the captured octets.
     * @param offset              of the first octet.
     * @param capturedLengthBytes how many octets were captured.
     * @param wireLengthBytes     how many the packet had on the wire.
     * @return what the program returned: 0 for an unwanted packet, else how many octets are wanted (unsigned).
     */
    public int run(final DirectBuffer buffer, final int offset, final int capturedLengthBytes, final int wireLengthBytes) {
        int a = 0;
        int x = 0;
        int at = 0;
        while (true) {
            final int code = codes[at];
            final int k = operands[at];
            switch (code & CLASS_MASK) {
                case LD:
                    if (code == LD + IMM) {
                        a = k;
                    } else if (code == LD + MEM) {
                        a = memory[k];
                    } else if (code == LD + W + LEN) {
                        a = wireLengthBytes;
                    } else {
                        final long index = (k & 0xffff_ffffL) + ((code & IND) != 0 ? x & 0xffff_ffffL : 0);
                        if (index + widthBytes(code) > capturedLengthBytes) {
                            return 0;
                        }
                        a = load(buffer, offset + (int) index, code);
                    }
                    break;
                case LDX:
                    if (code == LDX + B + MSH) {
                        if ((k & 0xffff_ffffL) >= capturedLengthBytes) {
                            return 0;
                        }
                        x = (buffer.getByte(offset + k) & 0xf) << 2;
                    } else {
                        x = code == LDX + W + IMM ? k : code == LDX + W + MEM ? memory[k] : wireLengthBytes;
                    }
                    break;
                case ST:
                    memory[k] = a;
                    break;
                case STX:
                    memory[k] = x;
                    break;
                case ALU:
                    final int right = (code & X) != 0 ? x : k;
                    if (right == 0 && isDivision(code)) {
                        return 0;
                    }
                    a = compute(code, a, right);
                    break;
                case JMP:
                    at += code == JMP + JA ? k : holds(code, a, (code & X) != 0 ? x : k) ? jumpsTrue[at] : jumpsFalse[at];
                    break;
                case RET:
                    return code == RET + A ? a : k;
                default:
                    if (code == MISC + TAX) {
                        x = a;
                    } else {
                        a = x;
                    }
                    break;
            }
            at++;
        }
    }

    private static int widthBytes(final int code) {
        return (code & B) != 0 ? 1 : (code & H) != 0 ? 2 : 4;
    }

    private static int load(final DirectBuffer buffer, final int index, final int code) {
        if ((code & B) != 0) {
            return buffer.getByte(index) & 0xff;
        }
        return (code & H) != 0 ?
            buffer.getShort(index, ByteOrder.BIG_ENDIAN) & 0xffff : buffer.getInt(index, ByteOrder.BIG_ENDIAN);
    }

    private static boolean isDivision(final int code) {
        final int operation = code & ~X;
        return operation == ALU + DIV || operation == ALU + MOD;
    }

    private static int compute(final int code, final int a, final int right) {
        switch (code & ~X) {
            case ALU + ADD:
                return a + right;
            case ALU + SUB:
                return a - right;
            case ALU + MUL:
                return a * right;
            case ALU + DIV:
                return Integer.divideUnsigned(a, right);
            case ALU + MOD:
                return Integer.remainderUnsigned(a, right);
            case ALU + OR:
                return a | right;
            case ALU + AND:
                return a & right;
            case ALU + XOR:
                return a ^ right;
            case ALU + LSH:
                return Integer.compareUnsigned(right, WORD_BITS) < 0 ? a << right : 0;
            case ALU + RSH:
                return Integer.compareUnsigned(right, WORD_BITS) < 0 ? a >>> right : 0;
            default:
                return -a;
        }
    }

    private static boolean holds(final int code, final int a, final int right) {
        switch (code & ~X) {
            case JMP + JEQ:
                return a == right;
            case JMP + JGT:
                return Integer.compareUnsigned(a, right) > 0;
            case JMP + JGE:
                return Integer.compareUnsigned(a, right) >= 0;
            default:
                return (a & right) != 0;
        }
    }
}
