package io.flowlag.exporter.capture.route;

import io.flowlag.common.config.Prefix;
import org.agrona.collections.IntArrayList;
import org.agrona.collections.LongArrayList;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Which interfaces an address leaves by, as the kernel's routes of one moment say: the longest prefix wins, then the lowest
 * metric. Immutable: any thread may ask, and asking allocates nothing. The routes are kept as ranges of addresses with the same
 * answer, at most two a route, 20 octets each.
 */
public final class RouteTable {
    /** The address does not leave the host: it is local, has no route, or its packets are discarded. */
    public static final int NONE = 0;
    /** The routes do not say, or not the destination alone decides. */
    public static final int UNKNOWN = -1;
    /** No route is known. */
    static final RouteTable EMPTY = new RouteTable(new Routes(0), false, false);

    private static final int FIRST_SET = UNKNOWN - 1;

    private final int[][] interfaces;
    private final Ranges ipv4;
    private final Ranges ipv6;

    /** Takes a copy of what the routes say of the families that are known; of the other one everything is unknown. */
    RouteTable(final Routes routes, final boolean isIpv4Known, final boolean isIpv6Known) {
        final boolean isWhole = routes.refusedCount() == 0;
        final Map<List<Integer>, Integer> sets = new LinkedHashMap<>();
        ipv4 = new Ranges(isIpv4Known && isWhole ? routes.effective(false) : List.of(unknown(false)), sets);
        ipv6 = new Ranges(isIpv6Known && isWhole ? routes.effective(true) : List.of(unknown(true)), sets);
        interfaces = sets.keySet().stream().map(set -> set.stream().mapToInt(Integer::intValue).toArray())
            .toArray(int[][]::new);
    }

    private static Route unknown(final boolean isIpv6) {
        return new Route(new Prefix(isIpv6, 0, 0, 0), Route.MAIN, 0, List.of(), false, false);
    }

    /**
     * The way out of an address.
     *
     * @param high first eight octets of the address; 0 for IPv4.
     * @param low  last eight octets; for IPv4 the address.
     * @return index of the interface, {@link #NONE}, {@link #UNKNOWN}, or a lower number for one of several interfaces: see
     *     {@link #isAmong}.
     */
    public int egress(final boolean isIpv6, final long high, final long low) {
        return (isIpv6 ? ipv6 : ipv4).find(high, low);
    }

    /** {@return how many interfaces an answer of {@link #egress} means; 0 if none or unknown} */
    public int interfaceCount(final int egress) {
        return egress <= FIRST_SET ? interfaces[FIRST_SET - egress].length : egress > 0 ? 1 : 0;
    }

    /** {@return whether an interface is one of those that an answer of {@link #egress} means} */
    public boolean isAmong(final int egress, final int interfaceIndex) {
        if (egress > FIRST_SET) {
            return egress > 0 && egress == interfaceIndex;
        }
        for (final int among : interfaces[FIRST_SET - egress]) {
            if (among == interfaceIndex) {
                return true;
            }
        }
        return false;
    }

    /** Ranges of one family: where each begins, ascending, and its answer. The first begins at 0. */
    private static final class Ranges {
        private final LongArrayList highs = new LongArrayList();
        private final LongArrayList lows = new LongArrayList();
        private final IntArrayList answers = new IntArrayList();

        /** Sweeps over routes that ascend; numbers sets of interfaces as they come. */
        private Ranges(final List<Route> effective, final Map<List<Integer>, Integer> sets) {
            final Deque<Range> open = new ArrayDeque<>();
            open.push(new Range(-1L, -1L, NONE, false));
            begin(0, 0, NONE);
            for (final Route route : effective) {
                final Prefix prefix = route.prefix();
                while (open.peek().endsBefore(prefix)) {
                    close(open);
                }
                open.push(range(route, open.peek(), sets));
                begin(prefix.high(), prefix.low(), open.peek().answer);
            }
            while (open.size() > 1) {
                close(open);
            }
            highs.trimToSize();
            lows.trimToSize();
            answers.trimToSize();
        }

        private void close(final Deque<Range> open) {
            final Range ended = open.pop();
            final long low = ended.low + 1;
            final long high = low == 0 ? ended.high + 1 : ended.high;
            if ((high | low) != 0) {
                begin(high, low, open.peek().answer);
            }
        }

        private void begin(final long high, final long low, final int answer) {
            final int last = answers.size() - 1;
            if (last >= 0 && highs.getLong(last) == high && lows.getLong(last) == low) {
                answers.setInt(last, answer);
            } else if (last < 0 || answers.getInt(last) != answer) {
                highs.addLong(high);
                lows.addLong(low);
                answers.addInt(answer);
            }
        }

        /**
         * The local table comes first, but the kernel may look at it together with the main table for IPv4: then a longer prefix
         * of the main table wins. Which of the two it does cannot be seen from outside.
         */
        private static Range range(final Route route, final Range outer, final Map<List<Integer>, Integer> sets) {
            final Prefix prefix = route.prefix();
            final boolean isLocal = route.table() == Route.LOCAL;
            final int answer = isLocal || !outer.isLocal ? answer(route, sets) : prefix.isIpv6() ? outer.answer : UNKNOWN;
            final int hostBits = (prefix.isIpv6() ? 2 * Long.SIZE : Integer.SIZE) - prefix.lengthBits();
            return new Range(prefix.high() | ones(hostBits - Long.SIZE), prefix.low() | ones(hostBits), answer,
                isLocal || outer.isLocal);
        }

        private static int answer(final Route route, final Map<List<Integer>, Integer> sets) {
            final List<Integer> interfaces = route.interfaces();
            if (!route.isKnown()) {
                return UNKNOWN;
            }
            if (interfaces.size() < 2) {
                return interfaces.isEmpty() ? NONE : interfaces.get(0);
            }
            return FIRST_SET - sets.computeIfAbsent(interfaces, set -> sets.size());
        }

        private int find(final long high, final long low) {
            int begin = 0;
            int end = answers.size();
            while (end - begin > 1) {
                final int middle = begin + end >>> 1;
                final int order = Long.compareUnsigned(highs.getLong(middle), high);
                if (order < 0 || order == 0 && Long.compareUnsigned(lows.getLong(middle), low) <= 0) {
                    begin = middle;
                } else {
                    end = middle;
                }
            }
            return answers.getInt(begin);
        }
    }

    /** {@return the last bits set: none if the count is not positive, all from 64 on} */
    private static long ones(final int count) {
        return count <= 0 ? 0 : -1L >>> Math.max(0, Long.SIZE - count);
    }

    /** A range that a prefix opened; high and low are its last address. */
    private record Range(long high, long low, int answer, boolean isLocal) {
        private boolean endsBefore(final Prefix prefix) {
            final int order = Long.compareUnsigned(high, prefix.high());
            return order < 0 || order == 0 && Long.compareUnsigned(low, prefix.low()) < 0;
        }
    }
}
