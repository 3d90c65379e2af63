package io.flowlag.exporter.capture.filter;

import io.flowlag.exporter.capture.CaptureException;
import io.flowlag.exporter.capture.CaptureException.Kind;
import io.flowlag.exporter.capture.bpf.EbpfAssembler;

import java.util.Arrays;

import static io.flowlag.exporter.capture.bpf.EbpfAssembler.*;

/**
 * Translates a filter program to eBPF, with the results of {@link BpfFilter}. The kernel does the same with a filter that it is
 * given; here it becomes a part of a longer program. The accumulator is R0, the index R7; R8 is lost, R6 has the packet's
 * context, and the scratch memory is the 64 octets of stack below the frame. Stateless; safe from any thread; allocates.
 */
public final class EbpfTranslator {
    /** Octets of stack that belong to the filter. */
    public static final int STACK_LENGTH_BYTES = BpfOpcode.MEMORY_WORDS * Integer.BYTES;

    private static final int WORD_BITS = 32;
    /** Of the context, {@code struct __sk_buff}. */
    private static final int CONTEXT_LENGTH = 0;
    private static final int ANCILLARY_BASE = -0x1000;

    private final BpfProgram program;
    private final EbpfAssembler to;
    private final int end;
    private final int[] labels;
    /** Instructions that no other one leads to are left out: the kernel's verifier refuses them. */
    private final boolean[] isReached;
    private boolean isEndReached;

    private EbpfTranslator(final BpfProgram program, final EbpfAssembler to, final int end) {
        this.program = program;
        this.to = to;
        this.end = end;
        labels = new int[program.instructionCount()];
        Arrays.setAll(labels, (index) -> to.label());
        isReached = new boolean[program.instructionCount()];
        isReached[0] = true;
    }

    /**
     * Appends a program that {@link BpfVerifier} accepts. It goes to a label with the number of wanted octets in R0, not 0, or
     * returns 0.
     *
     * @return whether anything leads to the label: else no packet is wanted.
     * @throws CaptureException of kind {@link Kind#UNAVAILABLE} if the program asks for what eBPF does not have.
     */
    public static boolean append(final BpfProgram program, final EbpfAssembler to, final int end) {
        return new EbpfTranslator(program, to, end).append();
    }

    private boolean append() {
        to.compute(MOV, R0, 0).compute(MOV, R7, 0);
        for (int i = 0; i < program.instructionCount(); i++) {
            if (isReached[i]) {
                to.place(labels[i]);
                append(i, program.code(i), program.operand(i));
            }
        }
        return isEndReached;
    }

    private void append(final int index, final int code, final int operand) {
        switch (code & BpfOpcode.CLASS_MASK) {
            case BpfOpcode.LD -> load(code, operand);
            case BpfOpcode.LDX -> loadIndex(code, operand);
            case BpfOpcode.ST -> to.store(W, FRAME, word(operand), R0);
            case BpfOpcode.STX -> to.store(W, FRAME, word(operand), R7);
            case BpfOpcode.ALU -> compute(code, operand);
            case BpfOpcode.JMP -> jump(index, code, operand);
            case BpfOpcode.RET -> end(code, operand);
            default -> to.add(ALU + MOV + X, code == BpfOpcode.MISC + BpfOpcode.TAX ? R7 : R0,
                code == BpfOpcode.MISC + BpfOpcode.TAX ? R0 : R7, 0, 0);
        }
        final int operation = code & BpfOpcode.CLASS_MASK;
        if (operation != BpfOpcode.JMP && operation != BpfOpcode.RET) {
            isReached[index + 1] = true;
        }
    }

    private void load(final int code, final int operand) {
        switch (code & BpfOpcode.MODE_MASK) {
            case BpfOpcode.IMM -> to.add(ALU + MOV + K, R0, 0, 0, operand);
            case BpfOpcode.MEM -> to.load(W, R0, FRAME, word(operand));
            case BpfOpcode.LEN -> to.load(W, R0, R6, CONTEXT_LENGTH);
            case BpfOpcode.IND -> to.add(code, 0, R7, 0, operand);
            default -> {
                if (operand < 0 && operand >= ANCILLARY_BASE) {
                    loadAncillary(operand - ANCILLARY_BASE);
                } else {
                    to.add(code, 0, 0, 0, operand);
                }
            }
        }
    }

