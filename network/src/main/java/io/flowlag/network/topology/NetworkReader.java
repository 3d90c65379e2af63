package io.flowlag.network.topology;

import io.flowlag.common.config.BadValueException;
import io.flowlag.common.config.ConfigNode;
import io.flowlag.common.config.Origin;
import io.flowlag.common.config.Prefix;
import io.flowlag.common.config.Problems;
import io.flowlag.common.config.Sections;
import io.flowlag.common.config.UnitValue;
import io.flowlag.common.config.ValueType;
import io.flowlag.common.config.YamlReader;
import io.flowlag.network.topology.NetworkMap.NamedSegment;
import io.flowlag.network.topology.NetworkMap.Point;
import io.flowlag.network.topology.NetworkMap.Site;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * Reads a network from YAML:
 * <pre>
 *   nodes:    {zrh: {prefixes: [10.1.0.0/16], place: [47.4, 8.5], address: 192.0.2.7}, gva: {}}
 *   links:    ['zrh gva weight=10 delay=900us']     # weight 1 unless given; both directions unless one-way
 *   points:   {zrh-out: {node: zrh, clock: zrh}, gva: {}}      # node and clock are as the point's name unless given
 *   segments: {zrh-gva: {from: zrh-out, to: gva, exporter: 192.0.2.7, domain: 12, id: 3, via: [zrh, gva]}}
 * </pre>
 * Every fault has a line, a column, and the way out. Used by one thread, once.
 */
final class NetworkReader {
    private static final String NODES = "nodes";
    private static final String LINKS = "links";
    private static final String POINTS = "points";
    private static final String SEGMENTS = "segments";
    private static final String ONE_WAY = "one-way";
    private static final String EXAMPLE = "links: ['zrh gva weight=10']";
    private static final String LINK = "'FROM TO', and weight=, delay= or " + ONE_WAY + " behind it";
    private static final Pattern NAME = Pattern.compile("(?:" + NetworkFiles.NAME_CHARACTER + "){1,100}");
    private static final Pattern HOST = Pattern.compile("[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*");
    private static final Pattern DEGREES = Pattern.compile("[+-]?[0-9]{1,3}(\\.[0-9]{1,12})?");
    private static final Pattern NUMBER = Pattern.compile("[0-9]{1,10}");
    private static final ValueType<Long> DELAY = UnitValue.duration("0ns", "60s");
    private static final long MOST_NUMBER = 0xFFFF_FFFFL;

    private final Problems problems;
    private final Sections sections;
    private final Topology.Builder network = new Topology.Builder();
    private final Map<String, Site> sites = new TreeMap<>();
    /** By from and to, ns. */
    private final Map<List<String>, Long> delays = new LinkedHashMap<>();

    private NetworkReader(final Problems problems) {
        this.problems = problems;
        sections = new Sections(problems);
    }

    /**
     * Reads a network.
     *
     * @param problems gets every fault.
     * @return the network; null if there was a fault.
     */
    static NetworkMap read(final String fileName, final String yaml, final Problems problems) {
        try {
            return new NetworkReader(problems).network(
                new YamlReader(fileName, EXAMPLE, problems).read(yaml), Origin.file(fileName, 1, 1));
        } catch (final IOException ex) {
            problems.addMissingInput(fileName + ": cannot be read: " + ex.getMessage());
            return null;
        }
    }

    private NetworkMap network(final ConfigNode.Mapping file, final Origin start) {
        final Map<String, ConfigNode.Entry> parts = sections.keys("", file, NODES, LINKS, POINTS, SEGMENTS);
        if (!parts.containsKey(NODES) && problems.isEmpty()) {
            problems.add(start, "has no nodes: write such as nodes: {zrh: {}, gva: {}}");
        }
        for (final ConfigNode.Entry node : sections.entries(parts.get(NODES))) {
            node(node);
        }
        overlaps(parts.get(NODES));
        links(parts.get(LINKS));
        final Topology topology = network.build();
        final long[] delaysNs = new long[topology.hops()];
        Arrays.fill(delaysNs, NetworkMap.UNKNOWN);
        delays.forEach((ends, delayNs) ->
            delaysNs[topology.hop(topology.node(ends.get(0)), topology.node(ends.get(1)))] = delayNs);
        final List<Point> points = new ArrayList<>();
        final Map<String, Integer> numbers = new HashMap<>();
        for (final ConfigNode.Entry point : sections.entries(parts.get(POINTS))) {
            numbers.put(point.name(), points.size());
            points.add(point(point, topology));
        }
        final List<NamedSegment> segments = new ArrayList<>();
        for (final ConfigNode.Entry segment : sections.entries(parts.get(SEGMENTS))) {
            segments.add(segment(segment, topology, numbers));
        }
        return problems.isEmpty() ? new NetworkMap(
            topology, List.copyOf(sites.values()), delaysNs, List.copyOf(points), List.copyOf(segments)) : null;
    }

