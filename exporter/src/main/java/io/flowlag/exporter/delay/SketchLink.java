package io.flowlag.exporter.delay;

import java.util.function.ObjLongConsumer;

/**
 * Joins the sketches of this process with those of the other measurement point, in another process: a {@link ReceiverLink} at a
 * receiver, a {@link SenderLink} at a sender. The metering thread calls everything but the counters and clock errors; nothing
 * blocks.
 */
public interface SketchLink {
    /** No link: it has no counters and takes no memory. */
    SketchLink NONE = new SketchLink() {
    };

    /** Shows every counter. Any thread. */
    default void counters(final ObjLongConsumer<String> consumer) {
    }

    /** {@return the memory of intervals and send times on their way, by formula, octets; twice that while settings change} */
    default long memoryBytes() {
        return 0;
    }
}
