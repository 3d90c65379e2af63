package io.flowlag.rli.reference;

/** How a sequence number follows those before it. */
public enum Continuity {
    /** The first of its stream. */
    FIRST(true),
    /** One more than the highest so far. */
    IN_ORDER(true),
    /** Higher than that: those between are lost, or late. */
    AFTER_GAP(true),
    /** The sender restarted; the earlier state is dropped. */
    RESTART(true),
    /** Lower than the highest, and not seen before: overtaken on the way. */
    OUT_OF_ORDER(false),
    /** Seen before: duplicated on the way, or replayed. */
    DUPLICATE(false),
    /** Below the window: too far below the highest number to detect a replay. */
    TOO_OLD(false);

    private final boolean newest;

    Continuity(final boolean newest) {
        this.newest = newest;
    }

    /** {@return true if the packet is now the newest of its stream} */
    public boolean isNewest() {
        return newest;
    }
}
