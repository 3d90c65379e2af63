package io.flowlag.station.job;

import com.google.protobuf.Message;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;

/**
 * Sums what comes, and sends sums on each second, at its end, and before each checkpoint, so that they are no state.
 *
 * @param <I> what comes.
 * @param <O> sums.
 */
abstract class PeriodicOperator<I, O extends Message> extends AbstractStreamOperator<O> implements OneInputStreamOperator<I, O> {
    /** More sums are sent on at once. */
    static final int MOST_SUMS = 65_536;

    private static final long serialVersionUID = 1;
    private static final long PERIOD_MS = 1_000;

    /** Sends all sums on, and begins anew. */
    abstract void send();

    /** Begins to send; called once sums can be. */
    void begin() {
        tick(getProcessingTimeService().getCurrentProcessingTime());
    }

    private void tick(final long nowMs) {
        send();
        getProcessingTimeService().registerTimer(nowMs + PERIOD_MS, this::tick);
    }

    @Override
    public void prepareSnapshotPreBarrier(final long checkpoint) {
        send();
    }

    @Override
    public void finish() throws Exception {
        send();
        super.finish();
    }
}
