package io.flowlag.exporter.delay;

import io.flowlag.common.config.Prefix;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.decode.FlowKeyLayout;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.flow.FlowEntry;
import org.agrona.DirectBuffer;

import java.nio.IntBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Segments of a packet by the observation point that sees it and its addresses: the one whose sender the point is, and the one
 * whose receiver it is. Each is decided by itself: the most specific destination prefix wins, then the most specific source
 * prefix, then a VLAN against none.
 * <p>
 * A lookup finds the class of each address ({@link PrefixClasses}) and reads one cell, whatever the number of segments. For a
 * point, a VLAN and an IP version whose prefixes form d classes of destinations and s of sources it takes 4 d s octets, and the
 * tables of the classes. Addresses that every other address treats alike are of one class: n segments whose prefixes do not
 * overlap have at most n + 1. Immutable. Allocates at construction.
 */
public final class SegmentLookup {
    /** Neither a segment nor a point. */
    public static final int NONE = -1;
    /** The most segments; indexes are below. */
    public static final int MAX_SEGMENTS = 0xFFFF;

    private static final int MAX_CELLS = 1 << 24;
    private static final int VLAN_COUNT = 4096;
    private static final int IP_VERSIONS = 2;
    private static final int IPV6 = 6;
    private static final int SENDER_SHIFT = 16;

    private final int pointCount;
    private final boolean hasVlans;
    /** The place of each VLAN among the tables; 0 for those without selections of their own. */
    private final short[] vlanPlaces = new short[VLAN_COUNT];
    private final Table[] tables;

    /**
     * Packets of a segment at its points.
     *
     * @param segment       index of the segment, 0 or more.
     * @param senderPoint   index of the observation point that is its sender, or {@link #NONE}.
     * @param receiverPoint index of the one that is its receiver, or {@link #NONE}.
     */
    public record Selection(int segment, int senderPoint, int receiverPoint, ExporterConfig.Selector selector) {
        public Selection {
            if (segment < 0 || segment >= MAX_SEGMENTS) {
                throw new IllegalArgumentException("segment " + segment + " is not below " + MAX_SEGMENTS);
            }
        }

        private Stream<Prefix> sources(final boolean isIpv6) {
            return prefixes(selector.sources(), isIpv6);
        }

        private Stream<Prefix> destinations(final boolean isIpv6) {
            return prefixes(selector.destinations(), isIpv6);
        }

        private static Stream<Prefix> prefixes(final List<Prefix> some, final boolean isIpv6) {
            return some.isEmpty() ? Stream.of(Prefixes.all(isIpv6)) :
                some.stream().filter((each) -> each.isIpv6() == isIpv6).map(Prefix::network).distinct();
        }
    }

    /**
     * A lookup.
     *
     * @param pointCount number of observation points.
     * @throws IllegalArgumentException if two segments select the same packets at a point in one role, or the prefixes form too
     *                                  many classes.
     */
    public SegmentLookup(final int pointCount, final List<Selection> selections) {
        this.pointCount = pointCount;
        final int[] vlanIds = selections.stream().mapToInt((each) -> each.selector().vlanId()).filter((id) -> id >= 0).distinct()
            .toArray();
        hasVlans = vlanIds.length > 0;
        tables = new Table[(vlanIds.length + 1) * pointCount * IP_VERSIONS];
        for (int place = 0; place <= vlanIds.length; place++) {
            final int vlanId = place == 0 ? NONE : vlanIds[place - 1];
            if (place > 0) {
                vlanPlaces[vlanId] = (short)place;
            }
            for (int point = 0; point < pointCount; point++) {
                final List<Rule> rules = rules(selections, point, vlanId);
                final boolean isAsWithoutVlan = place > 0 && rules.stream().noneMatch(Rule::hasVlan);
                for (int version = 0; version < IP_VERSIONS; version++) {
                    tables[index(place, point, version == 1)] = isAsWithoutVlan ? tables[index(0, point, version == 1)] :
                        new TableBuilder(rules, version == 1).build();
                }
            }
        }
    }

