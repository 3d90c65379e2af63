package io.flowlag.exporter.capture.route;

import java.util.ArrayList;
import java.util.List;

/**
 * Follows the kernel's routes and publishes a {@link RouteTable} of them. For segments that are made of the routes: a lost packet
 * has no egress interface, so the route of its destination tells the segment that lost it.
 * <p>
 * Notifications of single routes are applied as they come. Others (links, addresses, rules, next-hop objects), lost ones, and
 * those that leave a doubt lead to a new dump. So routes that the kernel deletes without a notification, as it does when a link
 * goes down, go away about 0.1 s later. Dumps take a tenth of the time at most. What the kernel learns for single hosts, such as
 * redirects, is not followed.
 * <p>
 * One thread polls; any thread may read the table and the counters. Allocates; about 300 octets of heap a route.
 */
public final class RouteFollower implements AutoCloseable {
    private static final int MAX_DATAGRAMS = 64;
    /** The kernel tells of a link before it deletes the routes over it. */
    private static final long SETTLE_NS = 100_000_000L;
    private static final long STUCK_NS = 5_000_000_000L;
    private static final int PAUSES_PER_DUMP = 10;
    private static final long PUBLISH_PAUSE_NS_PER_ROUTE = 10_000L;
    /** Bits of the rules of a family: one for each table, and one for a rule that is no default rule. */
    private static final int RULE_MAIN = 1 << Route.MAIN - Route.DEFAULT;
    private static final int RULE_LOCAL = 1 << Route.LOCAL - Route.DEFAULT;
    private static final int RULE_OTHER = RULE_LOCAL << 1;

    /** What the kernel sends now. */
    private enum Dump { IDLE, RULES, RULES_DONE, ROUTES }

    private final RouteSocket socket;
    private final RouteReader reader = new RouteReader(new Handler());
    private final List<String> notices = new ArrayList<>();
    private final int maxRoutes;
    private Routes routes;
    private int ipv4Rules;
    private int ipv6Rules;
    private Dump dump = Dump.IDLE;
    private long nowNs;
    private long progressNs;
    private long dumpBeginNs;
    private long nextDumpNs;
    private long nextPublishNs;
    private long doubtNs;
    /** Whether the routes may differ from the kernel's. */
    private boolean isDoubtful = true;
    /** Whether the routes are all of a dump, with the changes since. */
    private boolean isWhole;
    private boolean isPublished;
    private boolean hasToldRules;
    private boolean hasToldRoutes;
    private volatile RouteTable table = RouteTable.EMPTY;
    private volatile long refusedCount;
    private volatile long overrunCount;
    private volatile long dumpCount;

    /**
     * Follows the routes of the calling thread's network namespace.
     *
     * @param maxRoutes that it keeps of IPv4 and IPv6 together; if there are more, every answer is unknown.
     * @param timeNs    of a clock that never goes back.
     * @throws io.flowlag.exporter.capture.CaptureException if the kernel does not offer them.
     */
    public RouteFollower(final int maxRoutes, final long timeNs) {
        this.maxRoutes = maxRoutes;
        routes = new Routes(maxRoutes);
        nextDumpNs = timeNs;
        nextPublishNs = timeNs;
        doubtNs = timeNs - SETTLE_NS;
        socket = new RouteSocket();
    }

    /** {@return the routes as last published; before the first dump all is unknown} */
    public RouteTable table() {
        return table;
    }

    /** {@return whether the table is what the kernel had at the last {@link #poll}, as far as it told; for the polling thread} */
    public boolean isSure() {
        return isPublished && !isDoubtful && dump == Dump.IDLE;
    }

    /** {@return routes that the table has no room for; if there are any, every answer is unknown} */
    public long refusedCount() {
        return refusedCount;
    }

    /** {@return how often the kernel dropped notifications because they were not taken in time} */
    public long overrunCount() {
        return overrunCount;
    }

    /** {@return how often all routes were read} */
    public long dumpCount() {
        return dumpCount;
    }

    /** {@return new notices, each once; for the polling thread} */
    public List<String> notices() {
        final List<String> told = List.copyOf(notices);
        notices.clear();
        return told;
    }

    /**
     * Takes what the kernel sent, without waiting, and publishes a new table if something changed.
     *
     * @param timeNs of the clock.
     * @return how many datagrams it took.
     */
    public int poll(final long timeNs) {
        nowNs = timeNs;
        final int datagrams = receive();
        if (dump == Dump.RULES_DONE) {
            routes = new Routes(maxRoutes);
            request(RouteSocket.GET_ROUTE, Dump.ROUTES);
        } else if (dump != Dump.IDLE && nowNs - progressNs > STUCK_NS) {
            fail();
        } else if (dump == Dump.IDLE && isDoubtful && nowNs - nextDumpNs >= 0) {
            beginDump();
        }
        if (dump == Dump.IDLE && isWhole && !isPublished && nowNs - nextPublishNs >= 0) {
            publish();
        }
        return datagrams;
    }

