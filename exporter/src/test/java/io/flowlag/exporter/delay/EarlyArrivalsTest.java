package io.flowlag.exporter.delay;

import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

class EarlyArrivalsTest {
    private static final long LEAD_NS = 1000;

    private final EarlyArrivals early = new EarlyArrivals(LEAD_NS);

    @Test
    void shouldFindAPacketThatArrivedFirstOnce() {
        early.onReceived(7, 100, 60);

        final int place = early.onSent(7, 400);
        assertEquals(100, early.arrivalNs(place));
        assertEquals(60, early.lengthBytes(place));
        assertTrue(early.onSent(7, 401) < 0);
    }

    /** Otherwise a copy that is sent later would be taken for the packet that arrived. */
    @Test
    void shouldNotRememberAPacketThatTheSenderPointSawFirst() {
        assertTrue(early.onSent(7, 100) < 0);
        early.onReceived(7, 200, 60);

        assertTrue(early.onSent(7, 300) < 0);
    }

    @Test
    void shouldForgetAPacketAfterTheLongestLead() {
        early.onReceived(7, 100, 60);

        assertTrue(early.onSent(7, 101 + LEAD_NS) < 0);
    }

    @Test
    void shouldTakeTheFirstOfPacketsWithEqualDigests() {
        early.onReceived(7, 100, 60);
        early.onReceived(7, 200, 60);

        assertEquals(100, early.arrivalNs(early.onSent(7, 300)));
    }

    @Test
    void shouldGiveAPlaceToTheLaterPacket() {
        final long other = 7 | 1L << 40;
        early.onReceived(7, 100, 60);
        early.onReceived(other, 200, 61);

        assertEquals(61, early.lengthBytes(early.onSent(other, 300)));
        assertTrue(early.onSent(7, 300) < 0);
    }
}
