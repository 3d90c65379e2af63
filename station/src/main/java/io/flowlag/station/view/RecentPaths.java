package io.flowlag.station.view;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import io.flowlag.station.schema.PathWindow;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.Predicate;

/**
 * The newest windows of flows along their paths, encoded: with all that belongs to them at most {@link #MOST_BYTES}. The oldest
 * windows go, whole; of a window that alone has more, what comes last is refused. What is final is not replaced by what is
 * provisional. Any thread.
 */
final class RecentPaths {
    /** Octets, at most. */
    static final long MOST_BYTES = 64L << 20;
    /** Of a flow besides its message: key, entry and headers. */
    private static final int OVERHEAD_BYTES = 300;

    private final long mostBytes;
    /** By the end of the window. */
    private final NavigableMap<Long, Map<Flow, Encoded>> windows = new ConcurrentSkipListMap<>();
    private long heldBytes;

    /** A 5-tuple in a network. */
    record Flow(String network, ByteString source, ByteString destination, int protocol, int sourcePort, int destinationPort) {
        static Flow of(final PathWindow path) {
            return new Flow(path.getNetwork(), path.getSrcAddr(), path.getDstAddr(), path.getProto(), path.getSrcPort(),
                path.getDstPort());
        }
    }

    private record Encoded(boolean isFinal, byte[] octets) {
        private int bytes() {
            return octets.length + OVERHEAD_BYTES;
        }
    }

    RecentPaths(final long mostBytes) {
        this.mostBytes = mostBytes;
    }

    /** Adds a flow's window. Returns whether there was room. */
    synchronized boolean add(final PathWindow path) {
        final Encoded encoded = new Encoded(path.getFinal(), path.toByteArray());
        final long endNs = path.getEndNs();
        while (heldBytes + encoded.bytes() > mostBytes && !windows.isEmpty() && windows.firstKey() < endNs) {
            heldBytes -= windows.pollFirstEntry().getValue().values().stream().mapToLong(Encoded::bytes).sum();
        }
        if (heldBytes + encoded.bytes() > mostBytes) {
            return false;
        }
        final Map<Flow, Encoded> window = windows.computeIfAbsent(endNs, (end) -> new ConcurrentHashMap<>());
        final Flow flow = Flow.of(path);
        final Encoded before = window.get(flow);
        if (before == null || encoded.isFinal || !before.isFinal) {
            window.put(flow, encoded);
            heldBytes += encoded.bytes() - (before == null ? 0 : before.bytes());
        }
        return true;
    }

    /** {@return octets held} */
    synchronized long heldBytes() {
        return heldBytes;
    }

    /**
     * {@return the flows of the newest window that has one of them, and does not end behind a time}
     *
     * @param untilNs since the epoch.
     */
    List<PathWindow> newest(final Predicate<Flow> wanted, final long untilNs) {
        final List<PathWindow> found = new ArrayList<>();
        for (final Map<Flow, Encoded> window : windows.headMap(untilNs, true).descendingMap().values()) {
            window.forEach((flow, encoded) -> {
                if (wanted.test(flow)) {
                    found.add(parsed(encoded));
                }
            });
            if (!found.isEmpty()) {
                break;
            }
        }
        return found;
    }

    /** {@return ends of the windows held, ns since the epoch, in order} */
    List<Long> ends() {
        return List.copyOf(windows.keySet());
    }

    private static PathWindow parsed(final Encoded encoded) {
        try {
            return PathWindow.parseFrom(encoded.octets);
        } catch (final InvalidProtocolBufferException ex) {
            throw new IllegalStateException(ex); // it was encoded here
        }
    }
}
