package io.flowlag.exporter.delay;

import io.flowlag.exporter.config.ExporterConfig;
import org.agrona.DirectBuffer;

/** Marks packets of the traffic as references when they are due. The metering thread owns it. Allocates at construction. */
final class MarkingSchedule extends PolicySchedule {
    private final MarkedStage marked;

    MarkingSchedule(final ExporterConfig config, final CurrentSegment segment, final MarkedStage marked) {
        super(config, InjectionTerms.ofMarked(config), segment);
        this.marked = marked;
    }

    @Override
    InjectionTerms terms(final ExporterConfig config) {
        return InjectionTerms.ofMarked(config);
    }

    @Override
    void onPacket(
        final DirectBuffer descriptor, final int offset, final int classIndex, final long nowNs, final boolean isDue) {
        if (isDue) {
            marked.due(classIndex, scheduler().isDueByCount(classIndex) ? 1 : scheduler().packetCount(classIndex));
            scheduler().onInjected(classIndex, nowNs, InjectionTerms.REFERENCE_LENGTH_BYTES);
        }
        marked.onScheduled(descriptor, offset, classIndex);
    }
}
