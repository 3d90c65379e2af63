package io.flowlag.station.job;

import io.flowlag.station.job.state.FlowPart;
import io.flowlag.station.job.state.NetworkVersion;
import io.flowlag.station.job.state.SegmentInterval;
import io.flowlag.station.job.state.SegmentPart;
import io.flowlag.station.schema.PathWindow;
import io.flowlag.station.schema.RawMessage;
import io.flowlag.station.schema.SegmentWindow;
import io.flowlag.station.schema.Status;
import io.flowlag.station.schema.Verdict;
import io.flowlag.station.wire.MessageType;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ExternalizedCheckpointRetention;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.streaming.api.datastream.BroadcastStream;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

import java.util.HexFormat;

/** The job of a station: what reads, decodes, sums and localises, in this order. Each operator has an id for its state. */
public final class StationJob {
    private StationJob() {
    }

    /**
     * Adds the job to an environment.
     *
     * @param messages with their receipt as time.
     */
    public static void add(final JobSettings settings, final DataStream<RawMessage> messages, final JobSinks sinks) {
        add(settings, NetworkSource.SYSTEM, messages, sinks);
    }

    /** The same with the clock that says when the network's file changed. */
    static void add(final JobSettings settings, final NetworkSource.Clock clock, final DataStream<RawMessage> messages,
        final JobSinks sinks) {
        final StreamExecutionEnvironment environment = messages.getExecutionEnvironment();
        final Configuration configuration = new Configuration();
        configuration.set(PipelineOptions.GENERIC_TYPES, false);
        configuration.set(PipelineOptions.OBJECT_REUSE, true);
        configuration.set(CheckpointingOptions.EXTERNALIZED_CHECKPOINT_RETENTION,
            ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION);
        environment.configure(configuration);
        final BroadcastStream<NetworkVersion> networks = environment
            .fromSource(new NetworkSource(settings, clock), WatermarkStrategy.noWatermarks(), "network",
                MessageType.forMessage(NetworkVersion.class)).uid("network").setParallelism(1).broadcast(Networks.STATE);
        final SingleOutputStreamOperator<SegmentPart> decoded = messages
            .keyBy(StationJob::session, Types.STRING).connect(networks)
            .process(new DecodeFunction(settings, sinks.flows() != null), MessageType.forMessage(SegmentPart.class))
            .name("decode").uid("decode");
        final DataStream<FlowPart> flows = decoded.getSideOutput(DecodeFunction.FLOWS);
        final DataStream<SegmentPart> sums = flows
            .transform("sum", MessageType.forMessage(SegmentPart.class), new SumOperator(settings))
            .uid("sum");
        final SingleOutputStreamOperator<SegmentWindow> windows = decoded.union(sums)
            .keyBy(StationJob::segment, Types.STRING)
            .process(new WindowFunction(settings), MessageType.forMessage(SegmentWindow.class)).name("windows").uid("windows");
        windows.sinkTo(sinks.segments()).name("segments").uid("segments");
        final SingleOutputStreamOperator<Verdict> verdicts = windows
            .keyBy((window) -> window.hasDscp() ? Integer.toString(window.getDscp()) : "", Types.STRING).connect(networks)
            .process(new LocateFunction(settings), MessageType.forMessage(Verdict.class)).name("locate").uid("locate");
        verdicts.sinkTo(sinks.verdicts()).name("verdicts").uid("verdicts");
        verdicts.getSideOutput(LocateFunction.ALERTS).union(windows.getSideOutput(WindowFunction.ALERTS))
            .sinkTo(sinks.alerts()).name("alerts").uid("alerts");
        DataStream<Status> status = verdicts.getSideOutput(LocateFunction.STATUS);
        if (sinks.flows() != null) {
            status = status.union(decoded.getSideOutput(DecodeFunction.EXPORTERS).transform("exporters",
                MessageType.forMessage(Status.class), new ExporterOperator(settings.name())).uid("exporters"));
            decoded.getSideOutput(DecodeFunction.RECORDS).sinkTo(sinks.flows()).name("flows").uid("flows");
        }
        status.sinkTo(sinks.status()).name("status").uid("status");
        final FlowSample sample = new FlowSample(settings);
        flows.filter(sample).name("sample").uid("sample").keyBy(sample, Types.INT).connect(networks)
            .process(new PathFunction(settings, sample), MessageType.forMessage(PathWindow.class)).name("paths").uid("paths")
            .sinkTo(sinks.paths()).name("path-sink").uid("path-sink");
    }

    private static String segment(final SegmentPart part) {
        final SegmentInterval interval = part.getInterval();
        return part.hasFlows() ? part.getFlows().getSegment() + '\n' : part.hasMissing() ? part.getMissing().getSegment() + '\n' :
            interval.getSegment() + '\n' + (interval.hasDscp() ? interval.getDscp() : "");
    }

    private static String session(final RawMessage message) {
        return message.getTransportValue() + "\n" + HexFormat.of().formatHex(message.getSourceAddress().toByteArray()) + '\n' +
            message.getPort() + '\n' + message.getConnection() + '\n' + message.getInlet();
    }
}
