package io.flowlag.sketch.image;

import io.flowlag.sketch.lda.LossyDifferenceAggregator;
import io.flowlag.sketch.lds.LossyDifferenceSketch;
import io.flowlag.sketch.support.StoredImages;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

class ImageVerifierTest {
    private static final long SEED = 0x0123456789abcdefL;
    private static final long INTERVAL_NUMBER = 1_700_000_000L;
    private static final long INTERVAL_NS = 1_000_000_000L;
    private static final int OFFSET = 8;

    /** Images that version 1 wrote once; they stay readable for ever. An LDA's cells had octets in the first ones. */
    @ParameterizedTest
    @ValueSource(strings = {"lda-v1", "lda-v1-without-octets", "sds-v1", "lds-v1"})
    void shouldReadImagesOfOldAndWriteTheSame(final String name) {
        final byte[] image = StoredImages.octets(name);
        if (!"lda-v1".equals(name) && !"sds-v1".equals(name)) {
            assertArrayEquals(image, written(name));
        }

        final UnsafeBuffer buffer = new UnsafeBuffer(image);
        assertEquals(ImageResult.ACCEPTED, ImageVerifier.verify(buffer, 0, image.length));
        final SketchImage read = new SketchImage().wrap(buffer, 0, image.length);
        assertEquals(INTERVAL_NUMBER, read.intervalNumber());
        assertEquals(INTERVAL_NS, read.intervalNs());
        assertEquals(0x593275f3, read.seedFingerprint());
        assertEquals(100, read.packets());
        assertEquals(100 * 64 + 99 * 50, read.bytes());
    }

    @Test
    void shouldKeepOctetsOfAnLdaOutOfItsCells() {
        final SketchImage old = read(StoredImages.octets("lda-v1"));
        final SketchImage now = read(written("lda-v1-without-octets"));
        for (int bank = 0; bank < now.rows(); bank++) {
            for (int cell = 0; cell < now.columns(); cell++) {
                assertEquals(old.count(bank, cell), now.count(bank, cell));
                assertEquals(old.timestampSumNs(bank, cell), now.timestampSumNs(bank, cell));
                assertEquals(old.digest(bank, cell), now.digest(bank, cell));
                assertEquals(0, now.bytes(bank, cell));
            }
        }
    }

    @ParameterizedTest
    @CsvSource({
        "0, 15, PREAMBLE_LENGTH",
        "1, 2, VERSION",
        "2, 0, FAMILY",
        "2, 4, FAMILY",
        "3, 2, FLAGS",
        "3, 128, FLAGS",
        "4, 24, CELL_LENGTH",
        "6, 1, RESERVED",
        "8, 0, ROWS",
        "8, 17, ROWS",
        "11, 128, ROWS",
        "12, 0, COLUMNS",
        "15, 128, COLUMNS",
        "16, 0, VLDA_LENGTH",
        "16, 9, VLDA_LENGTH",
        "39, 128, INTERVAL_LENGTH",
        "63, 1, RESERVED",
        "67, 1, RATES",
        "67, 128, RATES",
        "72, 1, RATES",
        "124, 1, RATES",
        "14, 1, IMAGE_LENGTH",
        "12, 7, IMAGE_LENGTH",
    })
    void shouldRefuseAnIllegalField(final int field, final int octet, final ImageResult expected) {
        final UnsafeBuffer buffer = new UnsafeBuffer(written("lds-v1"));

        buffer.putByte(field, (byte)octet);

        assertEquals(expected, ImageVerifier.verify(buffer, 0, buffer.capacity()));
    }

    @Test
    void shouldRefuseAnIntervalWithoutLength() {
        final UnsafeBuffer buffer = new UnsafeBuffer(written("lds-v1"));

        buffer.putLong(32, 0, ByteOrder.LITTLE_ENDIAN);

        assertEquals(ImageResult.INTERVAL_LENGTH, ImageVerifier.verify(buffer, 0, buffer.capacity()));
    }

    @Test
    void shouldRefuseWhatIsIllegalForAnLdaOrAnSds() {
        final UnsafeBuffer lda = new UnsafeBuffer(written("lda-v1"));
        lda.putInt(68, 0, ByteOrder.LITTLE_ENDIAN);
        assertEquals(ImageResult.RATES, ImageVerifier.verify(lda, 0, lda.capacity()));
        lda.putInt(68, 32, ByteOrder.LITTLE_ENDIAN);
        assertEquals(ImageResult.RATES, ImageVerifier.verify(lda, 0, lda.capacity()));
        lda.putInt(12, 7, ByteOrder.LITTLE_ENDIAN);
        assertEquals(ImageResult.COLUMNS, ImageVerifier.verify(lda, 0, lda.capacity()));
        final UnsafeBuffer sds = new UnsafeBuffer(StoredImages.octets("sds-v1"));
        sds.putInt(64, 500_000, ByteOrder.LITTLE_ENDIAN);
        assertEquals(ImageResult.RATES, ImageVerifier.verify(sds, 0, sds.capacity()));
        sds.putInt(16, 2, ByteOrder.LITTLE_ENDIAN);
        assertEquals(ImageResult.VLDA_LENGTH, ImageVerifier.verify(sds, 0, sds.capacity()));
    }

