package io.flowlag.station.job;

import io.flowlag.network.topology.NetworkMap;
import io.flowlag.station.job.state.NetworkVersion;
import io.flowlag.station.wire.MessageType;
import org.apache.flink.api.common.state.BroadcastState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ReadOnlyBroadcastState;
import org.apache.flink.api.common.typeinfo.Types;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/**
 * The network's file in the versions of which records may still come: one is held until {@code windows.late-limit} after the next
 * came, and at most {@value #MOST} are. One thread.
 */
final class Networks {
    /** By version. */
    static final MapStateDescriptor<Integer, NetworkVersion> STATE =
        new MapStateDescriptor<>("networks", Types.INT, MessageType.forMessage(NetworkVersion.class));
    private static final int MOST = 8;

    private final JobSettings settings;
    private final long limitNs;
    /** The newest first. */
    private List<Held> held = new ArrayList<>();
    private boolean isLoaded;

    /** With the version that the job began with, until state is read. */
    Networks(final JobSettings settings) {
        this.settings = settings;
        limitNs = TimeUnit.MILLISECONDS.toNanos(settings.windows().lateLimitMs() + settings.windows().lengthMs());
        held.add(new Held(first(settings), settings));
    }

    /** {@return the version that a job begins with} */
    static NetworkVersion first(final JobSettings settings) {
        return NetworkVersion.newBuilder().setSinceNs(Long.MIN_VALUE).setText(settings.text()).build();
    }

    /** A version; reads what it is asked for. */
    static final class Held {
        private final NetworkVersion version;
        private final NetworkMap map;
        private RoutedSegments routes;
        private SegmentNames names;

        private Held(final NetworkVersion version, final JobSettings settings) {
            this.version = version;
            map = settings.network(version.getText());
        }

        int version() {
            return version.getVersion();
        }

        NetworkMap map() {
            return map;
        }

        RoutedSegments routes() {
            routes = routes == null ? new RoutedSegments(map) : routes;
            return routes;
        }

        private SegmentNames names() {
            names = names == null ? new SegmentNames(map) : names;
            return names;
        }
    }

    /** Reads state, if that was not done. */
    void load(final ReadOnlyBroadcastState<Integer, NetworkVersion> state) throws Exception {
        if (!isLoaded) {
            read(state);
        }
    }

    private void read(final ReadOnlyBroadcastState<Integer, NetworkVersion> state) throws Exception {
        isLoaded = true;
        final TreeMap<Integer, NetworkVersion> versions = new TreeMap<>();
        for (final Map.Entry<Integer, NetworkVersion> each : state.immutableEntries()) {
            versions.put(each.getKey(), each.getValue());
        }
        if (!versions.isEmpty()) {
            final List<Held> before = held;
            held = new ArrayList<>();
            for (final NetworkVersion each : versions.descendingMap().values()) {
                held.add(before.stream().filter((one) -> one.version.equals(each)).findFirst()
                    .orElseGet(() -> new Held(each, settings)));
            }
        }
    }

    /** Takes a version into state, and forgets those of which all records have come. */
    void add(final NetworkVersion version, final BroadcastState<Integer, NetworkVersion> state) throws Exception {
        final TreeMap<Integer, NetworkVersion> versions = new TreeMap<>();
        for (final Map.Entry<Integer, NetworkVersion> each : state.entries()) {
            versions.put(each.getKey(), each.getValue());
        }
        versions.put(version.getVersion(), version);
        while (versions.size() > MOST || versions.size() > 1 &&
            versions.higherEntry(versions.firstKey()).getValue().getSinceNs() + limitNs < version.getSinceNs()) {
            state.remove(versions.pollFirstEntry().getKey());
        }
        state.put(version.getVersion(), version);
        read(state);
    }

    /** {@return the version that held at a time, or the oldest} */
    Held at(final long timeNs) {
        return held.stream().filter((each) -> each.version.getSinceNs() <= timeNs).findFirst()
            .orElseGet(() -> held.get(held.size() - 1));
    }

    /** {@return the name of a segment when its record ended, or in the newest version that is held and has it; null without} */
    String find(final String exporter, final long domain, final long id, final long endNs) {
        if (held.size() == 1) {
            return held.get(0).names().find(exporter, domain, id);
        }
        String name = at(endNs).names().find(exporter, domain, id);
        for (int i = 0; name == null && i < held.size(); i++) {
            if (i == 0 || held.get(i - 1).version.getSinceNs() + limitNs >= endNs) {
                name = held.get(i).names().find(exporter, domain, id);
            }
        }
        return name;
    }

    /** {@return the segments that a domain of an exporter reports, in the newest version} */
    List<String> of(final String exporter, final long domain) {
        return held.get(0).names().of(exporter, domain);
    }

    /** {@return whether the newest version has segments of an exporter} */
    boolean isKnown(final String exporter) {
        return held.get(0).names().isKnown(exporter);
    }

    /** Forgets each so often the segments that the network does not have. */
    void tick(final long nowNs, final long keptNs) {
        held.get(0).names().tick(nowNs, keptNs);
    }

    /** {@return what a segment is called that the network does not have; empty if there are too many} */
    String unmapped(final String exporter, final long domain, final long id) {
        return held.get(0).names().unmapped(exporter, domain, id);
    }
}
