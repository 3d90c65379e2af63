package io.flowlag.exporter.capture.route;

import io.flowlag.common.config.Prefix;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/**
 * The routes as the kernel has them, up to a number. A change that leaves in doubt what the kernel has now is refused, and a
 * dump has to tell. One thread; allocates.
 */
final class Routes {
    /** The order in which the kernel looks at routes of one prefix; those that are equal stay in the order of the dump. */
    private static final Comparator<Route> ORDER =
        Comparator.comparingInt(Route::table).reversed().thenComparingLong(Route::metric);
    /** Before all others: multicast is forwarded by other tables, and a broadcast to all is not forwarded. */
    private static final List<Route> FIXED = List.of(
        new Route(Prefix.of("224.0.0.0/4"), Route.LOCAL, Route.FIRST - 1, List.of(), false, false),
        new Route(Prefix.of("255.255.255.255"), Route.LOCAL, Route.FIRST - 1, List.of(), true, false),
        new Route(Prefix.of("ff00::/8"), Route.LOCAL, Route.FIRST - 1, List.of(), false, false));

    private final Map<Prefix, List<Route>> byPrefix = new HashMap<>();
    private final int maxRoutes;
    private int count;
    private int refusedCount;

    /** None; takes up to a number of routes. */
    Routes(final int maxRoutes) {
        this.maxRoutes = maxRoutes;
        FIXED.forEach(route -> byPrefix.put(route.prefix(), List.of(route)));
    }

    int count() {
        return count;
    }

    /** {@return how many routes had no room: answers are unknown then} */
    int refusedCount() {
        return refusedCount;
    }

    /** Returns whether the result is what the kernel has; if not, nothing changes. */
    boolean apply(final Route route, final RouteHandler.Change change) {
        if (change == RouteHandler.Change.DUMPED) {
            add(route);
            return true;
        }
        final List<Route> same = routes(route.prefix()).stream().filter(route::hasKeyOf).toList();
        if (change == RouteHandler.Change.DELETED) {
            if (same.size() != 1 || !same.get(0).equals(route)) {
                return false;
            }
            remove(same.get(0));
            return true;
        }
        if (same.size() > 1 || same.size() == 1 && change == RouteHandler.Change.ADDED) {
            return false;
        }
        same.forEach(this::remove);
        add(route);
        return true;
    }

    private List<Route> routes(final Prefix prefix) {
        return byPrefix.getOrDefault(prefix, List.of());
    }

    private void add(final Route route) {
        if (count == maxRoutes) {
            refusedCount++;
            return;
        }
        final List<Route> routes = new ArrayList<>(routes(route.prefix()));
        routes.add(route);
        routes.sort(ORDER);
        byPrefix.put(route.prefix(), List.copyOf(routes));
        count++;
    }

    private void remove(final Route route) {
        final List<Route> routes = new ArrayList<>(routes(route.prefix()));
        routes.remove(route);
        if (routes.isEmpty()) {
            byPrefix.remove(route.prefix());
        } else {
            byPrefix.put(route.prefix(), List.copyOf(routes));
        }
        count--;
    }

    /** {@return for each prefix of a family one route, which says what the kernel does; ascending, a longer prefix later} */
    List<Route> effective(final boolean isIpv6) {
        final List<Route> effective = new ArrayList<>();
        byPrefix.forEach((prefix, routes) -> {
            final List<Route> live = prefix.isIpv6() != isIpv6 ? List.of() :
                routes.stream().filter(route -> !route.isDead()).toList();
            if (!live.isEmpty()) {
                effective.add(isIpv6 ? merge(live) : live.get(0));
            }
        });
        effective.sort(Comparator.comparing(Route::prefix, Routes::compare));
        return effective;
    }

    private static int compare(final Prefix one, final Prefix other) {
        final int high = Long.compareUnsigned(one.high(), other.high());
        final int order = high != 0 ? high : Long.compareUnsigned(one.low(), other.low());
        return order != 0 ? order : Integer.compare(one.lengthBits(), other.lengthBits());
    }

    /** Of IPv6 routes that are equally good the kernel may take any. */
    private static Route merge(final List<Route> live) {
        final Route first = live.get(0);
        final TreeSet<Integer> interfaces = new TreeSet<>();
        boolean isKnown = true;
        for (final Route route : live) {
            if (route.hasKeyOf(first)) {
                isKnown &= route.isKnown() && route.interfaces().isEmpty() == first.interfaces().isEmpty();
                interfaces.addAll(route.interfaces());
            }
        }
        return new Route(first.prefix(), first.table(), first.metric(), List.copyOf(interfaces), isKnown, false);
    }
}
