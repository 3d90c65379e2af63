package io.flowlag.exporter.capture.route;

import io.flowlag.common.config.Prefix;
import org.junit.jupiter.api.Test;

import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;

class RouteHistoryTest {
    private static final long MS = 1_000_000L;
    private static final Prefix ADDRESS = Prefix.of("10.1.0.1");

    private final RouteHistory history = new RouteHistory(1000 * MS);

    private static RouteTable table(final Integer... interfaces) {
        final Routes routes = new Routes(10);
        routes.apply(new Route(Prefix.of("10.1.0.0/16"), Route.MAIN, 0, List.of(interfaces), true, false),
            RouteHandler.Change.DUMPED);
        return new RouteTable(routes, true, true);
    }

    private int egress(final long sinceMs, final int likely) {
        return history.egress(false, ADDRESS.high(), ADDRESS.low(), sinceMs * MS, likely);
    }

    private int egress(final long sinceMs) {
        return egress(sinceMs, 0);
    }

    @Test
    void shouldKnowNothingBeforeTheFirstTable() {
        assertEquals(RouteHistory.CHANGING, egress(5));
        history.add(table(3), true, 10 * MS);
        history.add(table(3), true, 20 * MS);
        assertEquals(RouteHistory.CHANGING, egress(9), "there was no table yet");
        assertEquals(3, egress(12));
    }

    @Test
    void shouldTellOfARouteThatDidNotChangeSince() {
        final RouteTable first = table(3);
        history.add(first, true, 0);
        history.add(first, true, 50 * MS);
        history.add(table(4), true, 60 * MS);
        assertEquals(RouteHistory.CHANGING, egress(40), "lost by the old route or the new one");
        assertEquals(4, egress(60));
        assertEquals(RouteHistory.CHANGING, egress(61), "the table may be old by now");
    }

    @Test
    void shouldTellOfAnAddressWhoseRouteStaysWhileOthersChange() {
        history.add(table(3), true, 0);
        history.add(table(3), true, 50 * MS);
        assertEquals(3, egress(10));
    }

    @Test
    void shouldWaitWhileTheTableIsInDoubt() {
        final RouteTable table = table(3);
        history.add(table, true, 10 * MS);
        history.add(table, false, 30 * MS);
        assertEquals(3, egress(10));
        assertEquals(RouteHistory.CHANGING, egress(20));
        history.add(table, true, 40 * MS);
        assertEquals(3, egress(20));
    }

    @Test
    void shouldTakeTheLikelyOneOfSeveralWaysOut() {
        history.add(table(3, 4), true, 0);
        assertEquals(RouteTable.UNKNOWN, egress(0));
        assertEquals(4, egress(0, 4));
        assertEquals(RouteTable.UNKNOWN, egress(0, 5));
    }

    @Test
    void shouldForgetOldTables() {
        for (int i = 0; i < 40; i++) {
            history.add(table(3), true, i * MS);
        }
        assertEquals(RouteHistory.CHANGING, egress(10), "more changes than are kept");
        assertEquals(3, egress(30));
        history.add(table(3), true, 3000 * MS);
        assertEquals(RouteHistory.CHANGING, egress(30), "too long ago");
        assertEquals(3, egress(3000));
    }
}
