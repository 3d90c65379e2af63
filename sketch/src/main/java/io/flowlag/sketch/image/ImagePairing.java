package io.flowlag.sketch.image;

/**
 * Decides whether two images may be compared: every field that defines a cell's meaning must be equal. Stateless, any thread;
 * never allocates.
 */
public final class ImagePairing {
    private ImagePairing() {
    }

    /**
     * Compares an image with what a reader expects. Returns {@link PairingResult#PAIRED}, or the first field in which they
     * differ.
     */
    public static PairingResult check(final SketchShape shape, final int seedFingerprint, final SketchImage image) {
        final PairingResult result = checkShape(image, shape);
        return result == PairingResult.PAIRED && image.seedFingerprint() != seedFingerprint ? PairingResult.SEED : result;
    }

    /**
     * Compares what two images say of themselves. Returns {@link PairingResult#PAIRED}, or the first field in which they differ.
     */
    public static PairingResult check(final SketchImage sender, final SketchImage receiver) {
        final PairingResult shape = check(receiver, receiver.seedFingerprint(), sender);
        if (shape != PairingResult.PAIRED) {
            return shape;
        }
        if (sender.family() == SketchFamily.SDS) {
            return PairingResult.FAMILY;
        }
        if (sender.intervalNs() != receiver.intervalNs()) {
            return PairingResult.INTERVAL_LENGTH;
        }
        return sender.intervalNumber() == receiver.intervalNumber() ?
            PairingResult.PAIRED : PairingResult.INTERVAL_NUMBER;
    }

    private static PairingResult checkShape(final SketchShape sender, final SketchShape receiver) {
        if (sender.family() != receiver.family()) {
            return PairingResult.FAMILY;
        }
        if (sender.rows() != receiver.rows()) {
            return PairingResult.ROWS;
        }
        if (sender.columns() != receiver.columns()) {
            return PairingResult.COLUMNS;
        }
        if (sender.vldaLength() != receiver.vldaLength()) {
            return PairingResult.VLDA_LENGTH;
        }
        for (int row = 0; row < sender.rows(); row++) {
            if (sender.rate(row) != receiver.rate(row)) {
                return PairingResult.RATES;
            }
        }
        return PairingResult.PAIRED;
    }
}
