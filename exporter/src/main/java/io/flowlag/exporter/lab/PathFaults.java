package io.flowlag.exporter.lab;

/**
 * What goes wrong on a simulated way, behind the queue: to see that nothing wrong comes of it.
 *
 * @param lossShare            of regular packets that are lost, 0 to 1.
 * @param referenceLossShare   of references that are lost, 0 to 1.
 * @param duplicatedShare      of packets and references that come twice, 0 to 1.
 * @param reorderedShare       of packets and references that are overtaken by the next, 0 to 1.
 * @param clockStepAtNs        when the receiver's clock is set, ns since the start; 0 for never.
 * @param clockStepNs          by how much, signed.
 */
public record PathFaults(
    double lossShare, double referenceLossShare, double duplicatedShare, double reorderedShare, long clockStepAtNs,
    long clockStepNs) {
    /** A way without faults. */
    public static final PathFaults NONE = new PathFaults(0, 0, 0, 0, 0, 0);

    /** Checks the ranges. */
    public PathFaults {
        checkShare("lossShare", lossShare);
        checkShare("referenceLossShare", referenceLossShare);
        checkShare("duplicatedShare", duplicatedShare);
        checkShare("reorderedShare", reorderedShare);
        if (clockStepAtNs < 0) {
            throw new IllegalArgumentException("clockStepAtNs=" + clockStepAtNs + ": must be 0 or more");
        }
    }

    private static void checkShare(final String name, final double share) {
        if (!(share >= 0 && share <= 1)) {
            throw new IllegalArgumentException(name + "=" + share + ": must be 0 to 1");
        }
    }
}