    /** What selects packets of a VLAN at a point, with a rule of each role that a segment has there. */
    private static List<Rule> rules(final List<Selection> selections, final int point, final int vlanId) {
        final List<Rule> rules = new ArrayList<>();
        for (final Selection each : selections) {
            final int selected = each.selector().vlanId();
            if (selected < 0 || selected == vlanId) {
                if (each.senderPoint == point) {
                    rules.add(new Rule(each, false));
                }
                if (each.receiverPoint == point) {
                    rules.add(new Rule(each, true));
                }
            }
        }
        return rules;
    }

    /** The segments of a packet at a point, for {@link #sender} and {@link #receiver}. */
    public int of(final int point, final DirectBuffer descriptor, final int offset) {
        return tables[index(vlanPlace(descriptor, offset), point, PacketDescriptor.ipVersion(descriptor, offset) == IPV6)].of(
            PacketDescriptor.sourceHigh(descriptor, offset), PacketDescriptor.sourceLow(descriptor, offset),
            PacketDescriptor.destinationHigh(descriptor, offset), PacketDescriptor.destinationLow(descriptor, offset));
    }

    /** The segments of the first packet of a flow at a point. */
    public int ofEntry(final int point, final DirectBuffer entry, final int offset) {
        return tables[index(vlanPlace(entry, offset), point, FlowEntry.ipVersion(entry, offset) == IPV6)].of(
            FlowEntry.sourceHigh(entry, offset), FlowEntry.sourceLow(entry, offset),
            FlowEntry.destinationHigh(entry, offset), FlowEntry.destinationLow(entry, offset));
    }

    /** The table of a packet or a flow. */
    private int vlanPlace(final DirectBuffer key, final int offset) {
        return hasVlans && (FlowKeyLayout.flags(key, offset) & FlowKeyLayout.FLAG_VLAN) != 0 ?
            vlanPlaces[FlowKeyLayout.vlanId(key, offset) & VLAN_COUNT - 1] : 0;
    }

    /** {@return the index of the segment whose sender the point is, of segments that were found, or {@link #NONE}} */
    public static int sender(final int found) {
        return (found >>> SENDER_SHIFT) - 1;
    }

    /** {@return the index of the segment whose receiver the point is, of segments that were found, or {@link #NONE}} */
    public static int receiver(final int found) {
        return (found & MAX_SEGMENTS) - 1;
    }

    /** {@return segments as they are found, by their indexes or {@link #NONE}} */
    static int found(final int sender, final int receiver) {
        return sender + 1 << SENDER_SHIFT | receiver + 1;
    }

    /** {@return octets of all tables} */
    public long memoryBytes() {
        return Arrays.stream(tables).distinct().mapToLong(Table::memoryBytes).sum();
    }

    private int index(final int vlanPlace, final int point, final boolean isIpv6) {
        return (vlanPlace * pointCount + point) * IP_VERSIONS + (isIpv6 ? 1 : 0);
    }

    /** A selection in one of its roles. */
    private record Rule(Selection selection, boolean isReceiver) {
        boolean hasVlan() {
            return selection.selector().vlanId() >= 0;
        }

        /** {@return the segments of a cell with this segment in its role} */
        int in(final int found) {
            final int number = selection.segment() + 1;
            return isReceiver ? found & ~MAX_SEGMENTS | number : found & MAX_SEGMENTS | number << SENDER_SHIFT;
        }
    }

    /** Segments by classes of both addresses; the class of a destination is the first cell of its row. */
    private record Table(PrefixClasses sources, PrefixClasses destinations, int[] cells) {
        int of(final long sourceHigh, final long sourceLow, final long destinationHigh, final long destinationLow) {
            return cells[destinations.of(destinationHigh, destinationLow) + sources.of(sourceHigh, sourceLow)];
        }

        long memoryBytes() {
            return sources.memoryBytes() + destinations.memoryBytes() + (long)cells.length * Integer.BYTES;
        }
    }

