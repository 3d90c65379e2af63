package io.flowlag.rli.path;

/** What is known about the path of one flow. A flyweight. One thread. Never allocates. */
public final class PathEstimate {
    private long samples;
    private double meanNs = Double.NaN;
    private double spreadNs;
    private State state = State.SINGLE;

    /** How far the path is known. */
    public enum State {
        /** There is one path. */
        SINGLE,
        /** The path is as good as certain. */
        KNOWN,
        /** Any path that was found is possible. */
        UNKNOWN,
        /** No path that was found explains the flow's known delays. */
        MISFIT,
        /** Paths are not found yet. */
        SEARCHING;

        /** {@return whether a flow's interpolated delays are a mixture of paths} */
        public boolean isUnknown() {
            return this != SINGLE && this != KNOWN;
        }
    }

    /** Sets all fields. */
    public PathEstimate set(
        final long newSamples, final double newMeanNs, final double newSpreadNs, final State newState) {
        samples = newSamples;
        meanNs = newMeanNs;
        spreadNs = newSpreadNs;
        state = newState;
        return this;
    }

    /** {@return how many of the flow's samples have estimates by each of the present paths} */
    public long samples() {
        return samples;
    }

    /** {@return whether there is a mean by what is known of the path} */
    public boolean hasMean() {
        return !Double.isNaN(meanNs);
    }

    /** {@return the flow's mean delay by what is known of its path now, ns; NaN without} */
    public double meanNs() {
        return meanNs;
    }

    /** {@return how far the mean of those samples may be off because the path is not known, ns, beside interpolation's error} */
    public double spreadNs() {
        return spreadNs;
    }

    public State state() {
        return state;
    }
}
