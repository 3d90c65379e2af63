package io.flowlag.exporter.listing;

import io.flowlag.common.config.Prefix;

import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Selects the rows that match every condition. Immutable.
 *
 * @param prefixes    of the source, the destination, or either of them.
 * @param numbers     ports, protocol and DSCP.
 * @param application name by port; null for any.
 * @param least       values of a row, of one record or of several, in the units of its keys; rows that do not know theirs are
 *                    excluded.
 */
public record RowFilter(
    Map<Condition, Prefix> prefixes, Map<Condition, Integer> numbers, String application, Map<SortKey, Long> least) {
    /** Every row. */
    public static final RowFilter ALL = new RowFilter(Map.of(), Map.of(), null, Map.of());

    private static final int LARGEST_PORT = 65_535;
    private static final int LARGEST_DSCP = 63;

    private static final Map<String, Condition> NAMES = Map.ofEntries(
        Map.entry("source", Condition.SOURCE), Map.entry("src", Condition.SOURCE),
        Map.entry("destination", Condition.DESTINATION), Map.entry("dst", Condition.DESTINATION),
        Map.entry("prefix", Condition.PREFIX), Map.entry("net", Condition.PREFIX), Map.entry("host", Condition.PREFIX),
        Map.entry("port", Condition.PORT), Map.entry("sport", Condition.SPORT), Map.entry("dport", Condition.DPORT),
        Map.entry("protocol", Condition.PROTOCOL), Map.entry("proto", Condition.PROTOCOL),
        Map.entry("app", Condition.APP), Map.entry("dscp", Condition.DSCP), Map.entry("min-packets", Condition.MIN_PACKETS),
        Map.entry("min-delay", Condition.MIN_DELAY), Map.entry("min-handshake", Condition.MIN_HANDSHAKE),
        Map.entry("min-rtt", Condition.MIN_RTT), Map.entry("min-retransmitted", Condition.MIN_RETRANSMITTED),
        Map.entry("min-reordered", Condition.MIN_REORDERED), Map.entry("min-zero-windows", Condition.MIN_ZERO_WINDOWS));

    /** One condition, by its name on the command line. */
    public enum Condition {
        SOURCE, DESTINATION, PREFIX, PORT, SPORT, DPORT, PROTOCOL, APP, DSCP, MIN_PACKETS, MIN_DELAY, MIN_HANDSHAKE, MIN_RTT,
        MIN_RETRANSMITTED, MIN_REORDERED, MIN_ZERO_WINDOWS
    }

    /** {@return the same with one more condition} Throws {@link IllegalArgumentException} with what continues the value. */
    public RowFilter with(final Condition condition, final String text) {
        final String value = text.strip();
        return switch (condition) {
            case SOURCE, DESTINATION, PREFIX ->
                new RowFilter(with(prefixes, condition, Prefix.of(value)), numbers, application, least);
            case PORT, SPORT, DPORT -> with(condition, port(value));
            case PROTOCOL -> with(condition, protocol(value));
            case APP -> new RowFilter(prefixes, numbers, application(value), least);
            case DSCP -> with(condition, (int)number(value, LARGEST_DSCP));
            case MIN_PACKETS -> with(SortKey.PACKETS, number(value, Long.MAX_VALUE));
            case MIN_DELAY -> with(SortKey.MEAN, durationNs(value));
            case MIN_HANDSHAKE -> with(SortKey.HANDSHAKE, durationNs(value));
            case MIN_RTT -> with(SortKey.RTT, durationNs(value));
            case MIN_RETRANSMITTED -> with(SortKey.RETRANSMITTED, number(value, Long.MAX_VALUE));
            case MIN_REORDERED -> with(SortKey.REORDERED, number(value, Long.MAX_VALUE));
            case MIN_ZERO_WINDOWS -> with(SortKey.ZERO_WINDOWS, number(value, Long.MAX_VALUE));
        };
    }

    private RowFilter with(final Condition condition, final int number) {
        return new RowFilter(prefixes, with(numbers, condition, number), application, least);
    }

    private RowFilter with(final SortKey key, final long value) {
        return new RowFilter(prefixes, numbers, application, with(least, key, value));
    }

    private static <K, V> Map<K, V> with(final Map<K, V> map, final K key, final V value) {
        final Map<K, V> all = new HashMap<>(map);
        all.put(key, value);
        return Map.copyOf(all);
    }

    /**
     * Parses conditions as people type them: names and values, such as {@code src 192.0.2.0/24 port 443 min-delay 5ms}; a prefix,
     * a number, an application or a protocol without a name is that of either end, the port, and so on. Throws
     * {@link IllegalArgumentException}.
     */
    public static RowFilter parse(final String text) {
        final Iterator<String> words = List.of(text.strip().split("[\\s=]+")).iterator();
        RowFilter filter = ALL;
        while (!text.isBlank() && words.hasNext()) {
            final String word = words.next();
            final Condition condition = NAMES.get(word.toLowerCase(Locale.ROOT));
            if (condition != null && !words.hasNext()) {
                throw new IllegalArgumentException(word + " needs a value");
            }
            final String value = condition == null ? word : words.next();
            try {
                filter = filter.with(condition != null ? condition : ofValue(value), value);
            } catch (final IllegalArgumentException ex) {
                throw new IllegalArgumentException(value + ' ' + ex.getMessage(), ex);
            }
        }
        return filter;
    }

    private static Condition ofValue(final String value) {
        if (value.indexOf('.') < 0 && value.indexOf(':') < 0) {
            return value.matches("[0-9]+") ? Condition.PORT :
                Applications.named(value) != null ? Condition.APP : Condition.PROTOCOL;
        }
        return Condition.PREFIX;
    }

    private static long number(final String text, final long largest) {
        final long number = text.matches("[0-9]{1,18}") ? Long.parseLong(text) : -1;
        if (number < 0 || number > largest) {
            throw new IllegalArgumentException(
                largest == Long.MAX_VALUE ? "must be a number" : "must be 0 to " + largest);
        }
        return number;
    }

    private static int port(final String text) {
        final String name = Applications.named(text);
        if (name != null) {
            throw new IllegalArgumentException("must be 0 to " + LARGEST_PORT + "; --app " + name + " takes the name");
        }
        return (int)number(text, LARGEST_PORT);
    }

    private static int protocol(final String text) {
        final int number = Protocols.number(text);
        if (number < 0) {
            throw new IllegalArgumentException("must be tcp, udp, icmp, icmp6, sctp or a number, 0 to 255");
        }
        return number;
    }

    private static String application(final String text) {
        final String name = Applications.named(text);
        if (name == null) {
            throw new IllegalArgumentException("must be IANA's name of a well-known port, such as https; --port takes any");
        }
        return name;
    }

    private static long durationNs(final String text) {
        final Double durationNs = DurationText.ns(text);
        if (durationNs == null) {
            throw new IllegalArgumentException("write 5ms (units " + DurationText.UNIT_NAMES + ")");
        }
        return Math.round(durationNs);
    }

    /** Whether a record is of what is asked for. */
    boolean matches(final RowKey key) {
        return (application == null || application.equals(key.application())) &&
            prefixes.entrySet().stream().allMatch((each) -> matches(key, each.getKey(), each.getValue())) &&
            numbers.entrySet().stream().allMatch((each) -> matches(key, each.getKey(), each.getValue()));
    }

    private static boolean matches(final RowKey key, final Condition condition, final Prefix prefix) {
        return condition != Condition.DESTINATION && contains(prefix, key.source()) ||
            condition != Condition.SOURCE && contains(prefix, key.destination());
    }

    private static boolean matches(final RowKey key, final Condition condition, final int number) {
        return switch (condition) {
            case PROTOCOL -> number == key.protocol();
            case DSCP -> number == key.dscp();
            case SPORT -> number == key.sourcePort();
            case DPORT -> number == key.destinationPort();
            default -> number == key.sourcePort() || number == key.destinationPort();
        };
    }

    /** Whether a row has the least values. */
    boolean isEnough(final FlowRow row) {
        return least.entrySet().stream().allMatch((each) -> each.getKey().of(row) >= each.getValue());
    }

    private static boolean contains(final Prefix prefix, final Prefix address) {
        return address != null && prefix.contains(address.isIpv6(), address.high(), address.low());
    }
}
