package io.flowlag.common.hash;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

class SipHashTest {
    /** Of key 00 01 .. 0f and messages of 0 to 63 octets 00 01 ..; the hash as little-endian octets. As published. */
    private static final String[] PUBLISHED = """
        310e0edd47db6f72 fd67dc93c539f874 5a4fa9d909806c0d 2d7efbd796666785 b7877127e09427cf 8da699cd64557618
        cee3fe586e46c9cb 37d1018bf50002ab 6224939a79f5f593 b0e4a90bdf82009e f3b9dd94c5bb5d7a a7ad6b22462fb3f4
        fbe50e86bc8f1e75 903d84c02756ea14 eef27a8e90ca23f7 e545be4961ca29a1 db9bc2577fcc2a3f 9447be2cf5e99a69
        9cd38d96f0b3c14b bd6179a71dc96dbb 98eea21af25cd6be c7673b2eb0cbf2d0 883ea3e395675393 c8ce5ccd8c030ca8
        94af49f6c650adb8 eab8858ade92e1bc f315bb5bb835d817 adcf6b0763612e2f a5c91da7acaa4dde 716595876650a2a6
        28ef495c53a387ad 42c341d8fa92d832 ce7cf2722f512771 e37859f94623f3a7 381205bb1ab0e012 ae97a10fd434e015
        b4a31508beff4d31 81396229f0907902 4d0cf49ee5d4dcca 5c73336a76d8bf9a d0a704536ba93e0e 925958fcd6420cad
        a915c29bc8067318 952b79f3bc0aa6d4 f21df2e41d4535f9 87577519048f53a9 10a56cf5dfcd9adb eb75095ccd986cd0
        51a9cb9ecba312e6 96afadfc2ce666c7 72fe52975a4364ee 5a1645b276d592a1 b274cb8ebf87870a 6f9bb4203de7b381
        eaecb2a30b22a87f 9924a43cc1315724 bd838d3aafbf8db7 0b1a2a3265d51aea 135079a3231ce660 932b2846e4d70666
        e1915f5cb1eca46c f325965ca16d629f 575ff28e60381be5 724506eb4c328a95
        """.trim().split("\\s+");

    private static byte[] ascending(final int lengthBytes) {
        final byte[] octets = new byte[lengthBytes];
        for (int i = 0; i < lengthBytes; i++) {
            octets[i] = (byte)i;
        }
        return octets;
    }

    private static SipHash publishedKey() {
        return SipHash.ofKey(new UnsafeBuffer(ascending(SipHash.KEY_LENGTH_BYTES)), 0);
    }

    @Test
    void shouldGiveThePublishedHashes() {
        assertEquals(64, PUBLISHED.length);
        for (int lengthBytes = 0; lengthBytes < PUBLISHED.length; lengthBytes++) {
            final UnsafeBuffer message = new UnsafeBuffer(ascending(lengthBytes));
            final long hash = publishedKey().hash(message, 0, lengthBytes);
            assertEquals(PUBLISHED[lengthBytes], String.format("%016x", Long.reverseBytes(hash)), "length " + lengthBytes);
        }
    }

    @Test
    void shouldTakeTheKeyAsTwoWordsToo() {
        final SipHash hash = new SipHash(0x0706050403020100L, 0x0f0e0d0c0b0a0908L);
        assertEquals(0xa129ca6149be45e5L, hash.hash(new UnsafeBuffer(ascending(15)), 0, 15));
    }

    @Property
    void shouldGiveEqualHashesWhereverTheOctetsLie(
        @ForAll @Size(max = 200) final byte[] octets, @ForAll @IntRange(max = 17) final int offset) {
        final ByteBuffer elsewhere = ByteBuffer.allocateDirect(offset + octets.length).order(ByteOrder.BIG_ENDIAN);
        elsewhere.put(offset, octets);
        assertEquals(
            publishedKey().hash(new UnsafeBuffer(octets), 0, octets.length),
            publishedKey().hash(new UnsafeBuffer(elsewhere), offset, octets.length));
    }

    @Property
    void shouldDependOnEveryBitOfMessageAndKey(
        @ForAll @Size(min = 1, max = 100) final byte[] octets, @ForAll @IntRange(max = 799) final int anyBit) {
        final long before = publishedKey().hash(new UnsafeBuffer(octets), 0, octets.length);
        final int bit = anyBit % (octets.length * 8);
        octets[bit / 8] ^= (byte)(1 << bit % 8);
        assertNotEquals(before, publishedKey().hash(new UnsafeBuffer(octets), 0, octets.length));
        octets[bit / 8] ^= (byte)(1 << bit % 8);

        final byte[] key = ascending(SipHash.KEY_LENGTH_BYTES);
        key[anyBit / 8 % key.length] ^= (byte)(1 << anyBit % 8);
        final SipHash otherKey = SipHash.ofKey(new UnsafeBuffer(key), 0);
        assertNotEquals(before, otherKey.hash(new UnsafeBuffer(octets), 0, octets.length));
    }

    @Property
    void shouldGiveTwoHashesOfCopiesWithoutThem(
        @ForAll final long first, @ForAll final long second, @ForAll @Size(min = 8, max = 100) final byte[] octets,
        @ForAll @IntRange(max = 13) final int maskedWord, @ForAll final long mask, @ForAll final long otherFirst) {
        final SipHashPair pair = new SipHashPair(publishedKey());
        final int maskedBytes = maskedWord * Long.BYTES;
        final UnsafeBuffer copy = new UnsafeBuffer(new byte[2 * Long.BYTES + octets.length + Long.BYTES]);
        copy.putLong(0, first, ByteOrder.LITTLE_ENDIAN);
        copy.putLong(Long.BYTES, second, ByteOrder.LITTLE_ENDIAN);
        copy.putBytes(2 * Long.BYTES, octets);
        if (maskedBytes < octets.length) {
            final int at = 2 * Long.BYTES + maskedBytes;
            copy.putLong(at, copy.getLong(at, ByteOrder.LITTLE_ENDIAN) & mask, ByteOrder.LITTLE_ENDIAN);
        }
        assertEquals(
            publishedKey().hash(copy, 0, 2 * Long.BYTES + octets.length),
            pair.hash(
                first, second, new UnsafeBuffer(octets), 0, octets.length, maskedBytes, mask, otherFirst, second));
        assertEquals(
            publishedKey().hash(copy, 0, 2 * Long.BYTES + octets.length),
            publishedKey().hash(first, second, new UnsafeBuffer(octets), 0, octets.length, maskedBytes, mask));
        copy.putLong(0, otherFirst, ByteOrder.LITTLE_ENDIAN);
        assertEquals(publishedKey().hash(copy, 0, 2 * Long.BYTES), pair.shortHash());
    }
}
