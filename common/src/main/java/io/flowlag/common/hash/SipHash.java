package io.flowlag.common.hash;

import org.agrona.DirectBuffer;

import java.nio.ByteOrder;

/**
 * SipHash-2-4, the keyed 64-bit hash of Aumasson and Bernstein, "SipHash: a fast short-input PRF" (INDOCRYPT 2012): two rounds a
 * word, four at the end. Without the key, an attacker can neither construct a collision nor avoid being sampled. It is the
 * variant whose security margin its authors recommend and for which they published vectors.
 * <p>
 * Words are little-endian whatever the machine is, so that equal octets and keys give equal hashes everywhere. Immutable; safe
 * from any thread. Allocates nothing after construction.
 */
public final class SipHash {
    /** Length of the key in octets. */
    public static final int KEY_LENGTH_BYTES = 16;

    /** Octets of two words before the others. */
    static final int HEAD_BYTES = 2 * Long.BYTES;
    static final int COMPRESSION_ROUNDS = 2;
    static final int FINALIZATION_ROUNDS = 4;
    private static final int NOTHING_MASKED = -1;

    final long initial0;
    final long initial1;
    final long initial2;
    final long initial3;

    /**
     * A hash function.
     *
     * @param key0 the first eight octets of the key as a little-endian number.
     * @param key1 the last eight.
     */
    public SipHash(final long key0, final long key1) {
        initial0 = key0 ^ 0x736f6d6570736575L;
        initial1 = key1 ^ 0x646f72616e646f6dL;
        initial2 = key0 ^ 0x6c7967656e657261L;
        initial3 = key1 ^ 0x7465646279746573L;
    }

    /**
     * A hash function from a key in a buffer.
     *
     * @param buffer holds the key.
     * @param offset of its {@link #KEY_LENGTH_BYTES} octets.
     * @return the hash function; it keeps no hold of the buffer.
     */
    public static SipHash ofKey(final DirectBuffer buffer, final int offset) {
        return new SipHash(
            buffer.getLong(offset, ByteOrder.LITTLE_ENDIAN), buffer.getLong(offset + 8, ByteOrder.LITTLE_ENDIAN));
    }

    /**
     * Hashes octets where they lie.
     *
     * @param buffer      holds the octets.
     * @param offset      of the first.
     * @param lengthBytes how many, 0 or more.
     */
    public long hash(final DirectBuffer buffer, final int offset, final int lengthBytes) {
        return hash(0, 0, 0, buffer, offset, lengthBytes, NOTHING_MASKED, 0);
    }

    /**
     * Hashes two words and the octets after them, some bits of which are masked to 0. Equals {@link #hash} of the concatenation,
     * without a copy.
     *
     * @param first       the first eight octets as a little-endian number.
     * @param buffer      holds the octets after them.
     * @param offset      of the first.
     * @param lengthBytes how many, at least 8.
     * @param maskedBytes offset among the octets, a multiple of 8, of a word that is masked.
     * @param mask        0 where a bit of that word, little-endian, counts as 0.
     */
    public long hash(
        final long first, final long second, final DirectBuffer buffer, final int offset, final int lengthBytes,
        final int maskedBytes, final long mask) {
        return hash(HEAD_BYTES, first, second, buffer, offset, lengthBytes, maskedBytes, mask);
    }

    /** Serves both hashes: the two words are present if the length exceeds that of the octets. */
    private long hash(
        final int headBytes, final long first, final long second, final DirectBuffer buffer, final int offset,
        final int lengthBytes, final int maskedBytes, final long mask) {
        long v0 = initial0;
        long v1 = initial1;
        long v2 = initial2;
        long v3 = initial3;
        final int wholeWordsEnd = lengthBytes & ~7;
        for (int at = -headBytes; at <= wholeWordsEnd; at += Long.BYTES) {
            final long word = at < 0 ? at == -Long.BYTES ? second : first :
                word(buffer, offset, lengthBytes, headBytes, at, wholeWordsEnd, maskedBytes, mask);
            v3 ^= word;
            for (int round = 0; round < COMPRESSION_ROUNDS; round++) {
                v0 += v1;
                v2 += v3;
                v1 = Long.rotateLeft(v1, 13) ^ v0;
                v3 = Long.rotateLeft(v3, 16) ^ v2;
                v0 = Long.rotateLeft(v0, 32) + v3;
                v2 += v1;
                v3 = Long.rotateLeft(v3, 21) ^ v0;
                v1 = Long.rotateLeft(v1, 17) ^ v2;
                v2 = Long.rotateLeft(v2, 32);
            }
            v0 ^= word;
        }
        v2 ^= 0xFF;
        for (int round = 0; round < FINALIZATION_ROUNDS; round++) {
            v0 += v1;
            v2 += v3;
            v1 = Long.rotateLeft(v1, 13) ^ v0;
            v3 = Long.rotateLeft(v3, 16) ^ v2;
            v0 = Long.rotateLeft(v0, 32) + v3;
            v2 += v1;
            v3 = Long.rotateLeft(v3, 21) ^ v0;
            v1 = Long.rotateLeft(v1, 17) ^ v2;
            v2 = Long.rotateLeft(v2, 32);
        }
        return v0 ^ v1 ^ v2 ^ v3;
    }

    /** A word of the octets, masked; the last one carries the total length, including the octets before. */
    static long word(
        final DirectBuffer buffer, final int offset, final int lengthBytes, final int headBytes, final int at,
        final int wholeWordsEnd, final int maskedBytes, final long mask) {
        final long octets = at < wholeWordsEnd ?
            buffer.getLong(offset + at, ByteOrder.LITTLE_ENDIAN) : rest(buffer, offset + at, lengthBytes);
        final long counted = at == maskedBytes ? octets & mask : octets;
        return at < wholeWordsEnd ? counted : counted | (long)(lengthBytes + headBytes) << 56;
    }

    /** The octets after the last whole word. */
    private static long rest(final DirectBuffer buffer, final int offset, final int lengthBytes) {
        final int restBytes = lengthBytes & 7;
        if (restBytes == 0) {
            return 0;
        }
        if (lengthBytes >= Long.BYTES) {
            // The preceding octets are readable, so one word holds all of the rest in its high part.
            return buffer.getLong(offset + restBytes - Long.BYTES, ByteOrder.LITTLE_ENDIAN) >>> 8 * (Long.BYTES - restBytes);
        }
        long octets = 0;
        for (int i = 0; i < restBytes; i++) {
            octets |= (buffer.getByte(offset + i) & 0xFFL) << 8 * i;
        }
        return octets;
    }
}
