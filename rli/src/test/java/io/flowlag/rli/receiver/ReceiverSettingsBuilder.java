package io.flowlag.rli.receiver;

import java.util.List;
import java.util.stream.IntStream;

/** Builds settings of a receiver value by value, from the defaults. For the thread that fills it. */
final class ReceiverSettingsBuilder {
    private int classCount = ReceiverSettings.defaults().classCount();
    private List<Integer> streamClasses = ReceiverSettings.defaults().streamClasses();
    private Estimator estimator = ReceiverSettings.defaults().estimation().estimator();
    private SendTimes sendTimes = ReceiverSettings.defaults().estimation().sendTimes();
    private SerialisationMode serialisation = ReceiverSettings.defaults().estimation().serialisation();
    private boolean isReferenceRegular;
    private long capacityBps;
    private int bufferPackets = ReceiverSettings.defaults().limits().bufferPackets();
    private long silentAfterNs = ReceiverSettings.defaults().limits().silentAfterNs();
    private long maximumGapNs = ReceiverSettings.defaults().limits().maximumGapNs();
    private long maximumDelayNs = ReceiverSettings.defaults().limits().maximumDelayNs();
    private int significantDigits = ReceiverSettings.defaults().histograms().significantDigits();
    private long driftWindowNs = ReceiverSettings.defaults().drift().windowNs();
    private boolean isDriftApplied;

    ReceiverSettings build() {
        return new ReceiverSettings(
            classCount, streamClasses,
            new ReceiverSettings.Estimation(estimator, sendTimes, isReferenceRegular, serialisation, capacityBps),
            new ReceiverSettings.Limits(bufferPackets, silentAfterNs, maximumGapNs, maximumDelayNs),
            new ReceiverSettings.Histograms(significantDigits, ReceiverSettings.defaults().histograms().heldOutPeriods()),
            new ReceiverSettings.Drift(driftWindowNs, isDriftApplied), 16);
    }

    ReceiverSettingsBuilder classCount(final int value) {
        classCount = value;
        return this;
    }

    ReceiverSettingsBuilder streams(final int... value) {
        streamClasses = IntStream.of(value).boxed().toList();
        return this;
    }

    ReceiverSettingsBuilder estimator(final Estimator value) {
        estimator = value;
        return this;
    }

    ReceiverSettingsBuilder sendTimes(final SendTimes value) {
        sendTimes = value;
        return this;
    }

    ReceiverSettingsBuilder serialisation(final SerialisationMode value) {
        serialisation = value;
        return this;
    }

    ReceiverSettingsBuilder referenceRegular(final boolean value) {
        isReferenceRegular = value;
        return this;
    }

    ReceiverSettingsBuilder capacityBps(final long value) {
        capacityBps = value;
        return this;
    }

    ReceiverSettingsBuilder bufferPackets(final int value) {
        bufferPackets = value;
        return this;
    }

    ReceiverSettingsBuilder silentAfterNs(final long value) {
        silentAfterNs = value;
        return this;
    }

    ReceiverSettingsBuilder maximumGapNs(final long value) {
        maximumGapNs = value;
        return this;
    }

    ReceiverSettingsBuilder maximumDelayNs(final long value) {
        maximumDelayNs = value;
        return this;
    }

    ReceiverSettingsBuilder significantDigits(final int value) {
        significantDigits = value;
        return this;
    }

    ReceiverSettingsBuilder driftWindowNs(final long value) {
        driftWindowNs = value;
        return this;
    }

    ReceiverSettingsBuilder driftApplied(final boolean value) {
        isDriftApplied = value;
        return this;
    }
}
