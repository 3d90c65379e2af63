package io.flowlag.exporter.runtime;

import io.flowlag.exporter.export.Destination;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** Logs errors of destinations, each once, and when a collector that was missing is back. Used by one thread. */
final class DestinationTroubles {
    private static final Logger LOG = LoggerFactory.getLogger(DestinationTroubles.class);

    private final Map<Destination, String> told = new HashMap<>();
    private final Set<Destination> missing = new HashSet<>();

    void tell(final Destination destination) {
        final String error = destination.lastError();
        if (error.isEmpty()) {
            return;
        }
        final boolean isMissing = destination.isMissing();
        final boolean isNewlyMissing = isMissing && missing.add(destination);
        if (!error.equals(told.put(destination, error)) || isNewlyMissing) {
            LOG.warn("{}: {}", destination.name(), error);
        }
        if (!isMissing && missing.remove(destination)) {
            LOG.info("{}: back, takes records again", destination.name());
        }
    }

    /** Drops a destination that is no more. */
    void forget(final Destination destination) {
        told.remove(destination);
        missing.remove(destination);
    }
}
