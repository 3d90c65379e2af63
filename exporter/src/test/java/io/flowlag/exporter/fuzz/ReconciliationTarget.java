package io.flowlag.exporter.fuzz;

import io.flowlag.sketch.image.ImageDescriptor;
import io.flowlag.sketch.image.ImageResult;
import io.flowlag.sketch.image.ImageVerifier;
import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.image.SketchImage;
import io.flowlag.sketch.lds.LossyDifferenceSketch;
import io.flowlag.sketch.reconcile.RdaReconciler;
import io.flowlag.sketch.reconcile.ReconcilableDifferenceAggregator;
import io.flowlag.sketch.reconcile.Synopsis;
import io.flowlag.sketch.reconcile.SynopsisGeometry;
import io.flowlag.sketch.reconcile.SynopsisImage;
import io.flowlag.sketch.reconcile.SynopsisPairing;
import io.flowlag.sketch.reconcile.SynopsisVerifier;
import org.agrona.concurrent.UnsafeBuffer;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Images of the other point: synopses of reconciliation, compared with one of ours and decoded if they pair; images of sketches,
 * every cell read.
 */
final class ReconciliationTarget implements FuzzTarget {
    private static final long SEED = 0x0123456789abcdefL;
    private static final long INTERVAL_NUMBER = 1_700_000_000L;
    private static final long INTERVAL_NS = 1_000_000_000L;
    private static final int PACKETS = 24;
    private static final int CELLS = 48;
    private static final int MAX_BYTES = 8192;
    private static final int CAPACITY = 4096;
    private static final double CONFIDENCE = 0.95;

    private final GuardedMemory memory = new GuardedMemory(MAX_BYTES);
    private final UnsafeBuffer image = new UnsafeBuffer(0, 0);
    private final SynopsisImage synopsis = new SynopsisImage();
    private final SketchImage sketch = new SketchImage();
    private final Synopsis ours = rda(PACKETS);
    private final RdaReconciler reconciler = new RdaReconciler(CAPACITY, SEED, CONFIDENCE);
    private final List<byte[]> whole = seeds();
    private long sum;

    private static Synopsis rda(final int packets) {
        final ReconcilableDifferenceAggregator synopsis =
            new ReconcilableDifferenceAggregator(SynopsisGeometry.rda(2, CELLS), SEED);
        synopsis.begin(INTERVAL_NUMBER, INTERVAL_NS);
        final SplittableRandom random = new SplittableRandom(1);
        for (int i = 0; i < packets; i++) {
            synopsis.update(random.nextLong(), INTERVAL_NUMBER * INTERVAL_NS + i);
        }
        return synopsis;
    }

    @Override
    public List<byte[]> seeds() {
        final List<byte[]> seeds = new ArrayList<>(Corpus.of("reconciliation"));
        for (final Synopsis each : List.of(rda(PACKETS), rda(PACKETS + 5))) {
            final UnsafeBuffer buffer = new UnsafeBuffer(new byte[each.image().length()]);
            each.encode(buffer, 0);
            seeds.add(buffer.byteArray());
        }
        final LossyDifferenceSketch lds = new LossyDifferenceSketch(SketchGeometry.lds(2, 60, 3), SEED);
        lds.begin(INTERVAL_NUMBER, INTERVAL_NS);
        for (int i = 0; i < PACKETS; i++) {
            lds.update(i * SEED, i, i, 1500, 1);
        }
        final byte[] octets = new byte[lds.image().geometry().imageLength()];
        lds.image().buffer().getBytes(0, octets);
        seeds.add(octets);
        return seeds;
    }

    /** Mostly the header and the length of a valid image, so that what follows is read. */
    @Override
    public int mend(final byte[] octets, final int lengthBytes, final SplittableRandom random) {
        if (random.nextInt(4) == 0) {
            return lengthBytes;
        }
        final byte[] valid = whole.get(random.nextInt(whole.size()));
        System.arraycopy(valid, 0, octets, 0, ImageDescriptor.PREAMBLE_LENGTH);
        return valid.length;
    }

    @Override
    public long take(final byte[] octets, final int length) {
        memory.wrap(image, octets, 0, length);
        final ImageResult asSketch = ImageVerifier.verify(image, 0, length);
        if (asSketch == ImageResult.ACCEPTED) {
            sketch.wrap(image, 0, length);
            if (!sketch.contentEquals(sketch)) {
                throw new AssertionError("an image differs from itself");
            }
        }
        final ImageResult result = SynopsisVerifier.verify(image, 0, length);
        long answer = (long)asSketch.ordinal() << 8 | result.ordinal();
        if (result == ImageResult.ACCEPTED) {
            synopsis.wrap(image, 0, length);
            for (int i = 0; i < synopsis.totalCells(); i++) {
                sum += synopsis.identifier(i) + synopsis.timestampSumNs(i);
            }
            answer |= 1 << 16 + decode().ordinal();
        }
        return answer;
    }

    private SynopsisPairing decode() {
        final SynopsisPairing pairing = reconciler.decode(ours.image(), synopsis);
        if (pairing == SynopsisPairing.PAIRED && reconciler.difference().size() > CAPACITY) {
            throw new AssertionError(reconciler.difference().size() + " packets differ");
        }
        return pairing;
    }

    @Override
    public void check() {
        if (sum == Long.MIN_VALUE + 1) {
            throw new AssertionError("cells are read for this alone");
        }
    }

    @Override
    public int maxInputBytes() {
        return MAX_BYTES;
    }

    @Override
    public long allocationBoundBytes() {
        return 4L << 20;
    }
}
