package io.flowlag.station.job;

import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.api.connector.sink2.SinkWriter;
import org.apache.flink.api.connector.sink2.WriterInitContext;

import java.io.Serializable;
import java.util.function.BiConsumer;

/**
 * Hands results to a {@link Feed} of the same process. Behind a restart of the job some come again, with the same ids.
 *
 * @param <M> the results.
 */
final class FeedSink<M> implements Sink<M> {
    private static final long serialVersionUID = 1;

    private final String name;
    private final Method<M> method;

    /** What is called of the feed. */
    interface Method<M> extends BiConsumer<Feed, M>, Serializable {
    }

    FeedSink(final String name, final Method<M> method) {
        this.name = name;
        this.method = method;
    }

    @Override
    public SinkWriter<M> createWriter(final WriterInitContext context) {
        final Feed feed = Feed.Registry.get(name);
        return new SinkWriter<>() {
            @Override
            public void write(final M result, final Context each) {
                method.accept(feed, result);
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
