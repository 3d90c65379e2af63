package io.flowlag.sketch.reconcile;

/**
 * The kinds of synopsis; code and cell length are part of the image and never change. The codes differ from those of sketches.
 */
public enum SynopsisFamily {
    /** Reconcilable Difference Aggregator: each packet in one cell of every bank. */
    RDA(16, 24, 8),
    /** Simple RDA: one array of cells, each packet in up to k of them. */
    SRDA(17, 32, 8),
    /** FineComb: each packet in one cell of one bank. */
    FINE_COMB(18, 24, 1),
    /** The least hashes of a set. */
    MIN_HASH(19, 8, 1),
    /** Small difference tables, each of half as many packets as the one before. */
    STRATA(20, 16, 64),
    /** Counts of packets, half of them with a minus. */
    SIGNED_COUNTS(21, 8, 1),
    /** No synopsis, but the packets themselves that one point lacks. */
    MISSING_PACKETS(22, 32, 1),
    /** No synopsis, but the keys of flows that one point lacks. */
    FLOW_KEYS(23, 56, 1);

    private static final SynopsisFamily[] FAMILIES = values();

    private final int code;
    private final int cellLength;
    private final int maxBanks;

    SynopsisFamily(final int code, final int cellLength, final int maxBanks) {
        this.code = code;
        this.cellLength = cellLength;
        this.maxBanks = maxBanks;
    }

    /** The number that stands for the family in an image. */
    public int code() {
        return code;
    }

    /** Length of a cell. Returns octets. */
    public int cellLength() {
        return cellLength;
    }

    /** Most banks of a synopsis. */
    public int maxBanks() {
        return maxBanks;
    }

    /** Finds a family by its number. Returns the family, null if there is none. */
    public static SynopsisFamily of(final int code) {
        for (final SynopsisFamily family : FAMILIES) {
            if (code == family.code) {
                return family;
            }
        }
        return null;
    }
}
