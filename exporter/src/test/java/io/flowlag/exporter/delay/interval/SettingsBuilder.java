package io.flowlag.exporter.delay.interval;

import io.flowlag.exporter.delay.interval.records.IntervalMode;
import io.flowlag.exporter.delay.interval.records.IntervalSettings;
import io.flowlag.exporter.delay.interval.records.JointSettings;
import io.flowlag.exporter.delay.interval.records.SharedSampling;
import io.flowlag.exporter.delay.interval.repair.ReconcileSettings;
import io.flowlag.sketch.estimate.FlowEstimator;
import io.flowlag.sketch.image.SketchGeometry;

/** Interval settings for tests: configuration defaults, except for what a test sets. */
public final class SettingsBuilder {
    private SketchGeometry geometry = SketchGeometry.lds(4, 16 * 1024, 1);
    private int aggregatorCells = 1024;
    private int classCount = 1;
    private long seed;
    private long intervalNs = 1_000_000_000L;
    private long maximumDelayNs = 200_000_000L;
    private long guardNs;
    private long answerDeadlineNs;
    private final double alpha = FlowEstimator.DEFAULT_ALPHA;
    private int inFlightPackets = 64 * 1024;
    private int waitingRecords = 32 * 1024;
    private int maxFlows = 128 * 1024;
    private IntervalMode mode = IntervalMode.CELLS;
    private int mostFlows = 1;
    private int witnessPpm;
    private final int witnessPackets = SharedSampling.WITNESS_PACKETS;
    private JointSettings joint;
    private ReconcileSettings reconcile;
    private final boolean isSelected = true;
    private int keptIntervals;
    private boolean isLive;
    private long idleTimeoutNs;

    public SettingsBuilder geometry(final SketchGeometry value) {
        geometry = value;
        return this;
    }

    public SettingsBuilder aggregatorCells(final int value) {
        aggregatorCells = value;
        return this;
    }

    public SettingsBuilder classCount(final int value) {
        classCount = value;
        return this;
    }

    public SettingsBuilder seed(final long value) {
        seed = value;
        return this;
    }

    public SettingsBuilder intervalNs(final long value) {
        intervalNs = value;
        return this;
    }

    public SettingsBuilder maximumDelayNs(final long value) {
        maximumDelayNs = value;
        return this;
    }

    public SettingsBuilder guardNs(final long value) {
        guardNs = value;
        return this;
    }

    public SettingsBuilder answerDeadlineNs(final long value) {
        answerDeadlineNs = value;
        return this;
    }

    public SettingsBuilder inFlightPackets(final int value) {
        inFlightPackets = value;
        return this;
    }

    public SettingsBuilder waitingRecords(final int value) {
        waitingRecords = value;
        return this;
    }

    public SettingsBuilder maxFlows(final int value) {
        maxFlows = value;
        return this;
    }

    public SettingsBuilder mode(final IntervalMode value) {
        mode = value;
        return this;
    }

    public SettingsBuilder mostFlows(final int value) {
        mostFlows = value;
        return this;
    }

    public SettingsBuilder witnessPpm(final int value) {
        witnessPpm = value;
        return this;
    }

    public SettingsBuilder joint(final JointSettings value) {
        joint = value;
        return this;
    }

    public SettingsBuilder reconcile(final ReconcileSettings value) {
        reconcile = value;
        return this;
    }

    public SettingsBuilder keptIntervals(final int value) {
        keptIntervals = value;
        return this;
    }

    public SettingsBuilder isLive(final boolean value) {
        isLive = value;
        return this;
    }

    public SettingsBuilder idleTimeoutNs(final long value) {
        idleTimeoutNs = value;
        return this;
    }

    public IntervalSettings build() {
        return new IntervalSettings(
            new IntervalSettings.Cells(geometry, IntervalSettings.Cells.aggregator(aggregatorCells, 0), classCount, seed, alpha),
            new IntervalSettings.Times(intervalNs, maximumDelayNs, guardNs, answerDeadlineNs, idleTimeoutNs),
            new IntervalSettings.Room(inFlightPackets, waitingRecords, maxFlows, keptIntervals),
            new IntervalSettings.Sums(mode, mostFlows, witnessPpm, witnessPackets), joint, reconcile, isSelected, isLive);
    }
}
