package io.flowlag.exporter.lab;

import org.agrona.DirectBuffer;

import static java.nio.ByteOrder.BIG_ENDIAN;

/** The Internet checksum of RFC 1071. Has no state. */
final class InternetChecksum {
    private InternetChecksum() {
    }

    /** {@return the sum of 16-bit words, not folded yet, so that sums can be added} */
    static int sum(final DirectBuffer buffer, final int offset, final int lengthBytes) {
        int sum = 0;
        for (int i = offset; i < offset + lengthBytes; i += 2) {
            sum += buffer.getShort(i, BIG_ENDIAN) & 0xFFFF;
        }
        return sum;
    }

    /** {@return the checksum of a sum of 16-bit words} */
    static int checksum(final int sum) {
        int folded = sum;
        while (folded >>> 16 != 0) {
            folded = (folded & 0xFFFF) + (folded >>> 16);
        }
        return ~folded & 0xFFFF;
    }
}
