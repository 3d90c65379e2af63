package io.flowlag.sketch.reconcile;

import io.flowlag.sketch.image.ImageResult;
import io.flowlag.sketch.support.StoredImages;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Locale;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

class SynopsisVerifierTest {
    private static final long SEED = 0x0123456789abcdefL;
    private static final long INTERVAL_NUMBER = 1_700_000_000L;
    private static final long INTERVAL_NS = 1_000_000_000L;
    private static final long THRESHOLD = 0xC0000000L;
    private static final int PACKETS = 100;
    private static final int OFFSET = 8;

    /** Images that version 1 wrote once; they stay readable for ever. */
    @ParameterizedTest
    @EnumSource(value = SynopsisFamily.class, names = {"RDA", "SIGNED_COUNTS", "MISSING_PACKETS", "FLOW_KEYS"})
    void shouldWriteImagesAsOfOld(final SynopsisFamily family) {
        assertArrayEquals(stored(family), written(family));
    }

    @ParameterizedTest
    @EnumSource(SynopsisFamily.class)
    void shouldReadImagesOfOld(final SynopsisFamily family) {
        final byte[] image = stored(family);
        final UnsafeBuffer buffer = new UnsafeBuffer(image);
        assertEquals(ImageResult.ACCEPTED, SynopsisVerifier.verify(buffer, 0, image.length));
        final SynopsisImage read = new SynopsisImage().wrap(buffer, 0, image.length);

        assertEquals(family, read.family());
        assertEquals(INTERVAL_NUMBER, read.intervalNumber());
        assertEquals(INTERVAL_NS, read.intervalNs());
        assertEquals(THRESHOLD, read.flowThreshold());
        assertEquals(0x593275f3, read.seedFingerprint());
        assertEquals(PACKETS, read.packets());
        assertTrue(read.damaged());
        assertEquals(image.length, read.geometry().imageLength());
    }

    @ParameterizedTest
    @EnumSource(value = SynopsisFamily.class, names = {"RDA", "SIGNED_COUNTS", "MISSING_PACKETS", "FLOW_KEYS"})
    void shouldBeEqualAfterEncodingAndDecoding(final SynopsisFamily family) {
        final Synopsis synopsis = filled(family);
        final int length = synopsis.image().length();
        final UnsafeBuffer wire = new UnsafeBuffer(new byte[OFFSET + length]);

        assertEquals(length, synopsis.encode(wire, OFFSET));

        assertEquals(ImageResult.ACCEPTED, SynopsisVerifier.verify(wire, OFFSET, length));
        final SynopsisImage decoded = new SynopsisImage().wrap(wire, OFFSET, length);
        assertTrue(decoded.contentEquals(synopsis.image()));
        assertEquals(SynopsisPairing.PAIRED, SynopsisPairing.check(family, decoded, synopsis.image()));
    }

    @ParameterizedTest
    @CsvSource({
        "0, 7, PREAMBLE_LENGTH",
        "1, 2, VERSION",
        "2, 0, FAMILY",
        "2, 3, FAMILY",
        "2, 24, FAMILY",
        "2, 23, CELL_LENGTH",
        "3, 2, FLAGS",
        "3, 128, FLAGS",
        "4, 32, CELL_LENGTH",
        "6, 1, RESERVED",
        "20, 1, RESERVED",
        "63, 1, RESERVED",
        "8, 0, BANKS",
        "8, 9, BANKS",
        "11, 128, BANKS",
        "12, 0, CELLS",
        "15, 128, CELLS",
        "39, 128, INTERVAL_LENGTH",
        "45, 1, FLOW_THRESHOLD",
        "47, 128, FLOW_THRESHOLD",
        "12, 7, IMAGE_LENGTH",
        "15, 127, IMAGE_LENGTH",
        "2, 18, BANKS",
    })
    void shouldRefuseAnIllegalField(final int field, final int octet, final ImageResult expected) {
        final UnsafeBuffer buffer = new UnsafeBuffer(written(SynopsisFamily.RDA));

        buffer.putByte(field, (byte)octet);

        assertEquals(expected, SynopsisVerifier.verify(buffer, 0, buffer.capacity()));
    }

