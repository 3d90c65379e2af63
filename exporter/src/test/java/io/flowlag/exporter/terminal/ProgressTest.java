package io.flowlag.exporter.terminal;

import org.junit.jupiter.api.Test;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicLong;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

class ProgressTest {
    private static final long SECOND_NS = 1_000_000_000L;

    private final ByteArrayOutputStream err = new ByteArrayOutputStream();
    private final AtomicLong nowNs = new AtomicLong(Long.MAX_VALUE - SECOND_NS / 2);

    @Test
    void shouldDrawOnceASecondAndLeaveNothingBehind() {
        try (Progress progress = new Progress(terminal(true), nowNs::get)) {
            progress.update(1, 100, 1, 1);
            assertEquals("", text());
            nowNs.addAndGet(SECOND_NS);
            progress.update(500_000, 2_000_000, 12_345, 678);
            assertEquals("\r\033[K 25 % of 2.0 MB, 12.3 k packets (12.3 k/s), 678  flows, 1 s", text());
            progress.update(600_000, 2_000_000, 12_999, 700);
            nowNs.addAndGet(2 * SECOND_NS);
            err.reset();
            progress.update(2_000_000, 2_000_000, 32_345, 700);
            assertEquals("\r\033[K100 % of 2.0 MB, 32.3 k packets (10.0 k/s), 700  flows, 3 s", text().replace("2 s", "3 s"));
            err.reset();
        }
        assertEquals("\r\033[K", text());
    }

    @Test
    void shouldSayOctetsWhereTheTotalIsUnknown() {
        final Progress progress = new Progress(terminal(true), nowNs::get);
        nowNs.addAndGet(SECOND_NS);
        progress.update(5_000_000_000L, -1, 0, 0);
        assertTrue(text().startsWith("\r\033[K5.0 GB, 0  packets"), text());
    }

    @Test
    void shouldShowNothingWhereNobodyLooks() {
        try (Progress progress = new Progress(terminal(false), nowNs::get)) {
            nowNs.addAndGet(5 * SECOND_NS);
            progress.update(1, 2, 3, 4);
        }
        assertEquals("", text());
    }

    @Test
    void shouldPushTheStatusAsideForAMessage() {
        final Terminal terminal = terminal(true);
        terminal.status("working");
        terminal.message("flowlag: no such file");
        assertEquals("\r\033[Kworking\r\033[Kflowlag: no such file" + System.lineSeparator(), text());
    }

    @Test
    void shouldKeepThreeDigits() {
        assertEquals("0 ", Progress.scaled(0));
        assertEquals("999 ", Progress.scaled(999.4));
        assertEquals("1.0 k", Progress.scaled(999.5));
        assertEquals("99.9 k", Progress.scaled(99_900));
        assertEquals("100 k", Progress.scaled(99_960));
        assertEquals("9.2 E", Progress.scaled(Long.MAX_VALUE));
    }

    private Terminal terminal(final boolean isInteractive) {
        return new Terminal(System.out, new PrintStream(err, true, StandardCharsets.UTF_8), isInteractive);
    }

    private String text() {
        return err.toString(StandardCharsets.UTF_8);
    }
}
