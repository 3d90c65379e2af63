package io.flowlag.exporter.runtime.run;

import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ExporterConfig;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

class LongerWaitTest {
    private static final long MS_NS = 1_000_000;

    private final ExporterConfig config = config("200ms");
    private final LongerWait wait = new LongerWait(config.segment().maximumDelayNs());

    private static ExporterConfig config(final String maximumDelay) {
        return new ConfigLoader().text("test", "segment: {role: receiver, max-delay: " + maximumDelay +
            "}\nexchange: {listen: 127.0.0.1:5555}").conclude();
    }

    private static long waitMs(final ExporterConfig each) {
        return each.segment().maximumDelayNs() / MS_NS;
    }

    @Test
    void shouldDoubleWhileThereIsRoomAndOneInAThousandComesLate() {
        ExporterConfig now = config;
        long received = 0;
        long late = 0;
        for (final long wantedMs : new long[] {400, 500}) {
            assertNull(wait.look(now, late, received += 1_000_000), "none");
            assertNull(wait.look(now, late += 100, received += 100_000), "one in 1000");
            now = wait.look(now, late += 101, received += 100_000);
            assertEquals(wantedMs, waitMs(now));
            wait.reached(now);
        }
        assertNull(wait.look(now, late + 100_000, received + 100_000), "what the exchange leaves of six intervals");
        assertEquals(500, waitMs(wait.keep(config)), "read again");
        final ExporterConfig other = config("300ms");
        assertSame(other, wait.keep(other), "another one was written into the file");
    }

    @Test
    void shouldStayAsItIsOnceRefused() {
        assertEquals(400, waitMs(wait.look(config, 10, 10)));
        wait.refused();
        assertNull(wait.look(config, 20, 20));
        assertSame(config, wait.keep(config));
    }
}
