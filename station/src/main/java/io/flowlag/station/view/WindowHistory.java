package io.flowlag.station.view;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Parser;
import io.flowlag.common.file.Disk;
import io.flowlag.network.window.Windows;
import io.flowlag.station.schema.Alert;
import io.flowlag.station.schema.SegmentWindow;
import io.flowlag.station.schema.Verdict;
import org.agrona.CloseHelper;
import org.sqlite.SQLiteConfig;
import org.sqlite.SQLiteErrorCode;
import org.sqlite.SQLiteException;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/**
 * Final windows and verdicts, and alerts, in a file of SQLite. Each is written by its id, so writing it again changes nothing,
 * and a correction replaces it:
 * <pre>
 *   series(id, network, segment, class)                  class -1 where there is none
 *   window(series, tier, start, end, windows, data)      ns; windows: how many this one sums; data: SegmentWindow
 *   due(series, tier, start)                             sums to be made, or made again
 *   verdict(id, end, data)                               data: Verdict
 *   alert(id, start, end, data)                          end 0 while it is on; data: Alert
 *   position(partition, next)                            of what was read for all that is above
 * </pre>
 * A window is in the {@link Tier} of its length, and summed in the coarser ones once a window behind its end is final. What is
 * committed outlives the process and the machine. One thread opens, writes and closes; any thread reads.
 */
final class WindowHistory implements AutoCloseable {
    /** Series, at most; some 100 octets of memory each. */
    static final int MOST_SERIES = 20_000;
    /** Rows of one tier that a question is answered with, at most. */
    static final int MOST_ROWS = 5_000;
    /** Of verdicts and alerts; that of the topics. */
    static final long VERDICTS_KEPT_NS = Duration.ofDays(30).toNanos();

    private static final int NO_CLASS = -1;
    /** "flwh": what the file is. */
    private static final int APPLICATION = 0x666c7768;
    private static final int VERSION = 2;
    private static final int WITHOUT_ALERTS = 1;
    private static final int BUSY_MS = 2_000;
    private static final long RETAIN_NS = Duration.ofMinutes(10).toNanos();
    private static final String[] TABLES = {
        "CREATE TABLE series(id INTEGER PRIMARY KEY, network TEXT NOT NULL, segment TEXT NOT NULL, class INTEGER NOT NULL, " +
            "UNIQUE(network, segment, class))",
        "CREATE TABLE window(series INTEGER, tier INTEGER, start INTEGER, end INTEGER, windows INTEGER NOT NULL, " +
            "data BLOB NOT NULL, PRIMARY KEY(series, tier, start, end)) WITHOUT ROWID",
        "CREATE TABLE due(tier INTEGER, start INTEGER, series INTEGER, PRIMARY KEY(tier, start, series)) WITHOUT ROWID",
        "CREATE TABLE verdict(id TEXT PRIMARY KEY, end INTEGER NOT NULL, data BLOB NOT NULL)",
        "CREATE INDEX verdict_end ON verdict(end)"};
    /** Programs that do not know it leave it alone. */
    private static final String POSITIONS =
        "CREATE TABLE IF NOT EXISTS position(partition TEXT PRIMARY KEY, next INTEGER NOT NULL) WITHOUT ROWID";
    private static final String ALERTS = "CREATE TABLE alert(id TEXT NOT NULL, start INTEGER NOT NULL, end INTEGER NOT NULL, " +
        "data BLOB NOT NULL, PRIMARY KEY(id, start)) WITHOUT ROWID";

    private final Path path;
    private final FileChannel lock;
    private final Connection connection;
    private final Map<String, Long> positions;
    private final WindowSum sum = new WindowSum();
    /** Prepared once, for the thread that writes. */
    private final Map<String, PreparedStatement> sentences = new HashMap<>();
    private volatile Map<Series, Integer> series = Map.of();
    /** End of the newest window that was written, ns since the epoch. */
    private long newestNs;
    private long retainedNs = Long.MIN_VALUE;
    private volatile long expired;
    private volatile long refused;

    /** Lengths of windows that are kept alike. */
    enum Tier {
        /** Below a minute: as they came. */
        RAW(0, Duration.ofDays(2)),
        /** From a minute on: as they came, or sums. */
        MINUTE(Duration.ofMinutes(1).toNanos(), Duration.ofDays(30)),
        /** From an hour on. */
        HOUR(Duration.ofHours(1).toNanos(), Duration.ofDays(400));

        private static final Tier[] ALL = values();

        private final long lengthNs;
        private final long keptNs;

