package io.flowlag.exporter.exchange.wire;

import io.flowlag.exporter.exchange.link.ExchangeFixture;
import io.flowlag.exporter.exchange.wire.ExchangeSettings.Content;
import io.flowlag.exporter.exchange.wire.ExchangeSettings.Injection;
import io.flowlag.exporter.exchange.wire.ExchangeSettings.Mode;
import org.junit.jupiter.api.Test;

import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

public class ModeChoiceTest {
    private static final int MOST_FLOWS = 1_000;

    public static ModeChoice auto(final int mostFlows) {
        return choice(Mode.AUTO, mostFlows);
    }

    private static ModeChoice choice(final Mode mode, final int mostFlows) {
        return new ModeChoice(new ExchangeSettings(1, 0, 1, 0, new Content(mode, 0, mostFlows), ExchangeFixture.SECRETS,
            ExchangeFixture.ALL_TRAFFIC, Injection.NONE, List.of()));
    }

    @Test
    void shouldNotChooseWhereTheModeIsFixed() {
        final ModeChoice cells = choice(Mode.CELLS, MOST_FLOWS);
        final ModeChoice flows = choice(Mode.FLOWS, MOST_FLOWS);
        for (int i = 0; i < 10; i++) {
            assertFalse(cells.isFlows(1, true));
            assertTrue(flows.isFlows(MOST_FLOWS, false));
        }
        assertEquals(0, cells.changes() + flows.changes());
    }

    @Test
    void shouldLeaveFlowsAtOnceAndComeBackWithPatience() {
        final ModeChoice auto = auto(MOST_FLOWS);
        assertTrue(auto.isFlows(MOST_FLOWS, true));
        assertFalse(auto.isFlows(MOST_FLOWS, false), "some had no room");
        for (int i = 0; i < 10; i++) {
            assertFalse(auto.isFlows(MOST_FLOWS * 4 / 5 + 1, true), "too near");
        }
        assertFalse(auto.isFlows(MOST_FLOWS * 4 / 5, true));
        assertFalse(auto.isFlows(MOST_FLOWS * 4 / 5, true));
        assertFalse(auto.isFlows(MOST_FLOWS, true), "begins anew");
        assertFalse(auto.isFlows(10, true));
        assertFalse(auto.isFlows(10, true));
        assertTrue(auto.isFlows(10, true));
        assertTrue(auto.isFlows(MOST_FLOWS, true), "and stays");
        assertEquals(2, auto.changes());
    }
}