    private int receive() {
        int datagrams = 0;
        for (; datagrams < MAX_DATAGRAMS; datagrams++) {
            final int lengthBytes = socket.receive();
            if (lengthBytes == 0) {
                break;
            }
            progressNs = nowNs;
            if (lengthBytes == RouteSocket.OVERRUN) {
                overrunCount++;
                doubt();
            } else {
                reader.read(socket.buffer(), lengthBytes);
            }
        }
        return datagrams;
    }

    /** A dump follows once the change has settled. */
    private void doubt() {
        if (!isDoubtful) {
            isDoubtful = true;
            nextDumpNs = Math.max(nextDumpNs, nowNs + SETTLE_NS);
        }
        doubtNs = nowNs;
    }

    /** A doubt that has not settled stays, so that another dump follows this one. */
    private void beginDump() {
        isDoubtful = nowNs - doubtNs < SETTLE_NS;
        dumpBeginNs = nowNs;
        ipv4Rules = 0;
        ipv6Rules = 0;
        request(RouteSocket.GET_RULE, Dump.RULES);
    }

    private void request(final int type, final Dump next) {
        isWhole = false;
        progressNs = nowNs;
        dump = next;
        if (!socket.requestDump(type)) {
            fail();
        }
    }

    private void fail() {
        endDump();
        isDoubtful = true;
        doubtNs = nowNs;
    }

    private void endDump() {
        dump = Dump.IDLE;
        nextDumpNs = nowNs + Math.max(SETTLE_NS, PAUSES_PER_DUMP * (nowNs - dumpBeginNs));
    }

    private void publish() {
        isPublished = true;
        nextPublishNs = nowNs + PUBLISH_PAUSE_NS_PER_ROUTE * routes.count();
        table = new RouteTable(routes, isDefault(ipv4Rules), isDefault(ipv6Rules));
        refusedCount = routes.refusedCount();
        if (!hasToldRules && (ipv4Rules != 0 && !isDefault(ipv4Rules) || ipv6Rules != 0 && !isDefault(ipv6Rules))) {
            hasToldRules = true;
            notices.add("routing rules choose by more than the destination (ip rule): the segment of a lost packet is unknown");
        }
        if (!hasToldRoutes && refusedCount > 0) {
            hasToldRoutes = true;
            notices.add("the kernel has more than " + maxRoutes + " routes: the segment of a lost packet is unknown");
        }
    }

    /** Whether local and main are looked up, in this order, and nothing else but the table that follows them by default. */
    private static boolean isDefault(final int rules) {
        return (rules & (RULE_LOCAL | RULE_MAIN | RULE_OTHER)) == (RULE_LOCAL | RULE_MAIN);
    }

    @Override
    public void close() {
        socket.close();
    }

    /** What the reader finds; on the polling thread. */
    private final class Handler implements RouteHandler {
        @Override
        public void onRoute(final Route route, final Change change) {
            if (change == Change.DUMPED && dump != Dump.ROUTES) {
                return;
            }
            final boolean isSure = routes.apply(route, change);
            isPublished &= !isSure;
            // The kernel does not go on exactly where it was in a tree of IPv6 that changed during a dump.
            if (!isSure || change != Change.DUMPED && dump != Dump.IDLE && route.prefix().isIpv6()) {
                doubt();
            }
        }

        @Override
        public void onRule(final boolean isIpv6, final int table) {
            final int bit = table == 0 ? RULE_OTHER : 1 << table - Route.DEFAULT;
            ipv4Rules |= dump == Dump.RULES && !isIpv6 ? bit : 0;
            ipv6Rules |= dump == Dump.RULES && isIpv6 ? bit : 0;
        }

        @Override
        public void onDumpEnd(final boolean isSuccess) {
            if (!isSuccess) {
                if (dump == Dump.IDLE) {
                    doubt();
                } else {
                    fail();
                }
            } else if (dump == Dump.RULES) {
                dump = Dump.RULES_DONE;
            } else if (dump == Dump.ROUTES) {
                endDump();
                isWhole = true;
                isPublished = false;
                dumpCount++;
            }
        }

        @Override
        public void onDoubt() {
            doubt();
        }
    }
}