        Tier(final long lengthNs, final Duration kept) {
            this.lengthNs = lengthNs;
            keptNs = kept.toNanos();
        }

        long lengthNs() {
            return lengthNs;
        }

        long keptNs() {
            return keptNs;
        }

        static Tier of(final long lengthNs) {
            return lengthNs < MINUTE.lengthNs ? RAW : lengthNs < HOUR.lengthNs ? MINUTE : HOUR;
        }
    }

    /**
     * A segment of a class.
     *
     * @param dscp -1 where there is none.
     */
    record Series(String network, String segment, int dscp) {
        static Series of(final SegmentWindow window) {
            return new Series(window.getNetwork(), window.getSegment(), window.hasDscp() ? window.getDscp() : NO_CLASS);
        }
    }

    /**
     * A window of the past.
     *
     * @param windows how many it sums.
     */
    record Kept(SegmentWindow window, int windows) {
    }

    /** What a row of an answer has. */
    @FunctionalInterface
    private interface Row<T> {
        T of(ResultSet answer) throws SQLException;
    }

    /**
     * Opens the file, or begins one that only this user may read.
     *
     * @throws IOException with the fault and the way out.
     */
    WindowHistory(final Path path) throws IOException {
        this.path = path;
        lock = lock();
        Connection opened = null;
        try {
            Disk.open(path, "rw-------", StandardOpenOption.CREATE, StandardOpenOption.WRITE).close();
            opened = connect(false);
            prepare(opened);
            connection = opened;
            loadSeries();
            positions = loadPositions();
        } catch (final SQLException ex) {
            CloseHelper.quietCloseAll(opened, lock);
            throw new IOException(explained(ex), ex);
        } catch (final IOException ex) {
            CloseHelper.quietCloseAll(opened, lock);
            throw ex;
        }
    }

