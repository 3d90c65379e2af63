package io.flowlag.exporter.capture.route;

/**
 * The kernel's routes of the last moments: which way out an address had, for packets that left or were lost a while ago. A route
 * that changes meanwhile, or may have, tells nothing. One thread adds, any may ask; asking allocates nothing.
 */
public final class RouteHistory {
    /** The way out changed since, or is not known yet. */
    public static final int CHANGING = Integer.MIN_VALUE;
    private static final int MOST_TABLES = 16;

    private final long keptNs;
    private volatile Moments moments = new Moments(new RouteTable[0], new long[0], Long.MIN_VALUE);

    /** Tables with the times from which on each one held, ascending, and the time until which the last one surely holds. */
    private record Moments(RouteTable[] tables, long[] fromNs, long knownNs) {
    }

    /** No routes yet; tables that ended longer ago than a time are forgotten. */
    public RouteHistory(final long keptNs) {
        this.keptNs = keptNs;
    }

    /**
     * Adds what the follower knows at a time.
     *
     * @param isSure whether the table is what the kernel has.
     * @param nowNs  of packets, read before the follower looked.
     */
    public void add(final RouteTable table, final boolean isSure, final long nowNs) {
        final Moments before = moments;
        final int count = before.tables.length;
        final boolean isNew = count == 0 || before.tables[count - 1] != table;
        int first = Math.max(0, isNew ? count + 1 - MOST_TABLES : 0);
        while (first + 1 < count && before.fromNs[first + 1] < nowNs - keptNs) {
            first++;
        }
        final int kept = count - first;
        final RouteTable[] tables = new RouteTable[isNew ? kept + 1 : kept];
        final long[] fromNs = new long[tables.length];
        System.arraycopy(before.tables, first, tables, 0, kept);
        System.arraycopy(before.fromNs, first, fromNs, 0, kept);
        if (isNew) {
            tables[kept] = table;
            fromNs[kept] = nowNs;
        }
        moments = new Moments(tables, fromNs, isSure ? nowNs : before.knownNs);
    }

    /**
     * The way out that an address had since a time.
     *
     * @param high    as in {@link RouteTable#egress}.
     * @param low     as in {@link RouteTable#egress}.
     * @param sinceNs when the packet came.
     * @param likely  interface to prefer where there are several; 0 for none.
     * @return index of an interface, {@link RouteTable#NONE}, {@link RouteTable#UNKNOWN} or {@link #CHANGING}.
     */
    public int egress(final boolean isIpv6, final long high, final long low, final long sinceNs, final int likely) {
        final Moments now = moments;
        if (now.tables.length == 0 || sinceNs < now.fromNs[0] || sinceNs > now.knownNs) {
            return CHANGING;
        }
        int answer = CHANGING;
        for (int i = now.tables.length - 1; i >= 0; i--) {
            final RouteTable table = now.tables[i];
            final int found = table.egress(isIpv6, high, low);
            final int egress = table.interfaceCount(found) < 2 ? found :
                table.isAmong(found, likely) ? likely : RouteTable.UNKNOWN;
            if (answer != CHANGING && answer != egress) {
                return CHANGING;
            }
            answer = egress;
            if (now.fromNs[i] <= sinceNs) {
                break;
            }
        }
        return answer;
    }
}
