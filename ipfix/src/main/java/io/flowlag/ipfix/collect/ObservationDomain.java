package io.flowlag.ipfix.collect;

import io.flowlag.common.counter.CounterSet;
import org.agrona.collections.Int2ObjectHashMap;

/**
 * One Observation Domain of one Transport Session: its templates and its sequence. Not thread-safe. Its session owns it.
 * Allocates at construction, and when a template is new.
 */
final class ObservationDomain {
    private final int domainId;
    private final SequenceTracker sequence;
    private final Int2ObjectHashMap<CollectedTemplate> templates = new Int2ObjectHashMap<>();

    ObservationDomain(final int domainId, final CounterSet<CollectorCounter> counters) {
        this.domainId = domainId;
        this.sequence = new SequenceTracker(counters);
    }

    int domainId() {
        return domainId;
    }

    SequenceTracker sequence() {
        return sequence;
    }

    Int2ObjectHashMap<CollectedTemplate> templates() {
        return templates;
    }
}
