package io.flowlag.station.job;

import io.flowlag.network.topology.NetworkMap;
import io.flowlag.network.topology.NetworkMap.NamedSegment;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The names of segments by exporter, observation domain and number. A segment of the network without an exporter, or without a
 * domain, is found by the rest; one with an exporter only in what this exporter sends. Of segments that the network does not
 * have, {@value #MOST_UNMAPPED} have a name, and {@value #MOST_UNMAPPED_EACH} of an exporter, until the time is over in which
 * windows are corrected. One thread; resolves names of hosts at construction.
 */
final class SegmentNames {
    private static final String ANY = "";
    private static final int MOST_UNMAPPED = 8192;
    private static final int MOST_UNMAPPED_EACH = 1024;
    /** Domains of which the segments are known. */
    private static final int MOST_DOMAINS = 4096;

    private record Key(String exporter, long domain, long id) {
    }

    private final Map<Key, String> names = new HashMap<>();
    private final Set<String> exporters = new HashSet<>();
    private final Map<Key, String> unmapped = new HashMap<>();
    private final Map<String, Integer> unmappedCounts = new HashMap<>();
    private final Map<Key, List<String>> ofDomains = new HashMap<>();
    private long emptiedNs;

    SegmentNames(final NetworkMap network) {
        for (final NamedSegment segment : network.segments()) {
            if (segment.id() != NetworkMap.UNKNOWN) {
                for (final String exporter : addresses(segment.exporter())) {
                    exporters.add(exporter);
                    names.putIfAbsent(new Key(exporter, segment.domain(), segment.id()), segment.name());
                }
            }
        }
    }

    private static String[] addresses(final String exporter) {
        if (exporter.isEmpty()) {
            return new String[] {ANY};
        }
        try {
            final InetAddress[] addresses = InetAddress.getAllByName(exporter);
            final String[] texts = new String[addresses.length];
            for (int i = 0; i < texts.length; i++) {
                texts[i] = addresses[i].getHostAddress();
            }
            return texts;
        } catch (final UnknownHostException ex) {
            return new String[] {exporter};
        }
    }

    /** {@return the segment's name in the network, or null} */
    String find(final String exporter, final long domain, final long id) {
        String name = names.get(new Key(exporter, domain, id));
        name = name != null ? name : names.get(new Key(exporter, NetworkMap.UNKNOWN, id));
        name = name != null ? name : names.get(new Key(ANY, domain, id));
        return name != null ? name : names.get(new Key(ANY, NetworkMap.UNKNOWN, id));
    }

    /** {@return whether the network has segments of an exporter} */
    boolean isKnown(final String exporter) {
        return exporters.contains(exporter) || exporters.contains(ANY);
    }

    /** {@return what a segment is called that the network does not have; empty if there are too many} */
    String unmapped(final String exporter, final long domain, final long id) {
        final Key key = new Key(exporter, domain, id);
        String name = unmapped.get(key);
        if (name == null) {
            if (unmapped.size() >= MOST_UNMAPPED || unmappedCounts.getOrDefault(exporter, 0) >= MOST_UNMAPPED_EACH) {
                return "";
            }
            name = exporter + '/' + domain + '/' + id;
            unmapped.put(key, name);
            unmappedCounts.merge(exporter, 1, Integer::sum);
        }
        return name;
    }

    /** Forgets each so often the segments that the network does not have. */
    void tick(final long nowNs, final long keptNs) {
        if (nowNs - emptiedNs > keptNs) {
            emptiedNs = nowNs;
            unmapped.clear();
            unmappedCounts.clear();
        }
    }

    /** {@return the segments of the network that a domain of an exporter reports} */
    List<String> of(final String exporter, final long domain) {
        if (ofDomains.size() >= MOST_DOMAINS) {
            ofDomains.clear();
        }
        return ofDomains.computeIfAbsent(new Key(exporter, domain, NetworkMap.UNKNOWN), (key) -> names.entrySet().stream()
            .filter((each) -> each.getKey().domain == domain && List.of(exporter, ANY).contains(each.getKey().exporter) ||
                each.getKey().domain == NetworkMap.UNKNOWN && each.getKey().exporter.equals(exporter))
            .map(Map.Entry::getValue).distinct().sorted().toList());
    }
}
