package io.flowlag.station.job;

import com.google.protobuf.Message;
import io.flowlag.station.job.state.NetworkVersion;
import io.flowlag.station.wire.MessageType;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.java.functions.KeySelector;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.api.functions.co.KeyedBroadcastProcessFunction;
import org.apache.flink.streaming.api.operators.co.CoBroadcastWithKeyedOperator;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.util.KeyedBroadcastOperatorTestHarness;
import org.apache.flink.util.OutputTag;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** One operator with its state; time is that of the records. */
final class OperatorRun<K, I, O extends Message> {
    private final Supplier<KeyedBroadcastProcessFunction<K, I, NetworkVersion, O>> function;
    private final KeySelector<I, K> key;
    private final TypeInformation<K> type;
    private final MessageType<O> outType;
    private final OutputTag<?> side;
    private final List<O> out = new ArrayList<>();
    private final List<Object> sideOut = new ArrayList<>();
    private KeyedBroadcastOperatorTestHarness<K, I, NetworkVersion, O> harness;

    OperatorRun(final Supplier<KeyedBroadcastProcessFunction<K, I, NetworkVersion, O>> function, final KeySelector<I, K> key,
        final TypeInformation<K> type, final MessageType<O> outType, final OutputTag<?> side) throws Exception {
        this.function = function;
        this.key = key;
        this.type = type;
        this.outType = outType;
        this.side = side;
        begin(null);
    }

    private void begin(final OperatorSubtaskState state) throws Exception {
        harness = new KeyedBroadcastOperatorTestHarness<>(
            new CoBroadcastWithKeyedOperator<>(function.get(), List.of(Networks.STATE)), key, type, 1, 1, 0);
        harness.setup(outType.createSerializer(null));
        if (state != null) {
            harness.initializeState(state);
        }
        harness.open();
        harness.processBroadcastWatermark(Watermark.MAX_WATERMARK);
    }

    void record(final I record, final long receivedMs) throws Exception {
        harness.processElement(record, receivedMs);
        time(receivedMs);
    }

    void time(final long nowMs) throws Exception {
        harness.processWatermark(nowMs - 1);
    }

    void network(final NetworkVersion version) throws Exception {
        harness.processBroadcastElement(version, 0);
    }

    /** Ends, and begins anew with its state. */
    void restart() throws Exception {
        final OperatorSubtaskState state = harness.snapshot(1, 1);
        take();
        harness.close();
        begin(state);
    }

    private void take() {
        out.addAll(harness.extractOutputValues());
        harness.getOutput().clear();
        if (side != null && harness.getSideOutput(side) != null) {
            harness.getSideOutput(side).forEach((record) -> sideOut.add(record.getValue()));
            harness.getSideOutput(side).clear();
        }
    }

    /** {@return all that came, in order} */
    List<O> out() {
        take();
        return out;
    }

    /** {@return all that came beside it, in order} */
    <T> List<T> sideOut(final Class<T> of) {
        take();
        return sideOut.stream().map(of::cast).toList();
    }
}
