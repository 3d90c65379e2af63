package io.flowlag.common.hash;

import org.agrona.DirectBuffer;

/**
 * Two hashes of {@link SipHash} under one key at once. Each step of a hash depends on the one before, so one hash leaves half of
 * a processor's units idle. Two interleaved hashes take little longer than the longer one. One thread. Allocates nothing after
 * construction.
 */
public final class SipHashPair {
    private final long initial0;
    private final long initial1;
    private final long initial2;
    private final long initial3;
    private long shortHash;

    /**
     * A pair of hashes.
     *
     * @param hash with the key.
     */
    public SipHashPair(final SipHash hash) {
        initial0 = hash.initial0;
        initial1 = hash.initial1;
        initial2 = hash.initial2;
        initial3 = hash.initial3;
    }

    /**
     * Hashes two words and the octets after them, some bits of which are masked to 0, and two other words. Equals {@link
     * SipHash#hash} of the former, and of 16 octets, without copies.
     *
     * @param first       the first eight octets as a little-endian number.
     * @param buffer      holds the octets after them.
     * @param offset      of the first.
     * @param lengthBytes how many, at least 8.
     * @param maskedBytes offset among the octets, a multiple of 8, of a word that is masked.
     * @param mask        0 where a bit of that word, little-endian, counts as 0.
     * @param shortFirst  the first eight octets of the other hash as a little-endian number.
     * @return the first hash; {@link #shortHash} has the other.
     */
    public long hash(
        final long first, final long second, final DirectBuffer buffer, final int offset, final int lengthBytes,
        final int maskedBytes, final long mask, final long shortFirst, final long shortSecond) {
        long v0 = initial0;
        long v1 = initial1;
        long v2 = initial2;
        long v3 = initial3;
        long w0 = v0;
        long w1 = v1;
        long w2 = v2;
        long w3 = v3;
        final int wholeWordsEnd = lengthBytes & ~7;
        for (int i = 0; i <= wholeWordsEnd + 2 * Long.BYTES; i += Long.BYTES) {
            final int at = i - 2 * Long.BYTES;
            final long word = at < 0 ? i == 0 ? first : second :
                SipHash.word(buffer, offset, lengthBytes, SipHash.HEAD_BYTES, at, wholeWordsEnd, maskedBytes, mask);
            final long shortWord = i == 0 ? shortFirst : at < 0 ? shortSecond : 2L * Long.BYTES << 56;
            if (at <= 0) {
                v3 ^= word;
                w3 ^= shortWord;
                for (int round = 0; round < SipHash.COMPRESSION_ROUNDS; round++) {
                    v0 += v1;
                    w0 += w1;
                    v2 += v3;
                    w2 += w3;
                    v1 = Long.rotateLeft(v1, 13) ^ v0;
                    w1 = Long.rotateLeft(w1, 13) ^ w0;
                    v3 = Long.rotateLeft(v3, 16) ^ v2;
                    w3 = Long.rotateLeft(w3, 16) ^ w2;
                    v0 = Long.rotateLeft(v0, 32) + v3;
                    w0 = Long.rotateLeft(w0, 32) + w3;
                    v2 += v1;
                    w2 += w1;
                    v3 = Long.rotateLeft(v3, 21) ^ v0;
                    w3 = Long.rotateLeft(w3, 21) ^ w0;
                    v1 = Long.rotateLeft(v1, 17) ^ v2;
                    w1 = Long.rotateLeft(w1, 17) ^ w2;
                    v2 = Long.rotateLeft(v2, 32);
                    w2 = Long.rotateLeft(w2, 32);
                }
                v0 ^= word;
                w0 ^= shortWord;
            } else {
                v3 ^= word;
                for (int round = 0; round < SipHash.COMPRESSION_ROUNDS; round++) {
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
        }
        v2 ^= 0xFF;
        w2 ^= 0xFF;
        for (int round = 0; round < SipHash.FINALIZATION_ROUNDS; round++) {
            v0 += v1;
            w0 += w1;
            v2 += v3;
            w2 += w3;
            v1 = Long.rotateLeft(v1, 13) ^ v0;
            w1 = Long.rotateLeft(w1, 13) ^ w0;
            v3 = Long.rotateLeft(v3, 16) ^ v2;
            w3 = Long.rotateLeft(w3, 16) ^ w2;
            v0 = Long.rotateLeft(v0, 32) + v3;
            w0 = Long.rotateLeft(w0, 32) + w3;
            v2 += v1;
            w2 += w1;
            v3 = Long.rotateLeft(v3, 21) ^ v0;
            w3 = Long.rotateLeft(w3, 21) ^ w0;
            v1 = Long.rotateLeft(v1, 17) ^ v2;
            w1 = Long.rotateLeft(w1, 17) ^ w2;
            v2 = Long.rotateLeft(v2, 32);
            w2 = Long.rotateLeft(w2, 32);
        }
        shortHash = w0 ^ w1 ^ w2 ^ w3;
        return v0 ^ v1 ^ v2 ^ v3;
    }

    /** {@return the hash of the two other words} */
    public long shortHash() {
        return shortHash;
    }
}
