package io.flowlag.exporter.delay;

import io.flowlag.exporter.delay.interval.compare.IntervalAnswer;
import io.flowlag.exporter.delay.interval.joint.JointAnswer;
import io.flowlag.exporter.flow.FlowEntry;
import io.flowlag.exporter.status.HeavyFlow;
import io.flowlag.exporter.status.JointStatistics;
import io.flowlag.exporter.status.SketchStatistics;
import org.agrona.DirectBuffer;

import java.util.List;
import java.util.Locale;

/**
 * What one sender's last interval showed, and the sums of all. The metering thread writes; any thread may read. Allocates at the
 * end of an interval.
 */
final class SketchReport {
    private final int senderIndex;
    private final ClassDelays aggregates = new ClassDelays(false);
    private final ClassDelays reconciled = new ClassDelays(true);
    private JointStatistics joint;
    private volatile SketchStatistics statistics;
    private volatile IntervalLoad load;

    /** No interval yet. */
    SketchReport(final int senderIndex, final Generation run) {
        this.senderIndex = senderIndex;
        statistics = new SketchStatistics(
            senderIndex, run.geometry(), run.memoryBytes(), null, null, 0, 0, List.of(), null, List.of(),
            aggregates.total(run.classes()), null, null, null);
    }

    void onInterval(
        final Generation run, final IntervalAnswer answer, final List<HeavyFlow> heavyFlows, final String weightWarning) {
        aggregates.add(answer, run.classes());
        reconciled.add(answer, run.classes());
        statistics = new SketchStatistics(
            senderIndex, run.geometry(), run.memoryBytes(), answer.startNs(), answer.endNs(), answer.usableCells(),
            answer.occupiedCells(), aggregates.interval(answer, run.classes()),
            answer.hasUnexplainedLoss() ? answer.unexplainedLostPackets() : null, heavyFlows, aggregates.total(run.classes()),
            weightWarning, joint, reconciled.statistics(answer, run.classes()));
        load = IntervalLoad.of(answer, run.classes().count(), joint == null ? 0 : joint.tookNs());
    }

    /** An interval was not compared. */
    void onUnknownLoss(final TrafficClasses classes) {
        aggregates.onUnknownLoss();
        reconciled.onUnknownLoss();
        statistics = statistics.withTotals(aggregates.total(classes), reconciled.total(classes));
    }

    void onJoint(final JointAnswer answer) {
        joint = new JointStatistics(
            answer.startNs(), answer.endNs(), name(answer.status()), name(answer.tier()), answer.health(),
            answer.flowCount(), answer.answeredFlowCount(), answer.vouchedFlowCount(), answer.witnessCount(),
            answer.answeredFlowCount() == 0 ? null : Math.round(answer.meanNs()), answer.tookNs(),
            answer.answeredFlowCount() == 0 || Double.isInfinite(answer.boundNs()) ? null : (long)Math.ceil(answer.boundNs()));
        statistics = statistics.with(joint);
    }

    private static String name(final Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** A flow with many packets, by its entry. */
    static HeavyFlow heavyFlow(final DirectBuffer entry, final int offset, final long packets) {
        return new HeavyFlow(
            FlowEntry.sourceText(entry, offset), FlowEntry.destinationText(entry, offset),
            FlowEntry.protocol(entry, offset), FlowEntry.sourcePort(entry, offset),
            FlowEntry.destinationPort(entry, offset), packets);
    }

    /** {@return of the last compared interval; null before the first; any thread} */
    IntervalLoad load() {
        return load;
    }

    /** {@return as of the last interval; any thread} */
    SketchStatistics statistics() {
        return statistics;
    }
}
