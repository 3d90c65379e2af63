package io.flowlag.exporter.fuzz;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** Changes inputs at random, reproducibly, without allocating. One thread. */
final class Mutator {
    private static final int MOST_CHANGES = 6;
    private static final int KINDS = 10;
    private static final int LARGEST_BLOCK = 64;
    private static final int HEADER_OCTETS = 96;
    private static final long[] INTERESTING = {
        0, 1, -1, 2, 4, 8, 15, 16, 20, 40, 64, 127, 128, 255, 256, 511, 512, 1023, 1024, 4095, 4096, 32_767, 32_768, 65_535,
        65_536, Integer.MAX_VALUE, Integer.MIN_VALUE, 0xFFFF_FFFFL, Long.MAX_VALUE, Long.MIN_VALUE};

    private final SplittableRandom random;
    private final List<byte[]> corpus;
    private final List<byte[]> dictionary;
    private final byte[] octets;
    private int length;

    /**
     * A mutator.
     *
     * @param corpus     to begin with, copied; longer inputs are cut.
     * @param dictionary words to write into inputs; may be empty.
     * @param maxLength  of an input, octets.
     * @param seed       of all chance.
     */
    Mutator(final List<byte[]> corpus, final List<byte[]> dictionary, final int maxLength, final long seed) {
        this.corpus = new ArrayList<>(corpus);
        this.dictionary = dictionary;
        this.octets = new byte[maxLength];
        this.random = new SplittableRandom(seed);
    }

    SplittableRandom random() {
        return random;
    }

    byte[] octets() {
        return octets;
    }

    int corpusSize() {
        return corpus.size();
    }

    void keep(final byte[] input) {
        corpus.add(input);
    }

    /** Makes the next input in {@link #octets()}; returns its length. */
    int next() {
        final byte[] seed = corpus.get(random.nextInt(corpus.size()));
        length = Math.min(seed.length, octets.length);
        System.arraycopy(seed, 0, octets, 0, length);
        for (int changes = random.nextInt(1, MOST_CHANGES + 1); changes > 0; changes--) {
            change();
        }
        return length;
    }

    private void change() {
        if (length == 0) {
            insert();
            return;
        }
        switch (random.nextInt(KINDS)) {
            case 0 -> octets[position()] ^= (byte)(1 << random.nextInt(8));
            case 1, 2 -> octets[position()] = (byte)random.nextInt();
            case 3 -> octets[position()] += (byte)random.nextInt(-4, 5);
            case 4 -> writeInteresting();
            case 5 -> length = random.nextInt(4) == 0 ? random.nextInt(length + 1) : length - random.nextInt(Math.min(length, 8));
            case 6 -> insert();
            case 7 -> remove();
            case 8 -> copyWithin();
            default -> splice();
        }
    }

    /** Any place, but more often one of the first octets, where headers are. */
    private int position() {
        return random.nextInt(random.nextBoolean() ? length : Math.min(length, HEADER_OCTETS));
    }

    private void writeInteresting() {
        if (!dictionary.isEmpty() && random.nextBoolean()) {
            final byte[] word = dictionary.get(random.nextInt(dictionary.size()));
            final int at = position();
            System.arraycopy(word, 0, octets, at, Math.min(word.length, length - at));
            return;
        }
        final long value = INTERESTING[random.nextInt(INTERESTING.length)];
        final int width = Math.min(1 << random.nextInt(4), length);
        final int at = Math.min(position(), length - width);
        final boolean isBigEndian = random.nextBoolean();
        for (int i = 0; i < width; i++) {
            octets[at + (isBigEndian ? width - 1 - i : i)] = (byte)(value >> 8 * i);
        }
    }

    private void insert() {
        final int count = Math.min(random.nextInt(1, LARGEST_BLOCK), octets.length - length);
        final int at = length == 0 ? 0 : position();
        System.arraycopy(octets, at, octets, at + count, length - at);
        if (!dictionary.isEmpty() && random.nextBoolean()) {
            final byte[] word = dictionary.get(random.nextInt(dictionary.size()));
            System.arraycopy(word, 0, octets, at, Math.min(word.length, count));
        } else if (random.nextBoolean()) {
            for (int i = 0; i < count; i++) {
                octets[at + i] = (byte)random.nextInt();
            }
        }
        length += count;
    }

    private void remove() {
        final int at = position();
        final int count = Math.min(random.nextInt(1, LARGEST_BLOCK), length - at);
        System.arraycopy(octets, at + count, octets, at, length - at - count);
        length -= count;
    }

    private void copyWithin() {
        final int from = position();
        final int to = position();
        System.arraycopy(octets, from, octets, to, Math.min(random.nextInt(1, LARGEST_BLOCK), length - Math.max(from, to)));
    }

    private void splice() {
        final byte[] other = corpus.get(random.nextInt(corpus.size()));
        final int at = position();
        final int from = Math.min(at, other.length);
        final int count = Math.min(other.length - from, octets.length - at);
        System.arraycopy(other, from, octets, at, count);
        length = Math.max(at + count, random.nextBoolean() ? length : 0);
    }
}