    private void node(final ConfigNode.Entry node) {
        final String path = NODES + "." + node.name();
        if (!isName(path, node.origin(), node.name())) {
            return;
        }
        final Map<String, ConfigNode.Entry> keys = sections.keys(path, node, "prefixes", "place", "address");
        final List<Prefix> prefixes = new ArrayList<>();
        for (final ConfigNode.Scalar text : sections.items(path, keys.get("prefixes"))) {
            try {
                prefixes.add(Prefix.parse(text.text()).network());
            } catch (final BadValueException ex) {
                problems.add(text.origin(), path + ".prefixes", text.text(), ex.getMessage());
            }
        }
        final List<ConfigNode.Scalar> place = sections.items(path, keys.get("place"));
        double latitude = Double.NaN;
        double longitude = Double.NaN;
        if (place.size() == 2) {
            latitude = degrees(path, place.get(0), TopologyFiles.POLE);
            longitude = degrees(path, place.get(1), TopologyFiles.DATE_LINE);
        } else if (keys.containsKey("place")) {
            problems.add(keys.get("place").origin(), path + ".place: is no place: write [LATITUDE, LONGITUDE] in degrees");
        }
        final String address = host(path, keys.get("address"));
        try {
            network.node(node.name());
            sites.put(node.name(), new Site(List.copyOf(prefixes), latitude, longitude, address));
        } catch (final TopologyException ex) {
            problems.add(node.origin(), path + ": " + ex.getMessage());
        }
    }

    private boolean isName(final String path, final Origin origin, final String name) {
        final boolean isName = NAME.matcher(name).matches();
        if (!isName) {
            problems.add(origin, path + ": a name has at most 100 characters, no space and no quotation mark: give another");
        }
        return isName;
    }

    private String host(final String path, final ConfigNode.Entry entry) {
        final String host = sections.text(path, entry, "");
        if (!host.isEmpty() && !HOST.matcher(host).matches()) {
            problems.add(entry.origin(), path + "." + entry.name(), host, "is neither a host's name nor its address");
        }
        return host;
    }

    private double degrees(final String path, final ConfigNode.Scalar text, final double most) {
        final double degrees = DEGREES.matcher(text.text()).matches() ? Double.parseDouble(text.text()) : Double.NaN;
        if (!(Math.abs(degrees) <= most)) {
            problems.add(text.origin(), path + ".place", text.text(), "must be degrees from -" + most + " to " + most);
        }
        return degrees;
    }

    /** A selector of prefixes takes the longest; an address of two nodes would be measured where it does not pass. */
    private void overlaps(final ConfigNode.Entry section) {
        final Map<Prefix, String> owners = new TreeMap<>((one, other) -> {
            final int family = Boolean.compare(one.isIpv6(), other.isIpv6());
            final int high = Long.compareUnsigned(one.high(), other.high());
            final int low = Long.compareUnsigned(one.low(), other.low());
            return family != 0 ? family : high != 0 ? high : low != 0 ? low :
                Integer.compare(one.lengthBits(), other.lengthBits());
        });
        sites.forEach((name, site) -> site.prefixes().forEach((prefix) -> {
            final String owner = owners.putIfAbsent(prefix, name);
            if (owner != null && !owner.equals(name)) {
                overlap(section, owner, name);
            }
        }));
        // A prefix lies behind the one that holds it, and before all that this one does not hold.
        Prefix holder = null;
        for (final Prefix each : owners.keySet()) {
            if (holder == null || !holder.overlaps(each)) {
                holder = each;
            } else if (!owners.get(holder).equals(owners.get(each))) {
                overlap(section, owners.get(holder), owners.get(each));
            }
        }
    }

