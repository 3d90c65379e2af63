package io.flowlag.exporter.reference;

import com.sun.jna.Platform;
import io.flowlag.exporter.capture.posix.CLibrary;
import io.flowlag.exporter.capture.posix.Errno;
import org.agrona.concurrent.UnsafeBuffer;

import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The offloads of an interface that join or split packets: GRO, LRO, GSO, TSO, and those of UDP. With them two observation
 * points see different packets. Read from the driver, and switched, by the ethtool ioctl. Immutable; allocates.
 *
 * @param on         active offloads that can be switched off, as ethtool's options.
 * @param fixed      active offloads that cannot be switched off.
 * @param unreadable why nothing is known, or empty.
 * @param bits       the features behind {@code on}, 32 an entry as the driver numbers them; empty if nothing is known.
 */
public record OffloadState(
    String interfaceName, List<String> on, List<String> fixed, String unreadable, List<Integer> bits) {
    /** The driver's features, and their names on ethtool's command line. */
    private static final Map<String, String> FEATURES = features(
        "rx-gro", "gro", "rx-lro", "lro", "rx-gro-hw", "rx-gro-hw", "rx-gro-list", "rx-gro-list",
        "rx-udp-gro-forwarding", "rx-udp-gro-forwarding",
        "tx-generic-segmentation", "gso", "tx-tcp-segmentation", "tso", "tx-tcp6-segmentation", "tso",
        "tx-tcp-ecn-segmentation", "tso", "tx-tcp-mangleid-segmentation", "tso", "tx-tcp-accecn-segmentation", "tso",
        "tx-udp-segmentation", "tx-udp-segmentation");

    private static final String NO_INTERFACE = "no such interface";
    private static final long SIOCETHTOOL = 0x8946;
    private static final int GET_STRING_SET_INFO = 0x37;
    private static final int GET_STRINGS = 0x1B;
    private static final int GET_FEATURES = 0x3A;
    private static final int SET_FEATURES = 0x3B;
    private static final int STRING_SET_FEATURES = 4;
    private static final int STRING_LENGTH_BYTES = 32;
    private static final int MAXIMUM_FEATURES = 1024;
    // struct ifreq: name 16, address of data 8, up to 40 in all
    private static final int REQUEST_LENGTH_BYTES = 40;
    private static final int REQUEST_DATA_OFFSET = 16;
    // struct ethtool_sset_info: command 4, reserved 4, mask 8, data 4
    private static final int SET_MASK_OFFSET = 8;
    private static final int SET_DATA_OFFSET = 16;
    private static final int SET_LENGTH_BYTES = 24;
    // struct ethtool_gstrings: command 4, set 4, length 4, data
    private static final int STRINGS_SET_OFFSET = 4;
    private static final int STRINGS_COUNT_OFFSET = 8;
    private static final int STRINGS_DATA_OFFSET = 12;
    // struct ethtool_gfeatures: command 4, size 4, then for each 32: available 4, requested 4, active 4, never changed 4
    private static final int FEATURES_SIZE_OFFSET = 4;
    private static final int FEATURES_DATA_OFFSET = 8;
    private static final int FEATURES_BLOCK_LENGTH_BYTES = 16;
    private static final int FEATURES_ACTIVE_OFFSET = 8;
    private static final int FEATURES_NEVER_CHANGED_OFFSET = 12;
    // struct ethtool_sfeatures: command 4, size 4, then for each 32: to be set 4, values 4
    private static final int SWITCH_BLOCK_LENGTH_BYTES = 8;
    private static final int SWITCH_VALUES_OFFSET = 4;
    private static final ByteOrder ORDER = ByteOrder.nativeOrder();

    /** Reads the driver's state. Returns it, or that it cannot be read; never throws. */
    public static OffloadState of(final String interfaceName) {
        if (!Platform.isLinux()) {
            return unreadable(interfaceName, "only Linux tells");
        }
        if (isTooLong(interfaceName)) {
            return unreadable(interfaceName, NO_INTERFACE);
        }
        final int fd = CLibrary.socket(UdpLayout.AF_INET, UdpLayout.SOCK_DGRAM | UdpLayout.SOCK_CLOEXEC, 0);
        if (fd < 0) {
            return unreadable(interfaceName, Errno.describe(Errno.last()));
        }
        try {
            return read(fd, interfaceName);
        } finally {
            CLibrary.close(fd);
        }
    }

    private static OffloadState read(final int fd, final String interfaceName) {
        final UnsafeBuffer info = command(SET_LENGTH_BYTES, GET_STRING_SET_INFO);
        info.putLong(SET_MASK_OFFSET, 1L << STRING_SET_FEATURES, ORDER);
        if (!ask(fd, interfaceName, info)) {
            return unreadable(interfaceName, Errno.describe(Errno.last()));
        }
        final int count = info.getLong(SET_MASK_OFFSET, ORDER) == 0 ? 0 : info.getInt(SET_DATA_OFFSET, ORDER);
        if (count < 1 || count > MAXIMUM_FEATURES) {
            return unreadable(interfaceName, "the driver names no features");
        }
        final UnsafeBuffer names = command(STRINGS_DATA_OFFSET + count * STRING_LENGTH_BYTES, GET_STRINGS);
        names.putInt(STRINGS_SET_OFFSET, STRING_SET_FEATURES, ORDER);
        names.putInt(STRINGS_COUNT_OFFSET, count, ORDER);
        final int blockCount = (count + Integer.SIZE - 1) / Integer.SIZE;
        final UnsafeBuffer states = command(FEATURES_DATA_OFFSET + blockCount * FEATURES_BLOCK_LENGTH_BYTES, GET_FEATURES);
        states.putInt(FEATURES_SIZE_OFFSET, blockCount, ORDER);
        if (!ask(fd, interfaceName, names) || !ask(fd, interfaceName, states)) {
            return unreadable(interfaceName, Errno.describe(Errno.last()));
        }
        final Set<String> on = new LinkedHashSet<>();
        final Set<String> fixed = new LinkedHashSet<>();
        final Integer[] bits = new Integer[blockCount];
        Arrays.fill(bits, 0);
        for (int i = 0; i < count; i++) {
            final String option = FEATURES.get(text(names, STRINGS_DATA_OFFSET + i * STRING_LENGTH_BYTES));
            final int block = FEATURES_DATA_OFFSET + i / Integer.SIZE * FEATURES_BLOCK_LENGTH_BYTES;
            final int bit = 1 << i % Integer.SIZE;
            if (option != null && (states.getInt(block + FEATURES_ACTIVE_OFFSET, ORDER) & bit) != 0) {
                final boolean isFixed = (states.getInt(block + FEATURES_NEVER_CHANGED_OFFSET, ORDER) & bit) != 0;
                (isFixed ? fixed : on).add(option);
                bits[i / Integer.SIZE] |= isFixed ? 0 : bit;
            }
        }
        return new OffloadState(interfaceName, List.copyOf(on), List.copyOf(fixed), "", List.of(bits));
    }

    private static UnsafeBuffer command(final int lengthBytes, final int command) {
        final UnsafeBuffer buffer = UdpSocket.direct(lengthBytes);
        buffer.putInt(0, command, ORDER);
        return buffer;
    }

    private static boolean isTooLong(final String interfaceName) {
        return interfaceName.getBytes(StandardCharsets.UTF_8).length > UdpLayout.MAXIMUM_INTERFACE_NAME_LENGTH_BYTES;
    }

    /** Asks the driver of an interface, by an ethtool command that has its answer written into it. Returns the fault, or "". */
    static String ask(final String interfaceName, final UnsafeBuffer data) {
        if (isTooLong(interfaceName)) {
            return NO_INTERFACE;
        }
        final int fd = CLibrary.socket(UdpLayout.AF_INET, UdpLayout.SOCK_DGRAM | UdpLayout.SOCK_CLOEXEC, 0);
        if (fd < 0) {
            return Errno.describe(Errno.last());
        }
        try {
            return ask(fd, interfaceName, data) ? "" : Errno.describe(Errno.last());
        } finally {
            CLibrary.close(fd);
        }
    }

    private static boolean ask(final int fd, final String interfaceName, final UnsafeBuffer data) {
        final UnsafeBuffer request = UdpSocket.direct(REQUEST_LENGTH_BYTES);
        request.putBytes(0, interfaceName.getBytes(StandardCharsets.UTF_8));
        request.putLong(REQUEST_DATA_OFFSET, data.addressOffset(), ORDER);
        final boolean isAnswered = CLibrary.ioctl(fd, SIOCETHTOOL, request.addressOffset()) >= 0;
        java.lang.ref.Reference.reachabilityFence(data);
        return isAnswered;
    }

    private static String text(final UnsafeBuffer buffer, final int offset) {
        int lengthBytes = 0;
        while (lengthBytes < STRING_LENGTH_BYTES && buffer.getByte(offset + lengthBytes) != 0) {
            lengthBytes++;
        }
        final byte[] octets = new byte[lengthBytes];
        buffer.getBytes(offset, octets);
        return new String(octets, StandardCharsets.US_ASCII);
    }

    private static OffloadState unreadable(final String interfaceName, final String why) {
        return new OffloadState(interfaceName, List.of(), List.of(), why, List.of());
    }

    private static Map<String, String> features(final String... namesAndOptions) {
        final Map<String, String> features = new LinkedHashMap<>();
        for (int i = 0; i < namesAndOptions.length; i += 2) {
            features.put(namesAndOptions[i], namesAndOptions[i + 1]);
        }
        return features;
    }

    /** {@return whether an offload that joins or splits packets is on} */
    public boolean isOn() {
        return !on.isEmpty() || !fixed.isEmpty();
    }

    /**
     * Switches those that were {@code on}. The driver may leave some as they are: read it again.
     *
     * @return why the driver refuses, or "".
     */
    public String turn(final boolean isOn) {
        if (on.isEmpty()) {
            return "";
        }
        final UnsafeBuffer features = command(FEATURES_DATA_OFFSET + bits.size() * SWITCH_BLOCK_LENGTH_BYTES, SET_FEATURES);
        features.putInt(FEATURES_SIZE_OFFSET, bits.size(), ORDER);
        for (int i = 0; i < bits.size(); i++) {
            final int block = FEATURES_DATA_OFFSET + i * SWITCH_BLOCK_LENGTH_BYTES;
            features.putInt(block, bits.get(i), ORDER);
            features.putInt(block + SWITCH_VALUES_OFFSET, isOn ? bits.get(i) : 0, ORDER);
        }
        return ask(interfaceName, features);
    }

    /** {@return the command that switches the active offloads off, or on again, or empty if none can be} */
    public String line(final boolean isOn) {
        if (on.isEmpty()) {
            return "";
        }
        final List<String> line = new ArrayList<>(List.of("ethtool", "-K", interfaceName));
        for (final String option : on) {
            line.add(option);
            line.add(isOn ? "on" : "off");
        }
        return String.join(" ", line);
    }
}
