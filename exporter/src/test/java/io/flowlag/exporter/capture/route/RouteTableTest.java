package io.flowlag.exporter.capture.route;

import com.sun.management.ThreadMXBean;
import io.flowlag.common.config.Prefix;
import io.flowlag.exporter.capture.route.RouteHandler.Change;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** The table against a list of routes that is searched from its beginning to its end. */
class RouteTableTest {
    private static final int MAX_ROUTES = 1000;
    private static final int MAX_INTERFACE = 4;
    private static final Set<Integer> UNKNOWN = Set.of(-1);
    private static final List<Route> FIXED = List.of(
        new Route(Prefix.of("224.0.0.0/4"), Route.LOCAL, -2, List.of(), false, false),
        new Route(Prefix.of("255.255.255.255"), Route.LOCAL, -2, List.of(), true, false),
        new Route(Prefix.of("ff00::/8"), Route.LOCAL, -2, List.of(), false, false));

    private record Step(Route route, Change change) {
    }

    @Property(tries = 2_000)
    void shouldAnswerAsAListOfRoutes(@ForAll("steps") final List<Step> steps, @ForAll final long seed) {
        final Routes routes = new Routes(MAX_ROUTES);
        final List<Route> list = new ArrayList<>();
        for (final Step step : steps) {
            assertEquals(change(list, step), routes.apply(step.route, step.change));
        }
        assertEquals(list.size(), routes.count());
        final RouteTable table = new RouteTable(routes, true, true);
        final SplittableRandom random = new SplittableRandom(seed);
        list.addAll(FIXED);
        for (final Route route : list) {
            final Prefix prefix = route.prefix();
            final int hostBits = (prefix.isIpv6() ? 128 : 32) - prefix.lengthBits();
            final long highBits = hostBits <= 64 ? 0 : hostBits == 128 ? -1L : (1L << hostBits - 64) - 1;
            final long lowBits = hostBits >= 64 ? -1L : (1L << hostBits) - 1;
            for (final long delta : new long[] {-1, 0, 1, random.nextLong() & lowBits}) {
                check(table, list, prefix.isIpv6(), prefix.high(), prefix.low() + delta);
                check(table, list, prefix.isIpv6(), prefix.high() | highBits, (prefix.low() | lowBits) + delta);
            }
            check(table, list, prefix.isIpv6(), random.nextLong(), random.nextLong());
        }
    }

    private static void check(
        final RouteTable table, final List<Route> list, final boolean isIpv6, final long high, final long low) {
        final long addressHigh = isIpv6 ? high : 0;
        final long addressLow = isIpv6 ? low : low & 0xffff_ffffL;
        final int egress = table.egress(isIpv6, addressHigh, addressLow);
        assertEquals(expected(list, isIpv6, addressHigh, addressLow), answer(egress, table));
    }

    private static Set<Integer> answer(final int egress, final RouteTable table) {
        if (egress == RouteTable.UNKNOWN) {
            assertEquals(0, table.interfaceCount(egress));
            return UNKNOWN;
        }
        final Set<Integer> interfaces = new HashSet<>();
        for (int i = 0; i <= MAX_INTERFACE; i++) {
            if (table.isAmong(egress, i)) {
                interfaces.add(i);
            }
        }
        assertEquals(interfaces.size(), table.interfaceCount(egress));
        return interfaces;
    }

    /** Routes change as in the kernel, where this is sure. */
    private static boolean change(final List<Route> list, final Step step) {
        final Route route = step.route;
        final List<Route> same = list.stream().filter(other -> other.prefix().equals(route.prefix()) &&
            other.table() == route.table() && other.metric() == route.metric()).toList();
        final boolean isSure = switch (step.change) {
            case DUMPED -> true;
            case ADDED -> same.isEmpty();
            case REPLACED -> same.size() < 2;
            case DELETED -> same.equals(List.of(route));
        };
        if (isSure) {
            if (step.change != Change.DUMPED) {
                list.removeAll(same);
            }
            if (step.change != Change.DELETED) {
                list.add(route);
            }
        }
        return isSure;
    }

    private static Set<Integer> expected(final List<Route> list, final boolean isIpv6, final long high, final long low) {
        final List<Route> local = longest(list, isIpv6, high, low, true);
        final List<Route> main = longest(list, isIpv6, high, low, false);
        if (local.isEmpty()) {
            return expected(main);
        }
        final boolean isMainLonger = !main.isEmpty() &&
            main.get(0).prefix().lengthBits() > local.get(0).prefix().lengthBits();
        return isMainLonger && !isIpv6 ? UNKNOWN : expected(local);
    }

    /** Those that are equally good; of IPv4 the first. */
    private static List<Route> longest(
        final List<Route> list, final boolean isIpv6, final long high, final long low, final boolean isLocal) {
        final List<Route> matches = list.stream().filter(route -> (route.table() == Route.LOCAL) == isLocal && !route.isDead() &&
            route.prefix().contains(isIpv6, high, low)).toList();
        final Comparator<Route> order = Comparator.comparingInt((Route route) -> -route.prefix().lengthBits())
            .thenComparingLong(Route::metric);
        final Route best = matches.stream().min(order).orElse(null);
        return best == null ? List.of() : matches.stream().filter(route -> order.compare(route, best) == 0)
            .limit(isIpv6 ? Integer.MAX_VALUE : 1).toList();
    }

