package io.flowlag.exporter.exchange.link;

import org.agrona.concurrent.UnsafeBuffer;

/** The messages of one interval, which may be sent several times. Immutable, any thread; {@link IntervalEncoder} makes it. */
public final class EncodedInterval {
    private final long number;
    private final UnsafeBuffer messages;

    EncodedInterval(final long number, final byte[] messages) {
        this.number = number;
        this.messages = new UnsafeBuffer(messages);
    }

    /** {@return the interval's number} */
    public long number() {
        return number;
    }

    /** {@return octets of all its messages} */
    public int lengthBytes() {
        return messages.capacity();
    }

    public UnsafeBuffer messages() {
        return messages;
    }
}
