package io.flowlag.exporter.exchange.link;

/**
 * Which settings apply to which interval. The exchange writes it at both ends. Any thread may read it when it opens an interval,
 * and sees a whole schedule, old or new. Bounded; allocates when settings change.
 */
public final class SettingsSchedule {
    /** The most settings that are kept. */
    public static final int MAX_ENTRIES = 8;

    private static final HeldSettings[] EMPTY = {};

    private volatile HeldSettings[] entries = EMPTY;

    /**
     * The settings that hold in an interval, where intervals of other settings may be longer or shorter. Returns the settings
     * that hold when it begins, null if there are none yet.
     */
    public HeldSettings at(final long intervalNumber, final long intervalNs) {
        final HeldSettings[] current = entries;
        final long startNs = product(intervalNumber, intervalNs);
        for (int i = current.length - 1; i >= 0; i--) {
            if (startNs(current[i]) <= startNs) {
                return current[i];
            }
        }
        return null;
    }

    private static long startNs(final HeldSettings held) {
        return product(held.settings().fromInterval(), held.settings().intervalNs());
    }

    /** Numbers come from the other end: what is beyond a long is the furthest there is. */
    private static long product(final long number, final long lengthNs) {
        final long low = number * lengthNs;
        return Math.multiplyHigh(number, lengthNs) == low >> Long.SIZE - 1 ? low : number < 0 ? Long.MIN_VALUE : Long.MAX_VALUE;
    }

    /** The settings that came last, whether they hold yet or not. Returns null if there are none. */
    public HeldSettings latest() {
        final HeldSettings[] current = entries;
        return 0 == current.length ? null : current[current.length - 1];
    }

    /** The settings in order, to be handed to a sender that has just come. */
    HeldSettings[] all() {
        return entries.clone();
    }

    /**
     * Adds settings. They put aside what was to hold from the same time or later; those of another run of the receiver put aside
     * all. Numbers rise: what is not newer changes nothing. Returns whether they are new.
     */
    public boolean add(final HeldSettings held) {
        final HeldSettings last = latest();
        final boolean isSameRun = null != last && last.receiverInstance() == held.receiverInstance();
        if (isSameRun && held.settings().number() <= last.settings().number()) {
            return false;
        }
        final HeldSettings[] current = isSameRun ? entries : EMPTY;
        int kept = 0;
        while (kept < current.length && startNs(current[kept]) < startNs(held)) {
            kept++;
        }
        final int first = Math.max(0, kept + 1 - MAX_ENTRIES);
        final HeldSettings[] next = new HeldSettings[kept - first + 1];
        System.arraycopy(current, first, next, 0, kept - first);
        next[kept - first] = held;
        entries = next;
        return true;
    }
}