    /** Loads what the kernel knows of a packet: offsets by {@code SKF_AD_OFF}, and in the context. */
    private void loadAncillary(final int what) {
        switch (what) {
            case 0 -> to.load(W, R0, R6, 16).add(ALU + END + X, R0, 0, 0, Short.SIZE);   // protocol
            case 4 -> to.load(W, R0, R6, 4);   // packet type
            case 8 -> to.load(W, R0, R6, 40);  // interface
            case 20 -> to.load(W, R0, R6, 8);  // mark
            case 24 -> to.load(W, R0, R6, 12); // queue
            case 44 -> to.load(W, R0, R6, 24); // VLAN TCI
            case 48 -> to.load(W, R0, R6, 20); // VLAN tag present
            case 60 -> to.load(W, R0, R6, 28).add(ALU + END + X, R0, 0, 0, Short.SIZE);  // VLAN TPID
            default -> throw new CaptureException(Kind.UNAVAILABLE,
                "eBPF: the filter asks for the kernel's number " + what + " of a packet");
        }
    }

    private void loadIndex(final int code, final int operand) {
        if (code == BpfOpcode.LDX + BpfOpcode.B + BpfOpcode.MSH) {
            to.computeBy(MOV, R8, R0)
                .add(LD + ABS + B, 0, 0, 0, operand)
                .compute(AND, R0, 0xf).compute(LSH, R0, 2)
                .computeBy(MOV, R7, R0).computeBy(MOV, R0, R8);
        } else if (code == BpfOpcode.LDX + BpfOpcode.W + BpfOpcode.IMM) {
            to.add(ALU + MOV + K, R7, 0, 0, operand);
        } else if (code == BpfOpcode.LDX + BpfOpcode.W + BpfOpcode.MEM) {
            to.load(W, R7, FRAME, word(operand));
        } else {
            to.load(W, R7, R6, CONTEXT_LENGTH);
        }
    }

    /** The codes are those of eBPF in 32 bits, which differs for a divisor of 0 and for shifts by more than a word. */
    private void compute(final int code, final int operand) {
        final boolean byIndex = (code & BpfOpcode.X) != 0;
        final int operation = code & ~BpfOpcode.X;
        final int next = to.label();
        if (byIndex && (operation == BpfOpcode.ALU + BpfOpcode.DIV || operation == BpfOpcode.ALU + BpfOpcode.MOD)) {
            final int divides = to.label();
            to.jumpIf(JMP32 + JNE, R7, 0, divides).compute(MOV, R0, 0).exit().place(divides);
        } else if (byIndex && (operation == BpfOpcode.ALU + BpfOpcode.LSH || operation == BpfOpcode.ALU + BpfOpcode.RSH)) {
            final int shifts = to.label();
            to.jumpIf(JMP32 + JLT, R7, WORD_BITS, shifts).compute(MOV, R0, 0).jump(next).place(shifts);
        }
        final boolean isUnary = operation == BpfOpcode.ALU + BpfOpcode.NEG;
        to.add(code, R0, byIndex ? R7 : 0, 0, byIndex || isUnary ? 0 : operand).place(next);
    }

    private void jump(final int index, final int code, final int operand) {
        if (code == BpfOpcode.JMP + BpfOpcode.JA) {
            to.jump(reach(index, operand));
            return;
        }
        final int ifTrue = reach(index, program.jumpTrue(index));
        final int ifFalse = reach(index, program.jumpFalse(index));
        final int in32 = code - BpfOpcode.JMP + JMP32;
        if ((code & BpfOpcode.X) != 0) {
            to.jumpIfBy(in32 - X, R0, R7, ifTrue);
        } else {
            to.jumpIf(in32, R0, operand, ifTrue);
        }
        if (program.jumpFalse(index) != 0) {
            to.jump(ifFalse);
        }
    }

    private int reach(final int index, final int skipCount) {
        isReached[index + 1 + skipCount] = true;
        return labels[index + 1 + skipCount];
    }

    private void end(final int code, final int operand) {
        isEndReached |= code == BpfOpcode.RET + BpfOpcode.A || operand != 0;
        if (code == BpfOpcode.RET + BpfOpcode.A) {
            to.jumpIf(JMP32 + JNE, R0, 0, end).compute(MOV, R0, 0).exit();
        } else if (operand == 0) {
            to.compute(MOV, R0, 0).exit();
        } else {
            to.add(ALU + MOV + K, R0, 0, 0, operand).jump(end);
        }
    }

    private static int word(final int index) {
        return (index - BpfOpcode.MEMORY_WORDS) * Integer.BYTES;
    }
}
