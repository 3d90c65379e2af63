package io.flowlag.exporter.exchange.link;

/**
 * Which settings apply to which interval. The exchange writes it at both ends. Any thread may read it when it opens an interval,
 * and sees a whole schedule, old or new. Bounded; allocates when settings change.
 */
public final class SettingsSchedule {
    static final int MAX_ENTRIES = 8;
    private static final HeldSettings[] EMPTY = {};

    private volatile HeldSettings[] entries = EMPTY;

    /**
     * The settings of an interval, where intervals of other settings may be longer or shorter. Returns the settings that apply at
     * its start, null if there are none yet.
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

    /** Numbers come from the other end: overflow saturates. */
    private static long product(final long number, final long lengthNs) {
        final long low = number * lengthNs;
        return Math.multiplyHigh(number, lengthNs) == low >> Long.SIZE - 1 ? low : number < 0 ? Long.MIN_VALUE : Long.MAX_VALUE;
    }

    /** The latest settings, whether they apply yet or not. Returns null if there are none. */
    public HeldSettings latest() {
        final HeldSettings[] current = entries;
        return current.length == 0 ? null : current[current.length - 1];
    }

    /** The settings in order, to be sent to a sender that has just connected. */
    HeldSettings[] all() {
        return entries.clone();
    }

    /**
     * Adds settings. They replace those that would apply from the same time or later; settings of another run of the receiver
     * replace all. A number that is not newer changes nothing. Returns whether they are new.
     */
    public boolean add(final HeldSettings held) {
        final HeldSettings last = latest();
        final boolean isSameRun = last != null && last.receiverInstance() == held.receiverInstance();
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
