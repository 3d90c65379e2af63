package io.flowlag.station.view;

import io.flowlag.network.window.WindowHistogram;
import io.flowlag.station.schema.Alert;
import io.flowlag.station.schema.SegmentWindow;
import io.flowlag.station.schema.Source;
import io.flowlag.station.schema.Verdict;
import io.flowlag.station.view.WindowHistory.Kept;
import io.flowlag.station.view.WindowHistory.Series;
import io.flowlag.station.view.WindowHistory.Tier;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

import static io.flowlag.station.view.Samples.S;
import static io.flowlag.station.view.Samples.START_NS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

class WindowHistoryTest {
    private static final Series SERIES = new Series("backbone", "zrh-gva", 0);
    private static final long HOUR_NS = Tier.HOUR.lengthNs();

    @TempDir
    private Path directory;

    private Path file() {
        return directory.resolve("history.db");
    }

    /** Windows of 10 s from the start on, their means and packets from a seed. */
    private static List<SegmentWindow> tens(final int count, final long seed) {
        final Random random = new Random(seed);
        final List<SegmentWindow> windows = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            windows.add(Samples.window("zrh-gva", START_NS + i * 10 * S, 10).setPackets(1 + random.nextInt(5000))
                .setMeanNs(1e6 + random.nextInt(1_000_000)).build());
        }
        return windows;
    }

    /** All rows of the file but numbers of series, which are in the order of arrival. */
    private static String content(final Path file) throws SQLException {
        final StringBuilder content = new StringBuilder();
        try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file);
            Statement statement = connection.createStatement()) {
            for (final String question : List.of("SELECT hex(data), tier, start, end, windows FROM window ORDER BY 2, 3, 4, 1",
                "SELECT id, end, hex(data), 0, 0 FROM verdict ORDER BY id",
                "SELECT tier, start, 0, 0, 0 FROM due ORDER BY 1, 2")) {
                try (var answer = statement.executeQuery(question)) {
                    while (answer.next()) {
                        content.append(answer.getString(1)).append(' ').append(answer.getString(2)).append(' ')
                            .append(answer.getString(3)).append(' ').append(answer.getString(4)).append(' ')
                            .append(answer.getString(5)).append('\n');
                    }
                }
            }
        }
        return content.toString();
    }

    @Test
    void shouldBeTheSameAfterAReplay() throws Exception {
        final List<SegmentWindow> windows = tens(800, 5);
        final List<Verdict> verdicts = List.of(Samples.verdict(START_NS, 10, START_NS).build());
        final long nowNs = START_NS + 3 * HOUR_NS;
        try (WindowHistory history = new WindowHistory(file())) {
            history.write(windows, nowNs);
            history.write(verdicts, nowNs);
            final String first = content(file());
            assertTrue(first.lines().count() > 800 + 130 + 2, first.lines().count() + " rows");
            history.write(windows.subList(100, 600), nowNs + S);
            history.write(verdicts, nowNs + S);
            assertEquals(first, content(file()));
            final List<SegmentWindow> shuffled = new ArrayList<>(windows);
            Collections.shuffle(shuffled, new Random(7));
            for (int i = 0; i < shuffled.size(); i += 50) {
                history.write(shuffled.subList(i, i + 50), nowNs + 2 * S);
            }
            assertEquals(first, content(file()));
        }
    }

    @Test
    void shouldSumWindowsByPackets() throws Exception {
        final List<SegmentWindow> windows = tens(361, 9);
        try (WindowHistory history = new WindowHistory(file())) {
            history.write(windows, START_NS + HOUR_NS);
            final List<Kept> hours = history.windows(SERIES, Tier.HOUR, START_NS, START_NS + HOUR_NS);
            assertEquals(1, hours.size());
            final SegmentWindow hour = hours.get(0).window();
            final List<SegmentWindow> parts = windows.subList(0, 360);
            final long packets = parts.stream().mapToLong(SegmentWindow::getPackets).sum();
            assertEquals(360, hours.get(0).windows());
            assertEquals(packets, hour.getPackets());
            assertEquals(parts.stream().mapToDouble((each) -> each.getPackets() * each.getMeanNs()).sum() / packets,
                hour.getMeanNs(), 1e-3);
            assertEquals(5_000, hour.getBoundNs(), 1e-6, "bounds of one sign");
            assertEquals(30_000, hour.getClockBoundNs());
            assertEquals(3 * 360, hour.getLost());
            assertEquals(Source.SOURCE_EXACT, hour.getSource());
            final WindowHistogram histogram = new WindowHistogram();
            final byte[] octets = hour.getHistogram().toByteArray();
            assertTrue(histogram.add(new UnsafeBuffer(octets), 0, octets.length));
            assertEquals(2000 * 360, histogram.count());

            final List<Kept> mixed = history.windows(SERIES, Tier.HOUR, START_NS, START_NS + 2 * HOUR_NS);
            assertEquals(List.of(HOUR_NS, 10 * S), mixed.stream()
                .map((each) -> each.window().getEndNs() - each.window().getStartNs()).toList(), "the hour, and what is newer");
            assertEquals(361, history.windows(SERIES, Tier.RAW, START_NS, START_NS + 2 * HOUR_NS).size());
        }
    }

    @Test
    void shouldLeaveOutWhatOneOfTheWindowsLacks() throws Exception {
        final SegmentWindow whole = Samples.window("zrh-gva", START_NS, 10).build();
        final SegmentWindow part = Samples.window("zrh-gva", START_NS + 10 * S, 10).clearBoundNs().clearClockBoundNs().clearLost()
            .clearHistogram().setSource(Source.SOURCE_ESTIMATES).build();
        final SegmentWindow sum = new WindowSum().of(List.of(whole, part), START_NS, START_NS + 60 * S);
        assertFalse(sum.hasBoundNs() || sum.hasClockBoundNs() || sum.hasLost() || sum.hasHistogram(), sum::toString);
        assertEquals(Source.SOURCE_ESTIMATES, sum.getSource());
        assertEquals(1_250_000, sum.getMeanNs());
        final SegmentWindow none = new WindowSum().of(
            List.of(part.toBuilder().clearMeanNs().setPackets(0).build()), START_NS, START_NS + 60 * S);
        assertFalse(none.hasMeanNs() || none.hasDeviationNs() || none.hasMinimumNs(), none::toString);
    }

    @Test
    void shouldReplaceAWindowByItsCorrection() throws Exception {
        final List<SegmentWindow> windows = tens(13, 3);
        try (WindowHistory history = new WindowHistory(file())) {
            history.write(windows, START_NS + HOUR_NS);
            final long before = minute(history).getPackets();
            history.write(List.of(windows.get(2).toBuilder().setPackets(windows.get(2).getPackets() + 50).build()),
                START_NS + HOUR_NS);
            assertEquals(before + 50, minute(history).getPackets());
        }
    }

    private static SegmentWindow minute(final WindowHistory history) throws SQLException {
        return history.windows(SERIES, Tier.MINUTE, START_NS, START_NS + 60 * S).get(0).window();
    }

    @Test
    void shouldKeepEachResolutionForItsTime() throws Exception {
        try (WindowHistory history = new WindowHistory(file())) {
            history.write(tens(400, 1), START_NS + HOUR_NS);
            history.write(List.of(Samples.verdict(START_NS, 10, START_NS).build()), START_NS + HOUR_NS);
            final long toNs = START_NS + 2 * HOUR_NS;
            assertEquals(400, history.windows(SERIES, Tier.RAW, START_NS, toNs).size());
            assertEquals(1, history.verdicts(0, toNs).size());

            retain(history, Duration.ofDays(2).plusHours(3));
            assertEquals(Tier.MINUTE.lengthNs(), shortest(history, toNs));
            assertEquals(67, history.windows(SERIES, Tier.MINUTE, START_NS, toNs).size());

            retain(history, Duration.ofDays(30).plusHours(3));
            assertEquals(HOUR_NS, shortest(history, toNs));
            assertEquals(0, history.verdicts(0, toNs).size());

            retain(history, Duration.ofDays(400).plusHours(3));
            assertEquals(List.of(), history.windows(SERIES, Tier.RAW, START_NS, toNs));
            assertEquals(0, history.expiredCount());
            history.write(tens(1, 1), START_NS + Duration.ofDays(3).toNanos());
            assertEquals(1, history.expiredCount());
        }
    }

    private static void retain(final WindowHistory history, final Duration later) throws SQLException {
        history.write(List.of(Samples.window("other", START_NS + later.toNanos(), 10).build()), START_NS + later.toNanos());
    }

    private static long shortest(final WindowHistory history, final long toNs) throws SQLException {
        return history.windows(SERIES, Tier.RAW, START_NS, toNs).stream()
            .mapToLong((each) -> each.window().getEndNs() - each.window().getStartNs()).min().orElseThrow();
    }

    @Test
    void shouldKeepWhatIsFinalThroughARestart() throws Exception {
        final List<SegmentWindow> windows = tens(20, 2);
        try (WindowHistory history = new WindowHistory(file())) {
            history.write(windows.subList(0, 10), START_NS + HOUR_NS);
            history.write(List.of(Samples.verdict(START_NS, 10, START_NS).build()), START_NS + HOUR_NS);
            history.write(List.of(windows.get(10).toBuilder().setFinal(false).build()), START_NS + HOUR_NS);
        }
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file())));
        try (WindowHistory history = new WindowHistory(file())) {
            assertEquals(windows.subList(0, 10), history.windows(SERIES, Tier.RAW, START_NS, START_NS + HOUR_NS).stream()
                .map(Kept::window).toList());
            assertEquals(1, history.verdicts(START_NS, START_NS + HOUR_NS).size());
            assertEquals(List.of(windows.get(9)), history.lastWindows(START_NS));
            history.write(windows.subList(10, 20), START_NS + HOUR_NS);
            final List<Kept> minutes = history.windows(SERIES, Tier.MINUTE, START_NS, START_NS + HOUR_NS);
            assertEquals(List.of(6, 6, 6, 1, 1), minutes.stream().map(Kept::windows).toList());
        }
    }

    @Test
    void shouldKeepAlertsInAFileOfTheVersionBeforeToo() throws Exception {
        try (WindowHistory history = new WindowHistory(file())) {
            history.write(tens(1, 1), START_NS + HOUR_NS);
        }
        try (Connection other = DriverManager.getConnection("jdbc:sqlite:" + file());
            Statement statement = other.createStatement()) {
            statement.execute("DROP TABLE alert");
            statement.execute("PRAGMA user_version = 1");
        }
        final Alert on = Samples.alert("a", START_NS).build();
        final Alert over = Samples.alert("b", START_NS).setEndsNs(START_NS + 60 * S).build();
        try (WindowHistory history = new WindowHistory(file())) {
            history.write(List.of(on, over.toBuilder().clearEndsNs().build(), over), START_NS + HOUR_NS);
            assertEquals(1, history.windows(SERIES, Tier.RAW, START_NS, START_NS + HOUR_NS).size());
        }
        try (WindowHistory history = new WindowHistory(file())) {
            assertEquals(List.of(on, over), history.alerts(START_NS + 60 * S, START_NS + HOUR_NS));
            assertEquals(List.of(on), history.alerts(START_NS + 61 * S, START_NS + HOUR_NS));
            assertEquals(List.of(), history.alerts(START_NS - 2 * S, START_NS - S));
            retain(history, Duration.ofDays(30).plusHours(1));
            assertEquals(List.of(), history.alerts(START_NS, START_NS + HOUR_NS));
        }
    }

    @Test
    void shouldSayWhatIsWrongWithAFileAndTheWayOut() throws Exception {
        Files.writeString(file(), "no database, but long enough to be read as the head of one".repeat(40));
        refused("is damaged", "move the file away", "sqlite3");
        Files.delete(file());
        try (Connection other = DriverManager.getConnection("jdbc:sqlite:" + file());
            Statement statement = other.createStatement()) {
            statement.execute("CREATE TABLE something(x)");
        }
        refused("is a database of something else");
        Files.delete(file());
        try (WindowHistory history = new WindowHistory(file())) {
            assertEquals(0, history.known().size());
            refused("another station writes it");
        }
        try (Connection other = DriverManager.getConnection("jdbc:sqlite:" + file());
            Statement statement = other.createStatement()) {
            statement.execute("PRAGMA user_version = 3");
        }
        refused("is a history of version 3", "move the file away");
        assertThrows(IOException.class, () -> new WindowHistory(directory.resolve("missing/history.db")));
    }

    private void refused(final String... parts) {
        final IOException ex = assertThrows(IOException.class, () -> new WindowHistory(file()));
        for (final String part : parts) {
            assertTrue(ex.getMessage().contains(part), ex.getMessage());
        }
        assertTrue(ex.getMessage().startsWith(file().toString()), ex.getMessage());
    }

    @Test
    void shouldWriteNothingOfABatchWhileAnotherProgramLocksTheFile() throws Exception {
        final List<SegmentWindow> windows = tens(3, 4);
        try (WindowHistory history = new WindowHistory(file())) {
            try (Connection other = DriverManager.getConnection("jdbc:sqlite:" + file());
                Statement statement = other.createStatement()) {
                statement.execute("BEGIN IMMEDIATE");
                final SQLException ex =
                    assertThrows(SQLException.class, () -> history.write(windows, START_NS + HOUR_NS));
                assertTrue(history.explained(ex).contains("another program keeps it locked"), history.explained(ex));
                statement.execute("ROLLBACK");
            }
            assertEquals(0, history.known().size());
            history.write(windows, START_NS + HOUR_NS);
            assertEquals(3, history.windows(SERIES, Tier.RAW, START_NS, START_NS + HOUR_NS).size());
        }
    }
}