    /** Of the first key of two: IPv4 with high halves or a low half too long, other versions, a class too high, no packets. */
    @ParameterizedTest
    @CsvSource({"72, 1", "84, 1", "88, 1", "100, 1", "109, 0", "109, 5", "109, 132", "110, 64", "111, 1", "112, 0", "119, 128"})
    void shouldRefuseAnIllegalKey(final int field, final int octet) {
        final UnsafeBuffer buffer = new UnsafeBuffer(written(SynopsisFamily.FLOW_KEYS));
        assertEquals(ImageResult.ACCEPTED, SynopsisVerifier.verify(buffer, 0, buffer.capacity()));

        buffer.putByte(field, (byte)octet);

        assertEquals(ImageResult.FLOW_KEY, SynopsisVerifier.verify(buffer, 0, buffer.capacity()));
    }

    @Test
    void shouldReadTheKeysThatWereWritten() {
        final SynopsisImage keys = filled(SynopsisFamily.FLOW_KEYS).image();

        assertEquals(2, keys.totalCells());
        assertEquals(1, keys.keyFlowHash(0));
        assertEquals(PACKETS - 1, keys.keyPackets(0));
        assertEquals(0x0a00_0001, keys.keySourceLow(0));
        assertEquals(0xc0a8_0001L, keys.keyDestinationLow(0));
        assertEquals(0, keys.keySourceHigh(0) | keys.keyDestinationHigh(0));
        assertEquals(7, keys.keySourcePort(0));
        assertEquals(53, keys.keyDestinationPort(0));
        assertEquals(17, keys.keyProtocol(0));
        assertEquals(4, keys.keyIpVersion(0));
        assertEquals(63, keys.keyClassIndex(0));
        assertEquals(0x2001_0db8L << 32, keys.keySourceHigh(1));
        assertEquals(-1, keys.keySourceLow(1));
        assertEquals(65_535, keys.keyDestinationPort(1));
        assertEquals(255, keys.keyProtocol(1));
        assertEquals(6, keys.keyIpVersion(1));
    }

    @Test
    void shouldRefuseAnIntervalWithoutLength() {
        final UnsafeBuffer buffer = new UnsafeBuffer(written(SynopsisFamily.RDA));

        buffer.putLong(32, 0, ByteOrder.LITTLE_ENDIAN);

        assertEquals(ImageResult.INTERVAL_LENGTH, SynopsisVerifier.verify(buffer, 0, buffer.capacity()));
    }

    @Property(tries = 200)
    void shouldRefuseEveryCutImage(@ForAll @IntRange(max = 63 + 2 * 8 * 24) final int length) {
        final UnsafeBuffer buffer = new UnsafeBuffer(written(SynopsisFamily.RDA));

        assertNotEquals(ImageResult.ACCEPTED, SynopsisVerifier.verify(buffer, 0, length));
        assertEquals(ImageResult.TOO_SHORT, SynopsisVerifier.verify(buffer, 0, buffer.capacity() + 1));
        assertEquals(ImageResult.TOO_SHORT, SynopsisVerifier.verify(buffer, -1, buffer.capacity()));
        assertEquals(ImageResult.TOO_SHORT, SynopsisVerifier.verify(buffer, Integer.MAX_VALUE, buffer.capacity()));
    }

    /** Fingerprint, interval number, packets and most cells may be anything; wherever else, what was read must say the same. */
    @ParameterizedTest
    @EnumSource(SynopsisFamily.class)
    void shouldAcceptAChangedOctetOnlyWhereItMakesAnotherLegalImage(final SynopsisFamily family) {
        final byte[] image = stored(family);
        final UnsafeBuffer buffer = new UnsafeBuffer(image.clone());
        for (int field = 0; field < image.length; field++) {
            final boolean isFree = field >= 16 && field < 20 || field >= 24 && field < 32 || field >= 48 && field < 56 ||
                field >= 64 && family != SynopsisFamily.FLOW_KEYS;
            for (int octet = 0; octet < 256; octet++) {
                buffer.putByte(field, (byte)octet);
                final ImageResult result = SynopsisVerifier.verify(buffer, 0, image.length);
                if (result == ImageResult.ACCEPTED) {
                    assertLegal(buffer);
                } else {
                    assertFalse(isFree, field + " with " + octet + ": " + result);
                }
            }
            buffer.putByte(field, image[field]);
        }
    }

    @Property
    void shouldAcceptAnyBytesOnlyWhereTheyMakeAnotherLegalImage(
        @ForAll final SynopsisFamily family,
        @ForAll @IntRange(max = 63) final int field,
        @ForAll @Size(max = 16) final byte[] bytes) {
        final UnsafeBuffer buffer = new UnsafeBuffer(stored(family));
        buffer.putBytes(field, bytes);

        if (SynopsisVerifier.verify(buffer, 0, buffer.capacity()) == ImageResult.ACCEPTED) {
            assertLegal(buffer);
        }
    }