    private FileChannel lock() throws IOException {
        final FileChannel channel =
            Disk.open(Path.of(path + ".lock"), "rw-------", StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        boolean isLocked = false;
        try {
            isLocked = channel.tryLock() != null;
        } catch (final OverlappingFileLockException ex) {
            isLocked = false; // by this process
        }
        if (!isLocked) {
            channel.close();
            throw new IOException(path + ": another station writes it: stop that one, or give this one another file");
        }
        return channel;
    }

    private Connection connect(final boolean isReader) throws SQLException {
        final SQLiteConfig config = new SQLiteConfig();
        config.setReadOnly(isReader);
        config.setBusyTimeout(BUSY_MS);
        if (!isReader) {
            config.setJournalMode(SQLiteConfig.JournalMode.WAL);
            config.setSynchronous(SQLiteConfig.SynchronousMode.FULL);
        }
        return config.createConnection("jdbc:sqlite:" + path);
    }

    private void prepare(final Connection opened) throws SQLException, IOException {
        opened.setAutoCommit(false);
        try (Statement statement = opened.createStatement()) {
            final int application = number(statement, "PRAGMA application_id");
            final int version = number(statement, "PRAGMA user_version");
            if (application == 0 && number(statement, "SELECT count(*) FROM sqlite_master") == 0) {
                for (final String table : TABLES) {
                    statement.execute(table);
                }
                statement.execute(ALERTS);
                statement.execute("PRAGMA application_id = " + APPLICATION);
                statement.execute("PRAGMA user_version = " + VERSION);
            } else if (application != APPLICATION) {
                throw new IOException(path + ": is a database of something else: give another file");
            } else if (version == WITHOUT_ALERTS) {
                statement.execute(ALERTS);
                statement.execute("PRAGMA user_version = " + VERSION);
            } else if (version != VERSION) {
                throw new IOException(path + ": is a history of version " + version + ", this program writes " + VERSION +
                    ": run the program that wrote it, or move the file away to begin a new one");
            }
            statement.execute(POSITIONS);
        }
        opened.commit();
    }

    private static int number(final Statement statement, final String question) throws SQLException {
        try (ResultSet answer = statement.executeQuery(question)) {
            return answer.next() ? answer.getInt(1) : 0;
        }
    }

    /** {@return the next offset of each partition, as it was when the file was opened} */
    Map<String, Long> positions() {
        return positions;
    }

    private Map<String, Long> loadPositions() throws SQLException {
        return query(connection, (answer) -> Map.entry(answer.getString(1), answer.getLong(2)),
            "SELECT partition, next FROM position").stream()
            .collect(Collectors.toUnmodifiableMap(Map.Entry::getKey, Map.Entry::getValue));
    }

    private void loadSeries() throws SQLException {
        series = new ConcurrentHashMap<>(query(connection, (answer) ->
            Map.entry(new Series(answer.getString(2), answer.getString(3), answer.getInt(4)), answer.getInt(1)),
            "SELECT id, network, segment, class FROM series").stream()
            .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue)));
    }

    /** {@return what a fault of the file means, and the way out} */
    String explained(final SQLException fault) {
        final SQLiteErrorCode code = fault instanceof SQLiteException ex ? ex.getResultCode() : SQLiteErrorCode.UNKNOWN_ERROR;
        final String name = code.name();
        if (name.startsWith("SQLITE_NOTADB") || name.startsWith("SQLITE_CORRUPT")) {
            return path + ": is damaged (" + code + "): stop the station and move the file away, and a new one is begun; " +
                "'sqlite3 " + path + " .recover' prints what can be read of the old one";
        }
        if (name.startsWith("SQLITE_BUSY") || name.startsWith("SQLITE_LOCKED")) {
            return path + ": another program keeps it locked (" + code + "): end it; what is final waits in memory until then";
        }
        if (name.startsWith("SQLITE_FULL") || name.startsWith("SQLITE_IOERR")) {
            return path + ": cannot be written (" + code + "): make room on the disk, or look at what the system says of it";
        }
        return path + ": " + fault.getMessage();
    }

    /** {@return the segments and classes that there is something of; any thread} */
    Set<Series> known() {
        return Set.copyOf(series.keySet());
    }

    /** {@return windows that came when their time was over} */
    long expiredCount() {
        return expired;
    }

    /** {@return windows that have no length, or that belong to one series too many} */
    long refusedCount() {
        return refused;
    }

    /**
     * Writes what is final of windows and verdicts, and alerts, makes the sums that are due, and deletes what is too old: all or
     * nothing.
     *
     * @param messages {@link SegmentWindow}, {@link Verdict}, {@link Alert} and {@link ReadPosition}.
     * @param nowNs    since the epoch.
     * @throws SQLException if nothing was written.
     */
    void write(final Collection<?> messages, final long nowNs) throws SQLException {
        final long expiredBefore = expired;
        final long refusedBefore = refused;
        try {
            for (final Object message : messages) {
                if (message instanceof SegmentWindow window && window.getFinal()) {
                    write(window, nowNs);
                } else if (message instanceof Verdict verdict && verdict.getFinal()) {
                    update("INSERT OR REPLACE INTO verdict VALUES(?, ?, ?)", verdict.getId(), verdict.getEndNs(),
                        verdict.toByteArray());
                } else if (message instanceof Alert alert) {
                    update("INSERT OR REPLACE INTO alert VALUES(?, ?, ?, ?)", alert.getId(), alert.getStartsNs(),
                        alert.getEndsNs(), alert.toByteArray());
                } else if (message instanceof ReadPosition position) {
                    update("INSERT OR REPLACE INTO position VALUES(?, ?)", position.partition(), position.next());
                }
            }
            sumUp(Tier.MINUTE);
            sumUp(Tier.HOUR);
            final boolean isTime = retainedNs == Long.MIN_VALUE || nowNs - retainedNs >= RETAIN_NS;
            if (isTime) {
                retain(nowNs);
            }
            connection.commit();
            retainedNs = isTime ? nowNs : retainedNs;
        } catch (final SQLException ex) {
            expired = expiredBefore;
            refused = refusedBefore;
            rollBack();
            throw ex;
        }
    }

    private void rollBack() {
        try {
            connection.rollback();
            loadSeries();
        } catch (final SQLException ex) {
            retainedNs = Long.MIN_VALUE; // the fault before says what is wrong
        }
    }

    private void write(final SegmentWindow window, final long nowNs) throws SQLException {
        final long lengthNs = window.getEndNs() - window.getStartNs();
        final Tier tier = Tier.of(lengthNs);
        if (lengthNs <= 0) {
            refused++;
            return;
        }
        // Not a part of those that a sum is made of.
        if (nowNs - (tier == Tier.HOUR ? window.getStartNs() : sumStartNs(tier, window.getStartNs())) > tier.keptNs) {
            expired++;
            return;
        }
        final int id = id(Series.of(window));
        if (id < 0) {
            refused++;
            return;
        }
        put(id, tier, window, 1);
        newestNs = Math.max(newestNs, window.getEndNs());
        markDue(id, tier, window.getStartNs());
    }

    private int id(final Series wanted) throws SQLException {
        final Integer known = series.get(wanted);
        if (known != null) {
            return known;
        }
        if (series.size() >= MOST_SERIES) {
            return -1;
        }
        update("INSERT INTO series(network, segment, class) VALUES(?, ?, ?)", wanted.network, wanted.segment, wanted.dscp);
        try (Statement statement = connection.createStatement()) {
            series.put(wanted, number(statement, "SELECT last_insert_rowid()"));
        }
        return series.get(wanted);
    }

    private void put(final int id, final Tier tier, final SegmentWindow window, final int windows) throws SQLException {
        update("INSERT OR REPLACE INTO window VALUES(?, ?, ?, ?, ?, ?)", id, tier.ordinal(), window.getStartNs(),
            window.getEndNs(), windows, window.toByteArray());
    }

    private void markDue(final int id, final Tier tier, final long startNs) throws SQLException {
        if (tier != Tier.HOUR) {
            update("INSERT OR IGNORE INTO due VALUES(?, ?, ?)", tier.ordinal() + 1, sumStartNs(tier, startNs), id);
        }
    }

    /** Start of the sum in the next tier. */
    private static long sumStartNs(final Tier tier, final long startNs) {
        return new Windows(Tier.ALL[tier.ordinal() + 1].lengthNs).startNs(startNs);
    }

    private void update(final String sentence, final Object... values) throws SQLException {
        PreparedStatement statement = sentences.get(sentence);
        if (statement == null) {
            statement = connection.prepareStatement(sentence);
            sentences.put(sentence, statement);
        }
        fill(statement, values).executeUpdate();
    }

    private static <T> List<T> query(
        final Connection from, final Row<T> row, final String sentence, final Object... values) throws SQLException {
        final List<T> rows = new ArrayList<>();
        try (PreparedStatement statement = fill(from.prepareStatement(sentence), values);
            ResultSet answer = statement.executeQuery()) {
            while (answer.next()) {
                rows.add(row.of(answer));
            }
        }
        return rows;
    }

    private static PreparedStatement fill(final PreparedStatement statement, final Object... values) throws SQLException {
        for (int i = 0; i < values.length; i++) {
            statement.setObject(i + 1, values[i]);
        }
        return statement;
    }

    private void sumUp(final Tier tier) throws SQLException {
        final List<long[]> due = query(connection, (answer) -> new long[]{answer.getLong(1), answer.getLong(2)},
            "SELECT series, start FROM due WHERE tier = ? AND start <= ?", tier.ordinal(), newestNs - tier.lengthNs);
        for (final long[] each : due) {
            final long endNs = each[1] + tier.lengthNs;
            final List<Kept> parts = rows(connection, each[0], Tier.ALL[tier.ordinal() - 1], each[1], endNs);
            if (!parts.isEmpty()) {
                put((int)each[0], tier, sum.of(parts.stream().map(Kept::window).toList(), each[1], endNs),
                    parts.stream().mapToInt(Kept::windows).sum());
                markDue((int)each[0], tier, each[1]);
            }
            update("DELETE FROM due WHERE tier = ? AND start = ? AND series = ?", tier.ordinal(), each[1], each[0]);
        }
    }

    private void retain(final long nowNs) throws SQLException {
        for (final Tier tier : Tier.ALL) {
            for (final Integer id : series.values()) {
                update("DELETE FROM window WHERE series = ? AND tier = ? AND start < ? AND end < ?",
                    id, tier.ordinal(), nowNs - tier.keptNs, nowNs - tier.keptNs);
            }
        }
        update("DELETE FROM verdict WHERE end < ?", nowNs - VERDICTS_KEPT_NS);
        update("DELETE FROM alert WHERE max(start, end) < ?", nowNs - VERDICTS_KEPT_NS);
    }

    /** Those that begin in [from, to), in order. */
    private static List<Kept> rows(
        final Connection from, final long id, final Tier tier, final long fromNs, final long toNs) throws SQLException {
        final List<Kept> rows = query(from, (answer) -> new Kept(window(answer.getBytes(2)), answer.getInt(1)),
            "SELECT windows, data FROM window WHERE series = ? AND tier = ? AND start >= ? AND start < ? " +
            "ORDER BY start DESC, end DESC LIMIT " + MOST_ROWS, id, tier.ordinal(), fromNs, toNs);
        Collections.reverse(rows);
        return rows;
    }

    private static SegmentWindow window(final byte[] data) throws SQLException {
        return parsed(SegmentWindow.parser(), "window", data);
    }

    private static <M> M parsed(final Parser<M> parser, final String kind, final byte[] data) throws SQLException {
        try {
            return parser.parseFrom(data);
        } catch (final InvalidProtocolBufferException ex) {
            throw new SQLException("a row is no " + kind + ": " + ex.getMessage(), ex);
        }
    }

    /**
     * Windows that begin in [from, to), in order: of the given tier, where it has none before or behind these, of the others.
     *
     * @throws SQLException if the file cannot be read.
     */
    List<Kept> windows(final Series wanted, final Tier tier, final long fromNs, final long toNs) throws SQLException {
        try (Connection reader = connect(true)) {
            final List<Long> ids = query(reader, (answer) -> answer.getLong(1),
                "SELECT id FROM series WHERE network = ? AND segment = ? AND class = ?", wanted.network, wanted.segment,
                wanted.dscp);
            if (ids.isEmpty()) {
                return List.of();
            }
            final long id = ids.get(0);
            final Deque<Kept> found = new ArrayDeque<>(rows(reader, id, tier, fromNs, toNs));
            for (int i = tier.ordinal() + 1; i < Tier.ALL.length; i++) {
                final long untilNs = found.isEmpty() ? toNs : found.getFirst().window.getStartNs();
                final List<Kept> before = rows(reader, id, Tier.ALL[i], fromNs, untilNs);
                for (int j = before.size() - 1; j >= 0; j--) {
                    if (before.get(j).window.getEndNs() <= untilNs || found.isEmpty()) {
                        found.addFirst(before.get(j));
                    }
                }
            }
            for (int i = tier.ordinal() - 1; i >= 0; i--) {
                found.addAll(rows(reader, id, Tier.ALL[i], found.isEmpty() ? fromNs : found.getLast().window.getEndNs(), toNs));
            }
            return List.copyOf(found);
        }
    }

    /** {@return of each series the last window since a time that is no sum; by the thread that writes} */
    List<SegmentWindow> lastWindows(final long sinceNs) throws SQLException {
        final List<SegmentWindow> last = new ArrayList<>();
        for (final Integer id : series.values()) {
            SegmentWindow newest = null;
            for (final Tier tier : Tier.ALL) {
                for (final SegmentWindow window : query(connection, (answer) -> window(answer.getBytes(1)),
                    "SELECT data FROM window WHERE series = ? AND tier = ? AND start >= ? AND windows = 1 " +
                    "ORDER BY start DESC LIMIT 1", id, tier.ordinal(), sinceNs)) {
                    newest = newest == null || window.getStartNs() > newest.getStartNs() ? window : newest;
                }
            }
            if (newest != null) {
                last.add(newest);
                newestNs = Math.max(newestNs, newest.getEndNs());
            }
        }
        connection.commit();
        return last;
    }

    /** {@return of each series the window that has a time in it, of the finest resolution that has one} */
    List<SegmentWindow> windowsAt(final long timeNs) throws SQLException {
        final List<SegmentWindow> found = new ArrayList<>();
        try (Connection reader = connect(true); PreparedStatement statement = reader.prepareStatement(
            "SELECT data FROM window WHERE series = ? AND tier = ? AND start <= ? ORDER BY start DESC LIMIT 1")) {
            for (final Integer id : series.values()) {
                SegmentWindow window = null;
                for (int tier = 0; tier < Tier.ALL.length && window == null; tier++) {
                    try (ResultSet answer = fill(statement, id, tier, timeNs).executeQuery()) {
                        final SegmentWindow newest = answer.next() ? window(answer.getBytes(1)) : null;
                        window = newest != null && newest.getEndNs() > timeNs ? newest : null;
                    }
                }
                if (window != null) {
                    found.add(window);
                }
            }
        }
        return found;
    }

    /** {@return verdicts whose windows end in [from, to], in order} */
    List<Verdict> verdicts(final long fromNs, final long toNs) throws SQLException {
        try (Connection reader = connect(true)) {
            return query(reader, (answer) -> parsed(Verdict.parser(), "verdict", answer.getBytes(1)),
                "SELECT data FROM verdict WHERE end >= ? AND end <= ? ORDER BY end, id", fromNs, toNs);
        }
    }

    /** {@return alerts that began in [from, to], and those that had not ended at its beginning, in order} */
    List<Alert> alerts(final long fromNs, final long toNs) throws SQLException {
        try (Connection reader = connect(true)) {
            return query(reader, (answer) -> parsed(Alert.parser(), "alert", answer.getBytes(1)),
                "SELECT data FROM alert WHERE (end = 0 OR end >= ?) AND start <= ? ORDER BY start, id", fromNs, toNs);
        }
    }

    @Override
    public void close() {
        CloseHelper.quietCloseAll(sentences.values());
        CloseHelper.quietCloseAll(connection, lock);
    }
}
