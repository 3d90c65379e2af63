package io.flowlag.exporter.capture.filter;

import java.util.Arrays;

import static io.flowlag.exporter.capture.filter.BpfOpcode.*;

/**
 * Decides whether a program is valid: it ends, stays inside its memory, reads only memory that it wrote before, divides by no
 * constant zero and uses only existing instructions. The rules are the kernel's, for programs of any length. Stateless; safe
 * from any thread.
 */
public final class BpfVerifier {
    private static final int WORD_BITS = 32;
    private static final int ALL_WORDS = (1 << MEMORY_WORDS) - 1;

    private BpfVerifier() {
    }

    /** Checks every instruction. Returns null if the program is valid, else the reason. */
    public static String refusal(final BpfProgram program) {
        final int count = program.instructionCount();
        if (count == 0 || (program.code(count - 1) & CLASS_MASK) != RET) {
            return "it does not end in a return";
        }
        for (int i = 0; i < count; i++) {
            final String reason = refusalOf(program, i, count - i - 1);
            if (reason != null) {
                return "instruction " + i + " " + reason;
            }
        }
        return refusalOfReads(program);
    }

    /**
     * Tracks, over all paths of the program at once, which memory words have been written. Jumps go forward only, so one pass
     * suffices.
     */
    private static String refusalOfReads(final BpfProgram program) {
        final int count = program.instructionCount();
        final int[] writtenBefore = new int[count];
        Arrays.fill(writtenBefore, ALL_WORDS);
        int written = 0;
        for (int i = 0; i < count; i++) {
            written &= writtenBefore[i];
            switch (program.code(i)) {
                case ST:
                case STX:
                    written |= 1 << program.operand(i);
                    break;
                case LD + MEM:
                case LDX + W + MEM:
                    if ((written & 1 << program.operand(i)) == 0) {
                        return "instruction " + i + " reads memory word " + program.operand(i) + ", which may not be written";
                    }
                    break;
                default:
                    written = afterJump(program, i, written, writtenBefore);
                    break;
            }
        }
        return null;
    }

    private static int afterJump(
        final BpfProgram program, final int index, final int written, final int[] writtenBefore) {
        if ((program.code(index) & CLASS_MASK) == RET) {
            return ALL_WORDS;
        }
        if ((program.code(index) & CLASS_MASK) != JMP) {
            return written;
        }
        if (program.code(index) == JMP + JA) {
            writtenBefore[index + 1 + program.operand(index)] &= written;
        } else {
            writtenBefore[index + 1 + program.jumpTrue(index)] &= written;
            writtenBefore[index + 1 + program.jumpFalse(index)] &= written;
        }
        return ALL_WORDS;
    }

    private static String refusalOf(final BpfProgram program, final int index, final int instructionsBehind) {
        final int code = program.code(index);
        final int operand = program.operand(index);
        switch (code & CLASS_MASK) {
            case LD:
                return refusalOfLoad(code, operand);
            case LDX:
                return refusalOfIndexLoad(code, operand);
            case ST:
                return code == ST ? refusalOfMemory(operand) : unknown(code);
            case STX:
                return code == STX ? refusalOfMemory(operand) : unknown(code);
            case ALU:
                return refusalOfArithmetic(code, operand);
            case JMP:
                return refusalOfJump(program, index, instructionsBehind);
            case RET:
                return code == RET + K || code == RET + A ? null : unknown(code);
            default:
                return code == MISC + TAX || code == MISC + TXA ? null : unknown(code);
        }
    }

    private static String refusalOfLoad(final int code, final int operand) {
        switch (code) {
            case LD + W + ABS:
            case LD + H + ABS:
            case LD + B + ABS:
            case LD + W + IND:
            case LD + H + IND:
            case LD + B + IND:
            case LD + W + LEN:
            case LD + IMM:
                return null;
            case LD + MEM:
                return refusalOfMemory(operand);
            default:
                return unknown(code);
        }
    }

    private static String refusalOfIndexLoad(final int code, final int operand) {
        switch (code) {
            case LDX + W + IMM:
            case LDX + W + LEN:
            case LDX + B + MSH:
                return null;
            case LDX + W + MEM:
                return refusalOfMemory(operand);
            default:
                return unknown(code);
        }
    }

    private static String refusalOfMemory(final int operand) {
        return Integer.compareUnsigned(operand, MEMORY_WORDS) < 0 ? null :
            "uses memory word " + Integer.toUnsignedString(operand) + " of " + MEMORY_WORDS;
    }

    private static String refusalOfArithmetic(final int code, final int operand) {
        final boolean byConstant = (code & X) == 0;
        switch (code & ~X) {
            case ALU + ADD:
            case ALU + SUB:
            case ALU + MUL:
            case ALU + OR:
            case ALU + AND:
            case ALU + XOR:
                return null;
            case ALU + NEG:
                return byConstant ? null : unknown(code);
            case ALU + DIV:
            case ALU + MOD:
                return byConstant && operand == 0 ? "divides by zero" : null;
            case ALU + LSH:
            case ALU + RSH:
                return byConstant && Integer.compareUnsigned(operand, WORD_BITS) >= 0 ? "shifts by more than a word" : null;
            default:
                return unknown(code);
        }
    }

    private static String refusalOfJump(final BpfProgram program, final int index, final int instructionsBehind) {
        final int code = program.code(index);
        switch (code & ~X) {
            case JMP + JA:
                return code != JMP + JA ? unknown(code) : refusalOfSkip(program.operand(index), instructionsBehind);
            case JMP + JEQ:
            case JMP + JGT:
            case JMP + JGE:
            case JMP + JSET:
                return refusalOfSkip(Math.max(program.jumpTrue(index), program.jumpFalse(index)), instructionsBehind);
            default:
                return unknown(code);
        }
    }

    private static String refusalOfSkip(final int skipCount, final int instructionsBehind) {
        if (skipCount < 0) {
            return "jumps back";
        }
        return skipCount < instructionsBehind ? null : "jumps behind the end";
    }

    private static String unknown(final int code) {
        return "has the unknown code 0x" + Integer.toHexString(code);
    }
}
