package io.flowlag.station.job;

import org.apache.flink.core.io.SimpleVersionedSerializer;

import java.io.IOException;
import java.util.function.Function;

/**
 * Writes and reads the state of a source in one way, which is its version 1.
 *
 * @param <T> the state.
 */
record StateFormat<T>(Function<T, byte[]> writer, Reading<T> reading) implements SimpleVersionedSerializer<T> {
    /** Reads what was written. */
    interface Reading<T> {
        T of(byte[] octets) throws IOException;
    }

    @Override
    public int getVersion() {
        return 1;
    }

    @Override
    public byte[] serialize(final T value) {
        return writer.apply(value);
    }

    @Override
    public T deserialize(final int version, final byte[] serialized) throws IOException {
        return reading.of(serialized);
    }
}
