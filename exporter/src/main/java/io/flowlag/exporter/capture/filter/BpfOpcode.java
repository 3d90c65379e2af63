package io.flowlag.exporter.capture.filter;

/**
 * The instruction codes of the classic Berkeley Packet Filter (McCanne and Jacobson, "The BSD Packet Filter", 1993; MOD and XOR
 * came later). A code is the sum of a class and what the class needs. Constants, for any thread.
 */
final class BpfOpcode {
    static final int LD = 0x00;
    static final int LDX = 0x01;
    static final int ST = 0x02;
    static final int STX = 0x03;
    static final int ALU = 0x04;
    static final int JMP = 0x05;
    static final int RET = 0x06;
    static final int MISC = 0x07;
    static final int CLASS_MASK = 0x07;

    static final int W = 0x00;
    static final int H = 0x08;
    static final int B = 0x10;

    static final int IMM = 0x00;
    static final int ABS = 0x20;
    static final int IND = 0x40;
    static final int MEM = 0x60;
    static final int LEN = 0x80;
    static final int MSH = 0xa0;
    static final int MODE_MASK = 0xe0;

    static final int K = 0x00;
    static final int X = 0x08;
    static final int A = 0x10;

    static final int ADD = 0x00;
    static final int SUB = 0x10;
    static final int MUL = 0x20;
    static final int DIV = 0x30;
    static final int OR = 0x40;
    static final int AND = 0x50;
    static final int LSH = 0x60;
    static final int RSH = 0x70;
    static final int NEG = 0x80;
    static final int MOD = 0x90;
    static final int XOR = 0xa0;

    static final int JA = 0x00;
    static final int JEQ = 0x10;
    static final int JGT = 0x20;
    static final int JGE = 0x30;
    static final int JSET = 0x40;

    static final int TAX = 0x00;
    static final int TXA = 0x80;

    /** Words of scratch memory that a program has. */
    static final int MEMORY_WORDS = 16;

    private BpfOpcode() {
    }
}