    private static Set<Integer> expected(final List<Route> best) {
        final Set<Integer> interfaces = new HashSet<>();
        best.forEach(route -> interfaces.addAll(route.interfaces()));
        final boolean isMixed = best.stream().map(route -> route.interfaces().isEmpty()).distinct().count() > 1;
        return isMixed || best.stream().anyMatch(route -> !route.isKnown()) ? UNKNOWN : interfaces;
    }

    @Provide
    Arbitrary<List<Step>> steps() {
        return Combinators.combine(routes(), Arbitraries.of(Change.class)).as(Step::new).list().ofMaxSize(60);
    }

    private static Arbitrary<Route> routes() {
        final Arbitrary<List<Integer>> interfaces =
            Arbitraries.integers().between(1, MAX_INTERFACE).set().ofMaxSize(3).map(set -> set.stream().sorted().toList());
        return Combinators.combine(prefixes(), Arbitraries.of(Route.LOCAL, Route.MAIN, Route.MAIN),
            Arbitraries.longs().between(-1, 2), interfaces, Arbitraries.integers().between(0, 9))
            .as((prefix, table, metric, indices, kind) -> new Route(prefix, table, metric, indices, kind != 0, kind == 1));
    }

    /** Few addresses, near the ends and each other, so that prefixes lie in each other. */
    private static Arbitrary<Prefix> prefixes() {
        final Arbitrary<Prefix> ipv4 = Combinators.combine(
            Arbitraries.of(0L, 0x0a000000L, 0x0a000080L, 0x0a800001L, 0xe0000005L, 0xffffffffL, 0xfffffffeL),
            Arbitraries.integers().between(0, 32)).as((address, length) ->
                new Prefix(false, 0, length == 0 ? 0 : address & -1L << 32 - length, length));
        final Arbitrary<Prefix> ipv6 = Combinators.combine(
            Arbitraries.of(0L, 0x20010db800000000L, 0x20010db800000001L, -1L), Arbitraries.of(0L, 1L, 1L << 63, -1L),
            Arbitraries.integers().between(0, 128)).as((high, low, length) -> new Prefix(true,
                length == 0 ? 0 : length < 64 ? high & -1L << 64 - length : high,
                length <= 64 ? 0 : low & -1L << 128 - length, length));
        return Arbitraries.oneOf(ipv4, ipv6);
    }

    @Test
    void shouldKnowNothingBeyondTheMaximum() {
        final Routes routes = new Routes(1);
        assertTrue(routes.apply(route("10.0.0.0/8", 1), Change.ADDED));
        assertEquals(1, new RouteTable(routes, true, true).egress(false, 0, 0x0a000001L));
        assertTrue(routes.apply(route("10.1.0.0/16", 2), Change.ADDED));
        assertEquals(1, routes.refusedCount());
        assertEquals(RouteTable.UNKNOWN, new RouteTable(routes, true, true).egress(false, 0, 0x0a000001L));
        assertFalse(routes.apply(route("10.1.0.0/16", 2), Change.DELETED));
    }

    @Test
    void shouldKnowNothingOfAFamilyWithOtherRules() {
        final Routes routes = new Routes(2);
        routes.apply(route("10.0.0.0/8", 1), Change.ADDED);
        routes.apply(route("2001:db8::/32", 2), Change.ADDED);
        assertEquals(RouteTable.UNKNOWN, new RouteTable(routes, false, true).egress(false, 0, 0x0a000001L));
        assertEquals(2, new RouteTable(routes, false, true).egress(true, 0x20010db8L << 32, 1));
        assertEquals(RouteTable.UNKNOWN, new RouteTable(routes, true, false).egress(true, 0x20010db8L << 32, 1));
        assertEquals(RouteTable.UNKNOWN, RouteTable.EMPTY.egress(false, 0, 0x0a000001L));
    }

    @Test
    void shouldAllocateNothingWhenAsked() {
        final Routes routes = new Routes(MAX_ROUTES);
        for (int i = 0; i < MAX_ROUTES; i++) {
            routes.apply(new Route(new Prefix(false, 0, (long)i << 16, 16), Route.MAIN, 0, List.of(1 + i % 3, 7 + i % 2), true,
                false), Change.ADDED);
        }
        final RouteTable table = new RouteTable(routes, true, true);
        final ThreadMXBean threads = (ThreadMXBean)ManagementFactory.getThreadMXBean();
        ask(table);
        threads.getCurrentThreadAllocatedBytes();
        final long before = threads.getCurrentThreadAllocatedBytes();
        ask(table);
        assertEquals(before, threads.getCurrentThreadAllocatedBytes());
    }

    private static void ask(final RouteTable table) {
        for (int i = 0; i < 10_000; i++) {
            final int egress = table.egress(i % 2 == 0, i, (long)i << 13);
            assertTrue(table.interfaceCount(egress) < 3 && !table.isAmong(egress, 100));
        }
    }

    private static Route route(final String prefix, final int interfaceIndex) {
        return new Route(Prefix.of(prefix), Route.MAIN, 0, List.of(interfaceIndex), true, false);
    }
}
