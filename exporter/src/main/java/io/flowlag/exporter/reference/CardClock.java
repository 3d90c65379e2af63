package io.flowlag.exporter.reference;

import com.sun.jna.Platform;
import io.flowlag.exporter.capture.posix.CLibrary;
import io.flowlag.exporter.capture.posix.Errno;
import io.flowlag.exporter.capture.posix.LinuxLibrary;
import org.agrona.concurrent.UnsafeBuffer;

import java.nio.ByteOrder;
import java.util.Locale;

/**
 * The hardware clock (PHC) of a network card, as ethtool's get_ts_info names it. PTP keeps such clocks on International Atomic
 * Time (TAI), which is 37 s ahead of UTC. Immutable; allocates.
 *
 * @param index      of /dev/ptpN; below 0 if the card has none, or it is not known.
 * @param offsetNs   the card's clock less the system's, ns; only without a fault.
 * @param unreadable why the clock or its time is not known, or empty.
 */
public record CardClock(String interfaceName, int index, long offsetNs, String unreadable) {
    /** Seconds that TAI is ahead of UTC, since 2017. */
    public static final long TAI_S = 37;

    private static final long NS_PER_S = 1_000_000_000L;
    private static final double NS_PER_US = 1e3;
    private static final int GET_TS_INFO = 0x41;
    // struct ethtool_ts_info: command 4, so_timestamping 4, phc_index 4, tx_types 4, reserved 12, rx_filters 4, reserved 12
    private static final int INDEX_OFFSET = 8;
    private static final int LENGTH_BYTES = 44;
    private static final int TIME_LENGTH_BYTES = 16;
    private static final int CLOCK_REALTIME = 0;
    private static final int FD_CLOCK = 3;
    private static final ByteOrder ORDER = ByteOrder.nativeOrder();

    /** Asks the driver, and reads both clocks. Returns the state; never throws. */
    public static CardClock of(final String interfaceName) {
        if (!Platform.isLinux()) {
            return new CardClock(interfaceName, -1, 0, "only Linux tells");
        }
        final UnsafeBuffer info = UdpSocket.direct(LENGTH_BYTES);
        info.putInt(0, GET_TS_INFO, ORDER);
        final String fault = OffloadState.ask(interfaceName, info);
        return fault.isEmpty() ? ofIndex(interfaceName, info.getInt(INDEX_OFFSET, ORDER)) :
            new CardClock(interfaceName, -1, 0, fault);
    }

    private static CardClock ofIndex(final String interfaceName, final int index) {
        if (index < 0) {
            return new CardClock(interfaceName, -1, 0, "");
        }
        final int fd = CLibrary.open("/dev/ptp" + index, UdpLayout.SOCK_CLOEXEC);
        if (fd < 0) {
            return new CardClock(interfaceName, index, 0, Errno.describe(Errno.last()));
        }
        try {
            final long beforeNs = read(CLOCK_REALTIME);
            final long cardNs = read(~fd << FD_CLOCK | FD_CLOCK);
            final long afterNs = read(CLOCK_REALTIME);
            return cardNs < 0 ? new CardClock(interfaceName, index, 0, Errno.describe(Errno.last())) :
                new CardClock(interfaceName, index, cardNs - (beforeNs + (afterNs - beforeNs) / 2), "");
        } finally {
            CLibrary.close(fd);
        }
    }

    /** Time of a clock, ns; -1 if it cannot be read. */
    private static long read(final int clock) {
        final UnsafeBuffer time = UdpSocket.direct(TIME_LENGTH_BYTES);
        return LinuxLibrary.clock_gettime(clock, time.addressOffset()) != 0 ? -1 :
            time.getLong(0, ORDER) * NS_PER_S + time.getLong(Long.BYTES, ORDER);
    }

    /** {@return whether an offset between clocks is that of TAI to UTC, or its opposite, give or take half a second} */
    public static boolean isAtomic(final long clockOffsetNs) {
        return Math.abs(Math.abs(clockOffsetNs) - TAI_S * NS_PER_S) <= NS_PER_S / 2;
    }

    /** {@return whether packets with its timestamps are in another time than others} */
    public boolean isTrouble() {
        return index < 0 || isAtomic(offsetNs);
    }

    /** {@return what an operator should know who takes hardware timestamps; without the interface's name} */
    public String notice() {
        if (index < 0) {
            return "it has no hardware clock" + (unreadable.isEmpty() ? "" : " that can be asked for (" + unreadable + ")") +
                ": packets get the kernel's timestamps; set capture.hardware-timestamps to off";
        }
        final String clock = "timestamps are of the card's clock /dev/ptp" + index;
        if (!unreadable.isEmpty()) {
            return clock + ", which cannot be read (" + unreadable + ")";
        }
        if (isAtomic(offsetNs)) {
            return String.format(Locale.ROOT, "%s, which is %d s %s the system clock: it is on TAI, not UTC. Set it to UTC " +
                "(phc2sys -c %s -s CLOCK_REALTIME -O 0), or set capture.hardware-timestamps to off", clock, TAI_S,
                offsetNs > 0 ? "ahead of" : "behind", interfaceName);
        }
        return String.format(Locale.ROOT, "%s, %.1f us %s the system clock", clock, Math.abs(offsetNs) / NS_PER_US,
            offsetNs < 0 ? "behind" : "ahead of");
    }
}
