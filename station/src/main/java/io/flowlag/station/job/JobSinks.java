package io.flowlag.station.job;

import io.flowlag.station.schema.Alert;
import io.flowlag.station.schema.PathWindow;
import io.flowlag.station.schema.SegmentWindow;
import io.flowlag.station.schema.Status;
import io.flowlag.station.schema.Verdict;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.api.java.tuple.Tuple2;

/**
 * Where the job's results go.
 *
 * @param segments takes windows of segments.
 * @param verdicts takes verdicts.
 * @param paths    takes flows along their path.
 * @param alerts   takes alerts.
 * @param status   takes what comes of service levels, and of exporters if there are flows.
 * @param flows    takes flow records, each behind its 5-tuple; null for nowhere.
 */
public record JobSinks(Sink<SegmentWindow> segments, Sink<Verdict> verdicts, Sink<PathWindow> paths, Sink<Alert> alerts,
    Sink<Status> status, Sink<Tuple2<byte[], byte[]>> flows) {
    /** {@return sinks to a {@link Feed} of this process, by its name} */
    static JobSinks toFeed(final String feed) {
        return new JobSinks(new FeedSink<>(feed), new FeedSink<>(feed), new FeedSink<>(feed), new FeedSink<>(feed),
            new FeedSink<>(feed), null);
    }
}