    private void overlap(final ConfigNode.Entry section, final String owner, final String name) {
        problems.add(section.origin(), NODES + "." + name + ".prefixes: " + owner +
            " has addresses of them too: give each address to one node, the longer prefixes instead of the shorter");
    }

    private void links(final ConfigNode.Entry section) {
        for (final ConfigNode.Scalar link : sections.items("", section)) {
            final String[] words = link.text().split("\\s+");
            if (words.length < 2 || !isNode(link, words[0]) || !isNode(link, words[1])) {
                if (words.length < 2) {
                    problems.add(link.origin(), LINKS, link.text(), "is no link: write " + LINK);
                }
                continue;
            }
            String weight = "1";
            Long delayNs = null;
            boolean isOneWay = false;
            try {
                for (final String word : Arrays.asList(words).subList(2, words.length)) {
                    if (word.startsWith("weight=")) {
                        weight = word.substring("weight=".length());
                    } else if (word.startsWith("delay=")) {
                        delayNs = DELAY.parse(word.substring("delay=".length()));
                    } else if (word.equals(ONE_WAY)) {
                        isOneWay = true;
                    } else {
                        throw new BadValueException("'" + word + "' is unknown: write " + LINK);
                    }
                }
                link(words[0], words[1], weight, delayNs);
                if (!isOneWay) {
                    link(words[1], words[0], weight, delayNs);
                }
            } catch (final BadValueException | TopologyException ex) {
                problems.add(link.origin(), LINKS, link.text(), ex.getMessage());
            }
        }
    }

    private boolean isNode(final ConfigNode.Scalar place, final String name) {
        if (!sites.containsKey(name)) {
            problems.add(place.origin(), place.text() + ": '" + name + "' is no node" + sections.meant(name, sites.keySet()));
        }
        return sites.containsKey(name);
    }

    private void link(final String from, final String to, final String weight, final Long delayNs) throws TopologyException {
        network.link(from, to, weight);
        if (delayNs != null) {
            delays.merge(List.of(from, to), delayNs, Math::min);
        }
    }

    private Point point(final ConfigNode.Entry point, final Topology topology) {
        final String path = POINTS + "." + point.name();
        final Map<String, ConfigNode.Entry> keys = sections.keys(path, point, "node", "clock");
        final String node = sections.text(path, keys.get("node"), point.name());
        final String clock = sections.text(path, keys.get("clock"), node);
        isNode(new ConfigNode.Scalar(point.origin(), path), node);
        isName(path, point.origin(), point.name());
        isName(path + ".clock", point.origin(), clock);
        return new Point(point.name(), topology.node(node), clock);
    }

    private NamedSegment segment(final ConfigNode.Entry segment, final Topology topology,
        final Map<String, Integer> points) {
        final String path = SEGMENTS + "." + segment.name();
        final Map<String, ConfigNode.Entry> keys =
            sections.keys(path, segment, "from", "to", "exporter", "domain", "id", "via");
        isName(path, segment.origin(), segment.name());
        final List<Integer> via = new ArrayList<>();
        for (final ConfigNode.Scalar node : sections.items(path, keys.get("via"))) {
            isNode(node, node.text());
            via.add(topology.node(node.text()));
        }
        return new NamedSegment(segment.name(), end(segment, path, keys.get("from"), points),
            end(segment, path, keys.get("to"), points), host(path, keys.get("exporter")), number(path, keys.get("domain")),
            number(path, keys.get("id")), List.copyOf(via));
    }

    private int end(final ConfigNode.Entry segment, final String path, final ConfigNode.Entry end,
        final Map<String, Integer> points) {
        final String name = sections.text(path, end, "");
        if (!points.containsKey(name)) {
            problems.add(end == null ? segment.origin() : end.origin(), path + ": '" + name +
                "' is no point: give from and to" + sections.meant(name, points.keySet()));
        }
        return points.getOrDefault(name, Topology.NONE);
    }

    private long number(final String path, final ConfigNode.Entry entry) {
        final String text = sections.text(path, entry, "");
        if (text.isEmpty()) {
            return NetworkMap.UNKNOWN;
        }
        final long number = NUMBER.matcher(text).matches() ? Long.parseLong(text) : Long.MAX_VALUE;
        if (number > MOST_NUMBER) {
            problems.add(entry.origin(), path + "." + entry.name(), text, "must be a whole number from 0 to " + MOST_NUMBER);
        }
        return number;
    }
}
