package io.flowlag.exporter.delay;

/**
 * What finds the segments of packets, over time: a reload gives another table, which holds for packets of a time and later ones.
 * One thread changes it, before packets of that time come; another ends the change; any may ask. Allocates at both.
 */
public final class SegmentSwitch {
    private volatile Change latest;
    private volatile boolean isChanging;

    private record Change(PacketSegments before, PacketSegments after, long fromNs) {
    }

    /** The same for packets of any time. */
    public SegmentSwitch(final PacketSegments first) {
        latest = new Change(first, first, Long.MIN_VALUE);
    }

    /** Selects packets of a time, UNIX epoch, and later ones otherwise; not while {@link #isChanging}. */
    public void change(final PacketSegments newer, final long fromNs) {
        latest = new Change(latest.after, newer, fromNs);
        isChanging = true;
    }

    /** {@return whether the last change has not come, or flows of its segments have not ended} */
    public boolean isChanging() {
        return isChanging;
    }

    /** {@return what finds the segments of packets of a time, UNIX epoch} */
    public PacketSegments at(final long timeNs) {
        final Change change = latest;
        return timeNs < change.fromNs ? change.before : change.after;
    }

    /** Ends a change, also for packets of a clock that is set back later. */
    void end() {
        latest = new Change(latest.after, latest.after, Long.MIN_VALUE);
        isChanging = false;
    }
}
