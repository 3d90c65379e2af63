package io.flowlag.exporter.runtime.run;

/** Decides when references that were sent but never seen deserve a warning. A full queue delays many of them for a while. */
final class ReferenceSilence {
    private static final long ENOUGH_REFERENCES = 50;

    private final long patienceNs;
    private long dueNs;
    private boolean isDue;
    private boolean isTold;

    /** @param patienceNs time in ns that a reference may be on its way */
    ReferenceSilence(final long patienceNs) {
        this.patienceNs = patienceNs;
    }

    /** True once, where enough references were sent at least the patience ago and none of them was seen. */
    boolean isToTell(final long sentCount, final long seenCount, final long nowNs) {
        if (isTold || seenCount > 0 || sentCount < ENOUGH_REFERENCES) {
            return false;
        }
        if (!isDue) {
            isDue = true;
            dueNs = nowNs + patienceNs;
        }
        isTold = nowNs - dueNs >= 0;
        return isTold;
    }
}
