package io.flowlag.exporter.delay;

import io.flowlag.exporter.config.ExporterConfig.Role;
import io.flowlag.rli.reference.ErrorEstimate;
import io.flowlag.rli.reference.ReferenceSession;
import org.junit.jupiter.api.Test;

import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

class ClockDifferenceTest {
    private static final long OWN_NS = 1_000_000;

    private static ClockDifference of(final Role role, final long ownNs) {
        return new ClockDifference(new DelayWiring(
            role,
            new DelayWiring.References(
                ReferenceMode.SENT, List.of(ReferenceSession.unauthenticated(1), ReferenceSession.unauthenticated(2))),
            ClockError.fixed(ownNs), true, false, false, false), 1, 2);
    }

    @Test
    void shouldKeepTheClocksOfSendersApart() {
        final ClockDifference clocks = new ClockDifference(new DelayWiring(
            Role.RECEIVER, new DelayWiring.References(ReferenceMode.PASSIVE, List.of()), ClockError.fixed(OWN_NS), true,
            false, false, false), 3, 2);
        clocks.onSender(0, ErrorEstimate.of(500, true));
        assertEquals(OWN_NS + ErrorEstimate.errorNs(ErrorEstimate.of(500, true)), clocks.errorNs());
        clocks.onSender(2, ErrorEstimate.of(0, false));
        assertEquals(OWN_NS + ErrorEstimate.errorNs(ErrorEstimate.of(500, true)), clocks.errorNs(0), "its own clock is well");
        assertTrue(clocks.errorNs(1) < 0, "it has said nothing");
        assertTrue(clocks.errorNs(2) < 0, "it knows nothing");
        assertTrue(clocks.errorNs() < 0);
        clocks.onReference(1, ErrorEstimate.of(9_000, true));
        assertEquals(OWN_NS + ErrorEstimate.errorNs(ErrorEstimate.of(9_000, true)), clocks.errorNs(0), "the worse of the two");
    }

    @Test
    void shouldAddWhatTheSendersSay() {
        final ClockDifference clocks = of(Role.RECEIVER, OWN_NS);
        assertTrue(clocks.errorNs() < 0, "no sender has said anything");

        clocks.onReference(0, ErrorEstimate.of(500, true));
        assertEquals(OWN_NS + ErrorEstimate.errorNs(ErrorEstimate.of(500, true)), clocks.errorNs());
        clocks.onReference(1, ErrorEstimate.of(7_000, true));
        assertEquals(OWN_NS + ErrorEstimate.errorNs(ErrorEstimate.of(7_000, true)), clocks.errorNs());
    }

    @Test
    void shouldNotKnowIfAnyClockIsNotSynchronized() {
        final ClockDifference clocks = of(Role.RECEIVER, OWN_NS);
        clocks.onReference(0, ErrorEstimate.of(500, true));
        clocks.onReference(1, ErrorEstimate.of(500, false));
        assertTrue(clocks.errorNs() < 0);
        clocks.onReference(1, ErrorEstimate.of(500, true));
        assertTrue(clocks.errorNs() > OWN_NS);

        final ClockDifference unknown = of(Role.RECEIVER, -1);
        unknown.onReference(0, ErrorEstimate.of(500, true));
        assertTrue(unknown.errorNs() < 0);
    }

    @Test
    void shouldHaveOneClockInOneProcess() {
        assertEquals(0, of(Role.BOTH, 0).errorNs());
        assertEquals(OWN_NS, of(Role.SENDER, OWN_NS).errorNs());
    }
}
