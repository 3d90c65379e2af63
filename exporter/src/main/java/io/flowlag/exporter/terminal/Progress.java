package io.flowlag.exporter.terminal;

import org.agrona.concurrent.NanoClock;

import java.util.Locale;

/**
 * A status line for long work: share of the input, packets, flows and rate, updated about once a second and removed at the end.
 * One thread owns it. {@link #update} is cheap between updates (it reads the clock) and allocates only when it draws.
 */
public final class Progress implements AutoCloseable {
    private static final long REDRAW_NS = 1_000_000_000L;
    private static final String[] PREFIXES = {"", "k", "M", "G", "T", "P", "E"};

    private final Terminal terminal;
    private final NanoClock clock;
    private final long startNs;
    private long lastDrawnNs;
    private long lastPacketCount;

    /** The line appears after a second of the monotonic clock, so short work shows none. */
    public Progress(final Terminal terminal, final NanoClock clock) {
        this.terminal = terminal;
        this.clock = clock;
        this.startNs = clock.nanoTime();
        this.lastDrawnNs = startNs;
    }

    /** Reports the progress of the work. The total of octets is -1 if unknown. */
    public void update(final long consumedBytes, final long totalBytes, final long packetCount, final long flowCount) {
        if (!terminal.isInteractive()) {
            return;
        }
        final long nowNs = clock.nanoTime();
        final long elapsedNs = nowNs - lastDrawnNs;
        if (elapsedNs >= REDRAW_NS) {
            final double packetsPerSecond = (packetCount - lastPacketCount) * 1e9 / elapsedNs;
            terminal.status(line(consumedBytes, totalBytes, packetCount, flowCount, packetsPerSecond));
            lastDrawnNs = nowNs;
            lastPacketCount = packetCount;
        }
    }

    /** Removes the line. */
    @Override
    public void close() {
        terminal.eraseStatus();
    }

    private String line(final long consumedBytes, final long totalBytes, final long packetCount, final long flowCount,
        final double packetsPerSecond) {
        final String done = totalBytes > 0 ?
            String.format(Locale.ROOT, "%3d %% of %sB", percent(consumedBytes, totalBytes), scaled(totalBytes)) :
            scaled(consumedBytes) + "B";
        return done + ", " + scaled(packetCount) + " packets (" + scaled(packetsPerSecond) + "/s), " + scaled(flowCount) +
            " flows, " +
            (lastDrawnNs - startNs + REDRAW_NS) / 1_000_000_000L + " s";
    }

    private static long percent(final long consumedBytes, final long totalBytes) {
        return Math.min(100, (long)(100.0 * consumedBytes / totalBytes));
    }

    /** Three digits and a decimal prefix. */
    static String scaled(final double number) {
        double rest = number;
        int prefixIndex = 0;
        while (rest >= 999.5) {
            rest /= 1000;
            prefixIndex++;
        }
        final String digits = String.format(Locale.ROOT, prefixIndex == 0 || rest >= 99.95 ? "%.0f" : "%.1f", rest);
        return digits + " " + PREFIXES[prefixIndex];
    }
}