    @Property
    void shouldRefuseEveryCutImage(@ForAll @IntRange(max = 127 + 2 * 8 * 32) final int length) {
        final UnsafeBuffer buffer = new UnsafeBuffer(written("lds-v1"));

        assertNotEquals(ImageResult.ACCEPTED, ImageVerifier.verify(buffer, 0, length));
        assertEquals(ImageResult.TOO_SHORT, ImageVerifier.verify(buffer, 0, buffer.capacity() + 1));
        assertEquals(ImageResult.TOO_SHORT, ImageVerifier.verify(buffer, -1, buffer.capacity()));
    }

    /** Fingerprint, interval number, packets, bytes and cells may be anything; wherever else, what was read must say the same. */
    @ParameterizedTest
    @ValueSource(strings = {"lda-v1", "sds-v1", "lds-v1"})
    void shouldAcceptAChangedOctetOnlyWhereItMakesAnotherLegalImage(final String name) {
        final byte[] image = StoredImages.octets(name);
        final UnsafeBuffer buffer = new UnsafeBuffer(image.clone());
        for (int field = 0; field < image.length; field++) {
            final boolean isFree = field >= 20 && field < 32 || field >= 40 && field < 56 || field >= 128;
            for (int octet = 0; octet < 256; octet++) {
                buffer.putByte(field, (byte)octet);
                final ImageResult result = ImageVerifier.verify(buffer, 0, image.length);
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
        @ForAll @IntRange(max = 127) final int field, @ForAll @Size(max = 16) final byte[] bytes) {
        final UnsafeBuffer buffer = new UnsafeBuffer(written("lds-v1"));
        buffer.putBytes(field, bytes);

        if (ImageVerifier.verify(buffer, 0, buffer.capacity()) == ImageResult.ACCEPTED) {
            assertLegal(buffer);
        }
    }

    /** There is such a geometry, and a preamble that is written of what was read has the same octets. */
    private static void assertLegal(final UnsafeBuffer image) {
        final SketchImage read = new SketchImage().wrap(image, 0, image.capacity());
        final SketchGeometry geometry = read.geometry();
        final ByteBuffer preamble = ByteBuffer.allocate(128).order(ByteOrder.LITTLE_ENDIAN)
            .put((byte)16).put((byte)1).put((byte)read.family().code()).put((byte)(read.damaged() ? 1 : 0))
            .putInt(32).putInt(geometry.rows()).putInt(geometry.columns()).putInt(geometry.vldaLength())
            .putInt(read.seedFingerprint()).putLong(read.intervalNumber()).putLong(read.intervalNs())
            .putLong(read.packets()).putLong(read.bytes()).putLong(0);
        for (int row = 0; row < geometry.rows(); row++) {
            preamble.putInt(geometry.rate(row));
        }
        assertArrayEquals(preamble.array(), Arrays.copyOf(image.byteArray(), 128));
        assertEquals(image.capacity(), geometry.imageLength());
        assertTrue(read.intervalNs() >= 1);
    }

    /** A preamble that is damaged anywhere is refused, or says something else that is legal and can be read. */
    @Property
    void shouldNeverThrowForADamagedPreamble(
        @ForAll @IntRange(max = 127) final int field, @ForAll final byte octet, @ForAll @IntRange(max = 127) final int other) {
        final byte[] image = written("lds-v1");
        final UnsafeBuffer buffer = new UnsafeBuffer(new byte[OFFSET + image.length]);
        buffer.putBytes(OFFSET, image);
        buffer.putByte(OFFSET + field, octet);
        buffer.putByte(OFFSET + other, (byte)~octet);

        if (ImageVerifier.verify(buffer, OFFSET, image.length) == ImageResult.ACCEPTED) {
            final SketchImage read = new SketchImage().wrap(buffer, OFFSET, image.length);
            assertEquals(image.length, read.geometry().imageLength());
            read.count(read.rows() - 1, read.columns() - 1);
        }
    }

    private static SketchImage read(final byte[] image) {
        return new SketchImage().wrap(new UnsafeBuffer(image), 0, image.length);
    }

    private static byte[] written(final String name) {
        final Sketch sketch = switch (name) {
            case "lda-v1", "lda-v1-without-octets" -> lda();
            default -> lds();
        };
        sketch.begin(INTERVAL_NUMBER, INTERVAL_NS);
        final byte[] image = new byte[sketch.geometry().imageLength()];
        sketch.encode(new UnsafeBuffer(image), 0);
        return image;
    }

    private static Sketch lda() {
        final LossyDifferenceAggregator lda = new LossyDifferenceAggregator(SketchGeometry.lda(8, 0, 2), SEED);
        for (int packet = 0; packet < 100; packet++) {
            lda.update(packet, 1_000L * packet, 64 + packet);
        }
        return lda;
    }

    private static Sketch lds() {
        final LossyDifferenceSketch lds = new LossyDifferenceSketch(SketchGeometry.lds(2, 8, 3, 1_000_000, 250_000), SEED);
        for (int packet = 0; packet < 100; packet++) {
            lds.update(packet % 7, packet, 1_000L * packet, 64 + packet, 1 + packet % 3);
        }
        lds.markDamaged();
        return lds;
    }
}