    /** Makes the table of an IP version from rules. */
    private static final class TableBuilder {
        private final List<Rule> rules;
        private final boolean isIpv6;
        private final Prefixes sources;
        private final Prefixes destinations;
        /** Indexes of the rules that have a destination. */
        private final Map<Prefix, List<Integer>> rulesOf = new HashMap<>();

        TableBuilder(final List<Rule> rules, final boolean isIpv6) {
            this.rules = rules;
            this.isIpv6 = isIpv6;
            sources = new Prefixes(isIpv6, rules.stream().flatMap((each) -> each.selection.sources(isIpv6)));
            destinations = new Prefixes(isIpv6, rules.stream().flatMap((each) -> each.selection.destinations(isIpv6)));
            for (int i = 0; i < rules.size(); i++) {
                final int rule = i;
                rules.get(i).selection.destinations(isIpv6).forEach((prefix) ->
                    rulesOf.computeIfAbsent(prefix, (key) -> new ArrayList<>()).add(rule));
            }
        }

        Table build() {
            final Distinct rows = new Distinct(destinations.count());
            final Map<List<Object>, Integer> known = new HashMap<>();
            for (int i = 0; i < destinations.count(); i++) {
                final List<Integer> own = rulesOf.getOrDefault(destinations.get(i), List.of());
                final int around = i == 0 ? NONE : rows.classes[destinations.parent(i)];
                rows.classes[i] = known.computeIfAbsent(List.of(around, own), (key) -> rows.add(
                    row(around == NONE ? new int[sources.count()] : rows.list.get(around).clone(), own)));
            }
            final Distinct columns = new Distinct(sources.count());
            for (int i = 0; i < sources.count(); i++) {
                final int column = i;
                columns.classes[i] = columns.add(rows.list.stream().mapToInt((row) -> row[column]).toArray());
            }
            return table(rows, columns);
        }

        private Table table(final Distinct rows, final Distinct columns) {
            final int width = columns.list.size();
            if ((long)rows.list.size() * width > MAX_CELLS) {
                throw new IllegalArgumentException(rows.list.size() + " classes of destinations and " + width +
                    " of sources: their product must not be above " + MAX_CELLS);
            }
            final int[] cells = new int[rows.list.size() * width];
            Arrays.setAll(cells, (i) -> columns.list.get(i % width)[i / width]);
            return new Table(new PrefixClasses(sources, columns.classes), new PrefixClasses(destinations,
                Arrays.stream(rows.classes).map((row) -> row * width).toArray()), cells);
        }

        /** Turns the row of the destination around into one's own: rules overwrite it, the least specific source first. */
        private int[] row(final int[] row, final List<Integer> own) {
            final List<Part> parts = new ArrayList<>();
            own.forEach((rule) -> rules.get(rule).selection.sources(isIpv6).forEach((source) ->
                parts.add(new Part(sources.indexOf(source), source.lengthBits(), rules.get(rule)))));
            parts.sort(Comparator.comparingInt(Part::lengthBits).thenComparing((part) -> part.rule.hasVlan()));
            final Set<List<Object>> seen = new HashSet<>();
            for (final Part part : parts) {
                if (!seen.add(List.of(part.source, part.rule.isReceiver, part.rule.hasVlan()))) {
                    throw new IllegalArgumentException("segment " + part.rule.selection.segment() +
                        " and another select the same packets at one point in one role");
                }
                final int end = sources.end(part.source);
                for (int i = part.source; i < end; i++) {
                    row[i] = part.rule.in(row[i]);
                }
            }
            return row;
        }
    }

    /** A source of a rule. */
    private record Part(int source, int lengthBits, Rule rule) {
    }

    /** Different arrays, and which of them each prefix has. */
    private static final class Distinct {
        private final List<int[]> list = new ArrayList<>();
        private final Map<IntBuffer, Integer> indexes = new HashMap<>();
        private final int[] classes;

        Distinct(final int count) {
            classes = new int[count];
        }

        int add(final int[] values) {
            return indexes.computeIfAbsent(IntBuffer.wrap(values), (key) -> {
                list.add(values);
                return list.size() - 1;
            });
        }
    }
}
