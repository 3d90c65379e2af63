package io.flowlag.exporter.delay.interval;

/** The intervals before the present settings took effect, as long as some are to be concluded. The metering thread's. */
interface EarlierIntervals {
    /** There are none: the settings are the first ones, or all earlier intervals were reported. */
    EarlierIntervals NONE = new EarlierIntervals() { };

    /** {@return whether all were reported} */
    default boolean isOver() {
        return true;
    }

    /** Concludes those that are too old to share the records' counters with a later interval of this key. */
    default void makeWay(final long key, final long timestampNs) {
    }

    /** Damages the last one. */
    default void damageLast() {
    }
}
