package io.flowlag.exporter.config;

import io.flowlag.common.config.BadValueException;
import io.flowlag.common.config.Names;
import io.flowlag.common.config.Prefix;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * A rule that gives flows a weight (LDS paper, section 4.1): conditions, all of which must hold, and the weight, as words of
 * the form {@code name=value}:
 * <pre>
 *   src=PREFIX  dst=PREFIX            an IPv4 or IPv6 prefix, such as 10.1.0.0/16
 *   sport=PORTS dport=PORTS port=PORTS ports and ranges, such as 443,8000-8100; port means either
 *   proto=PROTOCOLS                   names or numbers, such as tcp,udp,132
 *   dscp=CODEPOINTS                   names or numbers, such as ef,cs5,46
 *   weight=N                          1 to 10000; must be there
 * </pre>
 * Immutable, any thread. An absent condition is null or empty.
 *
 * @param source           prefix of the source address, or null.
 * @param destination      prefix of the destination address, or null.
 * @param sourcePorts      ranges, one of which must hold the source port; empty for any.
 * @param destinationPorts ranges, one of which must hold the destination port; empty for any.
 * @param ports            ranges, one of which must hold either port; empty for any.
 * @param protocols        IP protocol numbers; empty for any.
 * @param codePoints       DSCP, 0 to 63; empty for any.
 * @param weight           of the flows, 1 to {@link #MAX_WEIGHT}.
 */
public record WeightRule(
    Prefix source,
    Prefix destination,
    List<PortRange> sourcePorts,
    List<PortRange> destinationPorts,
    List<PortRange> ports,
    List<Integer> protocols,
    List<Integer> codePoints,
    int weight) {
    /** Largest weight: a cell's weighted sum fits 63 bits while its delays sum to less than ten days. */
    public static final int MAX_WEIGHT = 10_000;

    private static final Pattern NUMBER = Pattern.compile("[0-9]{1,5}");
    private static final int MAX_PORT = 65_535;
    private static final int MAX_PROTOCOL = 255;
    private static final int MAX_CODE_POINT = 63;
    private static final Set<String> NAMES =
        Set.of("src", "dst", "sport", "dport", "port", "proto", "dscp", "weight");
    private static final Map<String, Integer> PROTOCOLS = Map.of(
        "icmp", 1, "tcp", 6, "udp", 17, "gre", 47, "esp", 50, "icmpv6", 58, "sctp", 132, "udplite", 136, "dccp", 33);
    private static final Map<String, Integer> CODE_POINTS = codePointNames();

    /** A range of ports, both ends included: 0 to 65535. */
    public record PortRange(int first, int last) {
    }

    /** Reads a rule. If it is invalid, the message of the exception names the word and the remedy. */
    public static WeightRule parse(final String text) {
        final Map<String, String> words = new LinkedHashMap<>();
        for (final String word : text.strip().split("\\s+")) {
            final int equalsIndex = word.indexOf('=');
            final String name = equalsIndex < 0 ? word : word.substring(0, equalsIndex);
            require(equalsIndex > 0 && equalsIndex < word.length() - 1,
                "'" + word + "' is no condition: write such as dst=10.1.0.0/16 dport=443 proto=tcp weight=100");
            require(NAMES.contains(name), "'" + name + "' is unknown: use src, dst, sport, dport, port, proto, dscp and weight" +
                Names.didYouMean(name, NAMES));
            require(words.put(name, word.substring(equalsIndex + 1)) == null, "'" + name + "' is there twice: leave one out");
        }
        require(words.containsKey("weight"), "has no weight: add such as weight=100");
        final int weight = number("weight", words.get("weight"), 1, MAX_WEIGHT);
        final Prefix source = prefix("src", words.get("src"));
        final Prefix destination = prefix("dst", words.get("dst"));
        require(source == null || destination == null || source.isIpv6() == destination.isIpv6(),
            "src and dst are of different IP versions, so no packet matches: make two rules");
        require(!words.containsKey("port") || !words.containsKey("sport") && !words.containsKey("dport"),
            "port means either port, so it does not go with sport or dport: leave one out");
        return new WeightRule(source, destination, ranges("sport", words.get("sport")),
            ranges("dport", words.get("dport")), ranges("port", words.get("port")),
            numbers("proto", words.get("proto"), PROTOCOLS, MAX_PROTOCOL, "tcp,udp,132"),
            numbers("dscp", words.get("dscp"), CODE_POINTS, MAX_CODE_POINT, "ef,cs5,46"), weight);
    }

    /** Whether the rule matches every packet, so that later rules are never reached. Returns true if it has no condition. */
    public boolean matchesAll() {
        return source == null && destination == null && sourcePorts.isEmpty() && destinationPorts.isEmpty() &&
            ports.isEmpty() && protocols.isEmpty() && codePoints.isEmpty();
    }

    private static Prefix prefix(final String name, final String text) {
        if (text == null) {
            return null;
        }
        final String[] parts = text.split("/", -1);
        final Prefix address = parts.length <= 2 ? address(parts[0]) : null;
        require(address != null, name + "=" + text + " is no prefix: write such as " + name + "=10.1.0.0/16 or " + name +
            "=2001:db8::/32");
        final int bits = address.lengthBits();
        final int length = parts.length == 1 ? bits : number(name + " prefix length", parts[1], 0, bits);
        for (int bit = length; bit < bits; bit++) {
            final long word = bits - bit > Long.SIZE ? address.high() : address.low();
            require((word >>> (bits - 1 - bit) % Long.SIZE & 1) == 0,
                name + "=" + text + " has bits set after the first " + length + ": clear them, or write a longer prefix");
        }
        return new Prefix(address.isIpv6(), address.high(), address.low(), length);
    }

    /** A literal address as a prefix of full length, or null if it is invalid; IPv4-mapped ones are. */
    private static Prefix address(final String text) {
        try {
            final Prefix address = Prefix.parse(text);
            return address.isIpv4Mapped() ? null : address;
        } catch (final BadValueException ex) {
            return null;
        }
    }

    private static List<PortRange> ranges(final String name, final String text) {
        final List<PortRange> ranges = new ArrayList<>();
        for (final String part : text == null ? new String[0] : text.split(",", -1)) {
            final String[] ends = part.split("-", -1);
            require(ends.length <= 2, name + "=" + text + ": '" + part + "' is no range: write such as 8000-8100");
            final int first = number(name, ends[0], 0, MAX_PORT);
            final int last = ends.length == 1 ? first : number(name, ends[1], 0, MAX_PORT);
            require(first <= last, name + "=" + text + ": " + part + " is empty: write " + last + "-" + first);
            ranges.add(new PortRange(first, last));
        }
        return List.copyOf(ranges);
    }

    private static List<Integer> numbers(
        final String name, final String text, final Map<String, Integer> names, final int most, final String example) {
        final Set<Integer> numbers = new HashSet<>();
        for (final String part : text == null ? new String[0] : text.split(",", -1)) {
            final Integer named = names.get(part.toLowerCase(Locale.ROOT));
            require(named != null || NUMBER.matcher(part).matches(), name + "=" + text + ": '" + part +
                "' is unknown: write such as " + name + "=" + example + Names.didYouMean(part, names.keySet()));
            numbers.add(named != null ? named : Integer.valueOf(number(name, part, 0, most)));
        }
        return numbers.stream().sorted().toList();
    }

    private static int number(final String name, final String text, final int least, final int most) {
        final int value = NUMBER.matcher(text).matches() ? Integer.parseInt(text) : -1;
        require(value >= least && value <= most, name + "=" + text + ": must be a number, " + least + " to " + most);
        return value;
    }

    private static Map<String, Integer> codePointNames() {
        final Map<String, Integer> names = new LinkedHashMap<>();
        for (int selector = 0; selector < 8; selector++) {
            names.put("cs" + selector, 8 * selector);
        }
        for (int group = 1; group <= 4; group++) {
            for (int drop = 1; drop <= 3; drop++) {
                names.put("af" + group + drop, 8 * group + 2 * drop);
            }
        }
        names.put("ef", 46);
        names.put("va", 44);
        names.put("le", 1);
        names.put("be", 0);
        return names;
    }

    private static void require(final boolean holds, final String message) {
        if (!holds) {
            throw new IllegalArgumentException(message);
        }
    }
}