    /** There is such a geometry, a preamble that is written of what was read has the same octets, and keys are keys. */
    private static void assertLegal(final UnsafeBuffer image) {
        final SynopsisImage read = new SynopsisImage().wrap(image, 0, image.capacity());
        final SynopsisGeometry geometry = read.geometry();
        final byte[] preamble = ByteBuffer.allocate(64).order(ByteOrder.LITTLE_ENDIAN)
            .put((byte)8).put((byte)1).put((byte)geometry.family().code()).put((byte)(read.damaged() ? 1 : 0))
            .putInt(geometry.family().cellLength()).putInt(geometry.banks()).putInt(geometry.cells())
            .putInt(read.seedFingerprint()).putInt(0).putLong(read.intervalNumber()).putLong(read.intervalNs())
            .putLong(read.flowThreshold()).putLong(read.packets()).putLong(0).array();
        assertArrayEquals(preamble, Arrays.copyOf(image.byteArray(), 64));
        assertEquals(image.capacity(), geometry.imageLength());
        assertTrue(read.intervalNs() >= 1);
        assertTrue(read.flowThreshold() >= 0 && read.flowThreshold() <= 1L << 32);
        for (int cell = 0; geometry.family() == SynopsisFamily.FLOW_KEYS && cell < geometry.cells(); cell++) {
            final boolean isIpv4 = read.keyIpVersion(cell) == 4;
            assertTrue(isIpv4 || read.keyIpVersion(cell) == 6);
            assertTrue(!isIpv4 || (read.keySourceHigh(cell) | read.keyDestinationHigh(cell)) == 0);
            assertTrue(!isIpv4 || (read.keySourceLow(cell) | read.keyDestinationLow(cell)) >>> 32 == 0);
            assertTrue(read.keyClassIndex(cell) >= 0 && read.keyClassIndex(cell) <= PacketCache.MAX_CLASS_INDEX);
            assertTrue(read.keyPackets(cell) >= 1);
        }
    }

    /** Whatever a hostile point puts into cells, a verified image is decoded in bounded time to a bounded list, or refused. */
    @Property(tries = 300)
    void shouldSurviveAnyCells(@ForAll @Size(16 * 24) final byte[] cells, @ForAll final PureTest pureTest) {
        final UnsafeBuffer hostile = new UnsafeBuffer(written(SynopsisFamily.RDA));
        hostile.putBytes(SynopsisDescriptor.PREAMBLE_LENGTH, cells);
        assertEquals(ImageResult.ACCEPTED, SynopsisVerifier.verify(hostile, 0, hostile.capacity()));
        final SynopsisImage image = new SynopsisImage().wrap(hostile, 0, hostile.capacity());
        final DifferenceDecoder decoder = new DifferenceDecoder(16, SEED, pureTest);
        final PacketDifference difference = decoder.newDifference();

        final Synopsis own = filled(SynopsisFamily.RDA);
        assertEquals(SynopsisPairing.PAIRED, decoder.decode(own.image(), image, difference));
        assertTrue(difference.size() <= 16);
        final RdaReconciler reconciler = new RdaReconciler(16, SEED, 0.98);
        final AggregateEstimate estimate = new AggregateEstimate();
        assertEquals(SynopsisPairing.PAIRED, reconciler.decode(own.image(), image));
        reconciler.repair(new ListedPackets(), new ListedPackets(), estimate);
        assertEquals(reconciler.difference().size(), estimate.unrepairedItems());
    }

