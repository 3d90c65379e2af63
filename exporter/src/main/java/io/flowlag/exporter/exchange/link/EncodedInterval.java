package io.flowlag.exporter.exchange.link;

import org.agrona.concurrent.UnsafeBuffer;

/** The messages of one interval, which may be sent several times. Any thread; {@link IntervalEncoder} makes it. */
public record EncodedInterval(long number, UnsafeBuffer messages) {
    public int lengthBytes() {
        return messages.capacity();
    }
}
