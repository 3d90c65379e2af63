package io.flowlag.exporter.delay;

import java.util.function.ObjLongConsumer;

/**
 * Joins the sketches of this process with those of the other measurement point, in another process: a {@link ReceiverLink} at a
 * receiver, a {@link SenderLink} at a sender. The metering thread calls everything but the counters and clock errors; nothing
 * blocks.
 */
public interface SketchLink {
    /** Shows every counter. Any thread. */
    void counters(ObjLongConsumer<String> consumer);

    /** {@return the memory of intervals and send times on their way, by formula, octets; twice that while settings change} */
    long memoryBytes();
}
