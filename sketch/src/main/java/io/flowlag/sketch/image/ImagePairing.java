package io.flowlag.sketch.image;

/**
 * Decides whether two images may be compared: every field that defines a cell's meaning must be equal. Stateless, any thread;
 * {@link #check} never allocates, {@link #explain} allocates a text.
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

    /**
     * Describes the difference with both values, the sender's first.
     *
     * @param result of {@link #check}.
     */
    public static String explain(final PairingResult result, final SketchImage sender, final SketchImage receiver) {
        return switch (result) {
            case PAIRED -> "paired";
            case FAMILY -> difference("family", sender.family(), receiver.family());
            case ROWS -> difference("rows", sender.rows(), receiver.rows());
            case COLUMNS -> difference("columns", sender.columns(), receiver.columns());
            case VLDA_LENGTH -> difference("vldaLength", sender.vldaLength(), receiver.vldaLength());
            case RATES -> difference("rates", sender.geometry(), receiver.geometry());
            case SEED -> difference(
                "seedFingerprint",
                Integer.toHexString(sender.seedFingerprint()),
                Integer.toHexString(receiver.seedFingerprint()));
            case INTERVAL_LENGTH -> difference("intervalNs", sender.intervalNs(), receiver.intervalNs());
            case INTERVAL_NUMBER -> difference("intervalNumber", sender.intervalNumber(), receiver.intervalNumber());
        };
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

    private static String difference(final String field, final Object senderValue, final Object receiverValue) {
        return field + ": sender " + senderValue + ", receiver " + receiverValue;
    }
}
