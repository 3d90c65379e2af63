package io.flowlag.station.job;

import com.google.protobuf.Message;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.api.connector.sink2.SinkWriter;
import org.apache.flink.api.connector.sink2.WriterInitContext;

/**
 * Hands results to a {@link Feed} of the same process. Behind a restart of the job some come again, with the same ids.
 *
 * @param <M> the results.
 */
final class FeedSink<M extends Message> implements Sink<M> {
    private static final long serialVersionUID = 1;

    private final String name;

    FeedSink(final String name) {
        this.name = name;
    }

    @Override
    public SinkWriter<M> createWriter(final WriterInitContext context) {
        final Feed feed = Feed.Registry.get(name);
        return new SinkWriter<>() {
            @Override
            public void write(final M result, final Context each) {
                feed.onResult(result);
            }

            @Override
            public void flush(final boolean isEnd) {
            }

            @Override
            public void close() {
            }
        };
    }
}
