package io.flowlag.tests.lab.heldout;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** The path between the two measurement points. No path marks its packets, so a flow's queue is not observable. */
public enum HeldOutPath {
    /** One FIFO queue with tail drop, 55 % load. */
    FIFO_55(0.55, 0),
    /** The same at 70 %. */
    FIFO_70(0.70, 0),
    /** The same at 88 %. */
    FIFO_88(0.88, 0),
    /** 70 % of the flows take a FIFO queue at 88 %, the others a link that is nearly idle. */
    TWO_QUEUES(0.88, 0.3),
    /** Independent Weibull delays (shape 0.6): packets overtake one another, none is lost. */
    WEIBULL(0.88, 1);

    private final double load;
    private final double elsewhereShare;

    HeldOutPath(final double load, final double elsewhereShare) {
        this.load = load;
        this.elsewhereShare = elsewhereShare;
    }

    /** {@return the mean load of the queue, a share of its capacity} */
    public double load() {
        return load;
    }

    /** {@return share of the flows that do not pass the queue, 0 to 1} */
    double elsewhereShare() {
        return elsewhereShare;
    }

    /** {@return the name in file names and tables} */
    public String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /**
     * Paths by their names.
     *
     * @throws IllegalArgumentException if one is not known.
     */
    public static List<HeldOutPath> named(final String labels) {
        return Arrays.stream(labels.split(",")).map(label -> valueOf(label.toUpperCase(Locale.ROOT).replace('-', '_'))).toList();
    }
}