    @Test
    void shouldRefuseWhatCannotBeCompared() {
        final SynopsisImage own = filled(SynopsisFamily.RDA).image();
        final DifferenceDecoder decoder = new DifferenceDecoder(16, SEED);
        final PacketDifference difference = decoder.newDifference();

        assertEquals(SynopsisPairing.FAMILY, decoder.decode(own, filled(SynopsisFamily.SIGNED_COUNTS).image(), difference));
        assertEquals(SynopsisPairing.GEOMETRY, decoder.decode(own, changed(12, 16, 8, 1), difference));
        assertEquals(SynopsisPairing.SEED, decoder.decode(own, changed(16, 1, 17, 1), difference));
        assertEquals(SynopsisPairing.INTERVAL_LENGTH, decoder.decode(own, changed(32, 1, 33, 1), difference));
        assertEquals(SynopsisPairing.INTERVAL_NUMBER, decoder.decode(own, changed(24, 1, 25, 1), difference));
        assertEquals(SynopsisPairing.FLOW_THRESHOLD, decoder.decode(own, changed(40, 1, 41, 1), difference));
        assertEquals(SynopsisPairing.TOO_LARGE, new DifferenceDecoder(15, SEED).decode(own, own, difference));
        final AggregateEstimate estimate = new AggregateEstimate();
        new RdaReconciler(15, SEED, 0.98).repair(new ListedPackets(), new ListedPackets(), estimate);
        assertThrows(IllegalStateException.class, estimate::meanNs);
        assertThrows(IllegalArgumentException.class, () -> SynopsisGeometry.rda(9, 8));
        assertThrows(IllegalArgumentException.class, () -> SynopsisGeometry.rda(2, 0));
        assertThrows(IllegalArgumentException.class, () -> SynopsisGeometry.rda(8, 1 << 28));
    }

    private static SynopsisImage changed(final int field, final int octet, final int otherField, final int otherOctet) {
        final UnsafeBuffer buffer = new UnsafeBuffer(written(SynopsisFamily.RDA));
        buffer.putByte(field, (byte)octet);
        buffer.putByte(otherField, (byte)otherOctet);
        return new SynopsisImage().wrap(buffer, 0, buffer.capacity());
    }

    private static byte[] stored(final SynopsisFamily family) {
        return StoredImages.octets(family.name().toLowerCase(Locale.ROOT) + "-v1");
    }

    private static byte[] written(final SynopsisFamily family) {
        final Synopsis synopsis = filled(family);
        final byte[] image = new byte[synopsis.image().length()];
        synopsis.encode(new UnsafeBuffer(image), 0);
        return image;
    }

    /** A key as {@link FlowKeys} takes it; the first of two values is in the low half of a number. */
    private static UnsafeBuffer key(
        final long sourceHigh, final long sourceLow, final long destinationHigh, final long destinationLow, final int ports,
        final int protocolAndVersion) {
        final UnsafeBuffer key = new UnsafeBuffer(new byte[38]);
        key.putLong(0, sourceHigh);
        key.putLong(8, sourceLow);
        key.putLong(16, destinationHigh);
        key.putLong(24, destinationLow);
        key.putShort(32, (short)ports);
        key.putShort(34, (short)(ports >>> 16));
        key.putByte(36, (byte)protocolAndVersion);
        key.putByte(37, (byte)(protocolAndVersion >>> 8));
        return key;
    }

    private static Synopsis filled(final SynopsisFamily family) {
        final Synopsis synopsis;
        switch (family) {
            case RDA -> {
                final ReconcilableDifferenceAggregator rda =
                    new ReconcilableDifferenceAggregator(SynopsisGeometry.rda(2, 8), SEED);
                for (int i = 0; i < PACKETS - 3; i++) {
                    rda.update(i, i * 1_000);
                }
                rda.add(PACKETS, 5_000, 3);
                synopsis = rda;
            }
            case SIGNED_COUNTS -> {
                final SignedCounts counts = new SignedCounts(8, SEED);
                for (int i = 0; i < PACKETS; i++) {
                    counts.add(i);
                }
                synopsis = counts;
            }
            case MISSING_PACKETS -> {
                final MissingPackets missing = new MissingPackets(PACKETS, SEED);
                missing.collect(
                    MissingPacketsTest.onlySent(PACKETS - 2, SEED), true, MissingPacketsTest.cache(PACKETS - 2, SEED));
                synopsis = missing;
            }
            case FLOW_KEYS -> {
                final FlowKeys keys = new FlowKeys(2, SEED);
                keys.start(2, INTERVAL_NUMBER, 1, THRESHOLD);
                keys.add(1, PACKETS - 1, 63, key(0, 0x0a00_0001, 0, 0xc0a8_0001L, 7 | 53 << 16, 17 | 4 << 8), 0);
                keys.add(2, 1, 0, key(0x2001_0db8L << 32, -1, 0x2001_0db8L << 32, 2, 65_535 << 16, 255 | 6 << 8), 0);
                synopsis = keys;
            }
            default -> throw new IllegalArgumentException("family=" + family);
        }
        synopsis.begin(INTERVAL_NUMBER, INTERVAL_NS);
        synopsis.flowThreshold(THRESHOLD);
        synopsis.markDamaged();
        return synopsis;
    }
}
