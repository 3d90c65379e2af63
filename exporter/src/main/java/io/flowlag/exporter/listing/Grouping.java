package io.flowlag.exporter.listing;

import io.flowlag.common.config.Prefix;

import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What rows of a group have in common, such as {@code dst/24,dscp}: addresses as a whole or to a length, protocol, ports,
 * application, DSCP, segment. Immutable.
 */
public final class Grouping {
    /** The parts that it may have. */
    enum Part {
        SRC, DST, PROTO, SPORT, DPORT, APP, DSCP, SEGMENT
    }

    /** For messages and help. */
    public static final String SYNTAX = "src, dst (src/24, or src/24/56 with a length for IPv6), proto, sport, dport, app " +
        "(name by port), dscp, segment, or flow for all of the five-tuple";

    private static final Pattern PART = Pattern.compile("([a-z]+)(?:/([0-9]{1,2})(?:/([0-9]{1,3}))?)?");
    private static final int IPV4_BITS = 32;
    private static final int IPV6_BITS = 128;
    /** Of IPv6, where a length is given for IPv4 alone: a network. */
    private static final int IPV6_NETWORK_BITS = 64;

    private final Set<Part> parts = EnumSet.noneOf(Part.class);
    private final int[] sourceBits = {IPV4_BITS, IPV6_BITS};
    private final int[] destinationBits = {IPV4_BITS, IPV6_BITS};

    private Grouping() {
    }

    /** {@return the grouping of the records of a flow} */
    public static Grouping ofFlows() {
        return parse("flow");
    }

    /** Parses a list of parts. Throws {@link IllegalArgumentException} with what continues the text if it is invalid. */
    public static Grouping parse(final String text) {
        final Grouping grouping = new Grouping();
        for (final String part : text.toLowerCase(Locale.ROOT).split(",", -1)) {
            grouping.add(part.strip());
        }
        return grouping;
    }

    private void add(final String text) {
        if ("flow".equals(text)) {
            parts.addAll(EnumSet.range(Part.SRC, Part.DPORT));
            return;
        }
        final Matcher matcher = PART.matcher(text);
        final Part part = matcher.matches() ? part(matcher.group(1)) : null;
        final boolean isAddress = part == Part.SRC || part == Part.DST;
        if (part == null || !isAddress && matcher.group(2) != null) {
            throw new IllegalArgumentException("must be of " + SYNTAX);
        }
        parts.add(part);
        if (matcher.group(2) != null) {
            final int[] bits = part == Part.SRC ? sourceBits : destinationBits;
            bits[0] = Integer.parseInt(matcher.group(2));
            bits[1] = matcher.group(3) == null ? IPV6_NETWORK_BITS : Integer.parseInt(matcher.group(3));
            if (bits[0] > IPV4_BITS || bits[1] > IPV6_BITS) {
                throw new IllegalArgumentException("must have lengths of 0 to 32 for IPv4 and 0 to 128 for IPv6");
            }
        }
    }

    private static Part part(final String name) {
        for (final Part part : Part.values()) {
            if (part.name().toLowerCase(Locale.ROOT).equals(name)) {
                return part;
            }
        }
        return null;
    }

    boolean has(final Part part) {
        return parts.contains(part);
    }

    /** {@return whether addresses of a part are not kept as a whole} */
    boolean isShortened(final Part part, final boolean isIpv6) {
        final int[] bits = part == Part.SRC ? sourceBits : destinationBits;
        return isIpv6 ? bits[1] < IPV6_BITS : bits[0] < IPV4_BITS;
    }

    /** {@return the key of a row's group} */
    public RowKey of(final RowKey key) {
        return new RowKey(
            has(Part.SRC) ? network(key.source(), sourceBits) : null,
            has(Part.DST) ? network(key.destination(), destinationBits) : null,
            has(Part.PROTO) ? key.protocol() : RowKey.NONE,
            has(Part.SPORT) ? key.sourcePort() : RowKey.NONE,
            has(Part.DPORT) ? key.destinationPort() : RowKey.NONE,
            has(Part.DSCP) ? key.dscp() : RowKey.NONE,
            has(Part.SEGMENT) ? key.segmentId() : RowKey.NONE,
            has(Part.APP) ? key.application() : null);
    }

    private static Prefix network(final Prefix address, final int[] bits) {
        return address == null ? null : new Prefix(address.isIpv6(), address.high(), address.low(),
            Math.min(address.lengthBits(), bits[address.isIpv6() ? 1 : 0])).network();
    }
}
