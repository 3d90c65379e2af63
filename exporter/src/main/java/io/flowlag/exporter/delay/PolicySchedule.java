package io.flowlag.exporter.delay;

import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.rli.sender.InjectionPolicy;
import io.flowlag.rli.sender.InjectionScheduler;
import io.flowlag.rli.sender.SenderCounter;
import org.agrona.DirectBuffer;

import java.util.Map;
import java.util.function.IntFunction;

/**
 * References by a policy: the one of the configuration, or the receiver's. The metering thread owns it; counters may be read by
 * any. Allocates at construction and when the policy changes.
 */
abstract class PolicySchedule extends ReferenceSchedule {
    private static final long LEAST_HELD = 50;
    private static final long HELD_SHARE = 100;
    /** Live packets come in blocks, later than reported by less than this. */
    private static final long LINK_LAG_NS = 100_000_000L;

    private final InjectionScheduler scheduler;
    private final CurrentSegment segment;
    private final int classCount;
    private ExporterConfig.Rli ownReferences;
    private InjectionTerms ownTerms;
    private InjectionTerms terms;
    private SketchAgreement followed;

    /** Nothing scheduled yet; the terms are those of the configuration. */
    PolicySchedule(final ExporterConfig config, final InjectionTerms terms, final CurrentSegment segment) {
        super(config.rli().injection().policy());
        ownReferences = config.rli();
        ownTerms = terms;
        this.terms = terms;
        this.segment = segment;
        classCount = config.rli().classCount();
        scheduler = new InjectionScheduler(terms.settings());
    }

    final InjectionScheduler scheduler() {
        return scheduler;
    }

    /** {@return whether references are sent at all} */
    final boolean isInjecting() {
        return terms.isInjecting();
    }

    abstract InjectionTerms terms(ExporterConfig config);

    /** A packet of a class passed; whether a reference is due. */
    abstract void onPacket(DirectBuffer descriptor, int offset, int classIndex, long nowNs, boolean isDue);

    @Override
    final void onLinkTime(final long timestampNs) {
        scheduler.onLinkTime(timestampNs);
    }

    @Override
    final void onOtherPacket(final int lengthBytes) {
        scheduler.onOtherPacket(lengthBytes);
    }

    @Override
    final void onSent(final DirectBuffer descriptor, final int offset, final long nowNs) {
        final int classIndex = segment.classes().of(descriptor, offset);
        final boolean isDue =
            scheduler.onPacket(classIndex, nowNs, PacketDescriptor.wireLengthBytes(descriptor, offset)) && terms.isInjecting();
        onPacket(descriptor, offset, classIndex, nowNs, isDue);
    }

    /** Sends references on the receiver's terms, from the time they hold, or by this process's own configuration. */
    @Override
    final void follow(final SketchAgreement agreement) {
        if (agreement != followed) {
            followed = agreement;
            changeTerms();
        }
    }

    @Override
    final void settings(final ExporterConfig config) {
        if (config.rli().injection().policy() != ExporterConfig.Policy.PASSIVE) {
            ownReferences = config.rli();
            ownTerms = terms(config);
            changeTerms();
        }
    }

    private void changeTerms() {
        terms = followed == null || followed.injection() == null ? ownTerms : followed.injection().apply(ownReferences);
        policy(terms.name());
        if (terms.isInjecting()) {
            scheduler.reconfigure(terms.settings());
        }
    }

    @Override
    int onTime(final long nowNs, final long capturedNs) {
        if (capturedNs != DelayStage.NOTHING_CAPTURED_NS) {
            scheduler.onLinkQuiet(capturedNs - LINK_LAG_NS);
        }
        return 0;
    }

    /** One reference in a hundred had to wait for the ceiling, and {@value #LEAST_HELD} in all. */
    @Override
    final boolean isCeilingTooLow() {
        final long held = scheduler.counter(SenderCounter.HELD_BY_CEILING);
        return held >= LEAST_HELD && held * HELD_SHARE > scheduler.counter(SenderCounter.REFERENCES);
    }

    @Override
    void tell(final Map<String, Long> values) {
        for (final SenderCounter each : SenderCounter.values()) {
            values.put(each.label(), scheduler.counter(each));
        }
    }

    @Override
    final void tellGauges(final Map<String, Double> gauges, final IntFunction<String> classSuffix) {
        for (int i = 0; i < classCount; i++) {
            if (!Double.isNaN(scheduler.utilization(i))) {
                gauges.put("utilization" + classSuffix.apply(i), scheduler.utilization(i));
            }
            if (scheduler.packetGap(i) != InjectionPolicy.UNLIMITED) {
                gauges.put("packets_per_reference" + classSuffix.apply(i), (double)scheduler.packetGap(i));
            }
        }
    }

    @Override
    final void tellShare(final Map<String, Double> gauges) {
        gauges.put("reference_share", scheduler.referenceShare());
    }
}
