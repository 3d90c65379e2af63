package io.flowlag.station.job;

import io.flowlag.network.topology.NetworkMap;
import io.flowlag.network.topology.NetworkMap.NamedSegment;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.HashMap;
import java.util.Map;

/**
 * The names of segments by exporter, observation domain and number. A segment of the network without an exporter, or without a
 * domain, is found by the rest. One thread; resolves names of hosts at construction.
 */
final class SegmentNames {
    private static final String ANY = "";

    private record Key(String exporter, long domain, long id) {
    }

    private final Map<Key, String> names = new HashMap<>();
    private final Map<Key, String> unmapped = new HashMap<>();

    SegmentNames(final NetworkMap network) {
        for (final NamedSegment segment : network.segments()) {
            if (segment.id() != NetworkMap.UNKNOWN) {
                for (final String exporter : addresses(segment.exporter())) {
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

    /** {@return what a segment is called that the network does not have} */
    String unmapped(final String exporter, final long domain, final long id) {
        return unmapped.computeIfAbsent(new Key(exporter, domain, id), (key) -> exporter + '/' + domain + '/' + id);
    }
}
