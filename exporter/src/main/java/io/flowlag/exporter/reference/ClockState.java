package io.flowlag.exporter.reference;

import com.sun.jna.Platform;
import io.flowlag.exporter.capture.posix.Errno;
import io.flowlag.exporter.capture.posix.LinuxLibrary;
import org.agrona.concurrent.EpochClock;
import org.agrona.concurrent.UnsafeBuffer;

import java.io.IOException;
import java.math.BigDecimal;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The error of the timestamp clock: by {@code adjtimex(2)}, which has the state that NTP and PTP daemons gave the kernel; by a
 * file that such a daemon's helper writes; or as configured. One thread calls {@link #refresh} regularly, which allocates; any
 * thread may call {@link #reading}, which does not.
 */
public final class ClockState {
    public static final long UNKNOWN_NS = -1;
    /** How old a clock file may be. */
    static final long FILE_PATIENCE_MS = 60_000;

    private static final int MAXIMUM_FILE_LENGTH_BYTES = 4096;
    private static final Pattern FILE_LINE = Pattern.compile("([0-9]{1,12}(?:\\.[0-9]{1,12})?) ?(ns|us|µs|ms|s)");
    private static final ByteOrder ORDER = ByteOrder.nativeOrder();
    // struct timex on 64-bit Linux: modes 4 (4), offset 8, freq 8, maxerror 8, esterror 8, status 4 (4), constant 8, precision 8,
    // tolerance 8, time 16, tick 8, ppsfreq 8, jitter 8, shift 4 (4), stabil 8, jitcnt 8, calcnt 8, errcnt 8, stbcnt 8, tai 4, 44
    private static final int TIMEX_LENGTH_BYTES = 208;
    private static final int MAXIMUM_ERROR_OFFSET = 24;
    private static final int STATUS_OFFSET = MAXIMUM_ERROR_OFFSET + 16;
    private static final int STATUS_UNSYNCHRONIZED = 0x0040;
    private static final int STATUS_CLOCK_ERROR = 0x1000;
    private static final int STATE_ERROR = 5;
    private static final long NS_PER_US = 1_000L;
    private static final long NS_PER_MS = 1_000_000L;

    /**
     * The clock error at a moment. Immutable.
     *
     * @param errorNs        bound of the clock's error, ns, or {@link #UNKNOWN_NS}.
     * @param isSynchronized whether an outside source disciplines the clock; a configured error counts as such.
     * @param notice         one line when something is wrong, else empty.
     */
    public record Reading(long errorNs, boolean isSynchronized, String notice) {
        /** {@return a reliable bound of the error, ns: {@link #UNKNOWN_NS} if nothing disciplines the clock} */
        public long boundNs() {
            return isSynchronized ? errorNs : UNKNOWN_NS;
        }
    }

    private final Supplier<Reading> source;
    private volatile Reading reading;

    private ClockState(final Supplier<Reading> source) {
        this.source = source;
        refresh();
    }

    /** A clock with a configured error, whose state never changes. */
    public static ClockState fixed(final long errorNs) {
        final Reading reading = new Reading(errorNs, true, "");
        return new ClockState(() -> reading);
    }

    /** {@return the system clock's state in the kernel, read once} */
    public static ClockState adjtimex() {
        final UnsafeBuffer timex = UdpSocket.direct(TIMEX_LENGTH_BYTES);
        return new ClockState(() -> readKernel(timex));
    }

    /**
     * A clock whose error is in a file: the first line that is not empty and not a comment ({@code #}) is a number with a unit
     * (ns, us, ms or s). The file must be rewritten at least once a minute, or the error is unknown.
     *
     * @param file  that a daemon's helper writes.
     * @param clock that gives the age of the file.
     * @return its state, read once.
     */
    public static ClockState file(final Path file, final EpochClock clock) {
        return new ClockState(() -> readFile(file, clock));
    }

    /** Reads the state again. Allocates. Never throws: an unreadable state is unknown, and the notice says why. */
    public void refresh() {
        reading = source.get();
    }

    /** {@return the state at the last refresh} */
    public Reading reading() {
        return reading;
    }

    private static Reading readKernel(final UnsafeBuffer timex) {
        if (!Platform.isLinux() || !Platform.is64Bit()) {
            return unknown("clock: adjtimex is read on 64-bit Linux only: set clock.error or clock.file");
        }
        timex.setMemory(0, TIMEX_LENGTH_BYTES, (byte)0);
        final int state = LinuxLibrary.adjtimex(timex.addressOffset());
        return state < 0 ? unknown("clock: adjtimex: " + Errno.describe(Errno.last())) : decode(timex, state);
    }

    /** Decodes {@code struct timex}; the state is the return value of the call. */
    static Reading decode(final UnsafeBuffer timex, final int state) {
        final int status = timex.getInt(STATUS_OFFSET, ORDER);
        final boolean isSynchronized =
            (status & (STATUS_UNSYNCHRONIZED | STATUS_CLOCK_ERROR)) == 0 && state != STATE_ERROR;
        final long errorNs = timex.getLong(MAXIMUM_ERROR_OFFSET, ORDER) * NS_PER_US;
        return new Reading(errorNs, isSynchronized, isSynchronized ? "" :
            "clock: the kernel says that nothing synchronises it (adjtimex: STA_UNSYNC); error up to " +
            errorNs / NS_PER_MS + " ms, if it ever was right: run chronyd or ptp4l with phc2sys, or set clock.error");
    }

    private static Reading readFile(final Path file, final EpochClock clock) {
        try {
            final long ageMs = clock.time() - Files.getLastModifiedTime(file).toMillis();
            if (ageMs > FILE_PATIENCE_MS) {
                return unknown("clock: " + file + " is " + ageMs / 1000 + " s old: whatever writes it has stopped");
            }
            if (Files.size(file) > MAXIMUM_FILE_LENGTH_BYTES) {
                return unknown("clock: " + file + " is longer than " + MAXIMUM_FILE_LENGTH_BYTES + " octets");
            }
            return readText(file, Files.readString(file, StandardCharsets.UTF_8));
        } catch (final IOException ex) {
            return unknown("clock: " + file + " cannot be read: " + (Files.exists(file) ? ex.getMessage() : "no such file"));
        }
    }

    private static Reading readText(final Path file, final String text) {
        final String line = text.lines().map(String::strip).filter(each -> !each.isEmpty() && each.charAt(0) != '#')
            .findFirst().orElse("");
        final Matcher matcher = FILE_LINE.matcher(line);
        if (!matcher.matches()) {
            return unknown("clock: " + file + " does not say a number with a unit, such as 350ns or 0.2 ms");
        }
        final BigDecimal errorNs = new BigDecimal(matcher.group(1)).movePointRight(digits(matcher.group(2)));
        return new Reading(errorNs.setScale(0, java.math.RoundingMode.CEILING).longValue(), true, "");
    }

    private static int digits(final String unit) {
        return switch (unit) {
            case "s" -> 9;
            case "ms" -> 6;
            case "us", "µs" -> 3;
            default -> 0;
        };
    }

    private static Reading unknown(final String notice) {
        return new Reading(UNKNOWN_NS, false, notice);
    }
}
