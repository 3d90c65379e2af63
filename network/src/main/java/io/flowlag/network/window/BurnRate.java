package io.flowlag.network.window;

/**
 * How fast a service level is used up: the share of packets above the limit, over the share that may be. At 1 the promise is just
 * kept. Counts come from histograms. Memory: three days of windows, 24 octets each. One thread; allocates at construction.
 */
public final class BurnRate {
    /** What a burn rate asks for. */
    public enum Urgency {
        /** Nothing. */
        NONE,
        /** Someone has to look at it in the next days: 1 over 3 d and 6 h. */
        TICKET,
        /** Someone has to look at it now: 14.4 over 1 h and 5 min, or 6 over 6 h and 30 min. */
        PAGE
    }

    private static final long MINUTE_NS = 60_000_000_000L;
    private static final long HOUR_NS = 60 * MINUTE_NS;
    private static final long LONGEST_NS = 72 * HOUR_NS;
    private static final double FAST_RATE = 14.4;
    private static final double SLOW_RATE = 6;
    private static final double TICKET_RATE = 1;

    private final long windowNs;
    private final double mayBeAbove;
    private final long[] starts;
    private final long[] packets;
    private final long[] above;

    /**
     * Nothing counted yet.
     *
     * @param windowNs the length of a window; from it on lengths are rounded up to whole windows.
     * @param promised share of packets that stay below the limit, from 0 up to 1, without 1.
     */
    public BurnRate(final long windowNs, final double promised) {
        if (promised < 0 || promised >= 1) {
            throw new IllegalArgumentException("promised=" + promised + ": must be at least 0 and below 1");
        }
        this.windowNs = windowNs;
        mayBeAbove = 1 - promised;
        final int windows = windows(LONGEST_NS);
        starts = new long[windows];
        packets = new long[windows];
        above = new long[windows];
    }

    private int windows(final long lengthNs) {
        return Math.toIntExact((lengthNs + windowNs - 1) / windowNs);
    }

    /**
     * Counts packets of a window; what is late too, as long as the window is kept.
     *
     * @param startNs      of the window.
     * @param packetCount  measured packets.
     * @param packetsAbove those of them that were above the limit.
     */
    public void add(final long startNs, final long packetCount, final long packetsAbove) {
        final int slot = slot(startNs);
        if (startNs > starts[slot]) {
            starts[slot] = startNs;
            packets[slot] = 0;
            above[slot] = 0;
        }
        if (startNs == starts[slot]) {
            packets[slot] += packetCount;
            above[slot] += packetsAbove;
        }
    }

    private int slot(final long startNs) {
        return (int)Math.floorMod(Math.floorDiv(startNs, windowNs), (long)starts.length);
    }

    /**
     * The burn rate over the last windows.
     *
     * @param startNs  of the last one.
     * @param lengthNs of all, at most three days.
     * @return the rate; NaN if there were no packets.
     */
    public double rate(final long startNs, final long lengthNs) {
        long seen = 0;
        long seenAbove = 0;
        for (int i = 0; i < windows(lengthNs); i++) {
            final long start = startNs - i * windowNs;
            if (starts[slot(start)] == start) {
                seen += packets[slot(start)];
                seenAbove += above[slot(start)];
            }
        }
        return seen == 0 ? Double.NaN : (double)seenAbove / seen / mayBeAbove;
    }

    /** {@return what the rates ask for at the end of a window} */
    public Urgency urgency(final long startNs) {
        if (isAbove(startNs, FAST_RATE, HOUR_NS, 5 * MINUTE_NS) || isAbove(startNs, SLOW_RATE, 6 * HOUR_NS, 30 * MINUTE_NS)) {
            return Urgency.PAGE;
        }
        return isAbove(startNs, TICKET_RATE, LONGEST_NS, 6 * HOUR_NS) ? Urgency.TICKET : Urgency.NONE;
    }

    private boolean isAbove(final long startNs, final double rate, final long longNs, final long shortNs) {
        return rate(startNs, shortNs) > rate && rate(startNs, longNs) > rate;
    }
}
