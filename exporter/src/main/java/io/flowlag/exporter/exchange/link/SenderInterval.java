package io.flowlag.exporter.exchange.link;

import io.flowlag.exporter.exchange.wire.ExchangeSettings;
import io.flowlag.exporter.exchange.wire.FlowSum;
import io.flowlag.exporter.exchange.wire.PointDrops;
import io.flowlag.sketch.image.SketchImage;

/**
 * A sender's interval, complete and verified, for {@link ReceiverHandler}. Valid only during the call, since its memory is
 * reused.
 */
public interface SenderInterval {
    /** {@return the sender's observation point} */
    long pointId();

    /** {@return the interval's number} */
    long number();

    /** {@return the settings of the interval} */
    ExchangeSettings settings();

    /** {@return the losses of the sender's point in the interval} */
    PointDrops drops();

    /** {@return whether differences between the points may include losses of the points} */
    boolean isDamaged();

    /** {@return error estimate of the sender's clock, as in RFC 4656 section 4.1.2; 0 if unknown} */
    int errorEstimate();

    /** {@return count of sketches, as in the settings, or 0 in mode flows} */
    int sketchCount();

    /** A sketch; its shape, seed and interval are those of the settings. */
    SketchImage sketch(int index);

    /** {@return count of packets that may have been in flight at the interval's end} */
    int inFlightCount();

    /** A packet that may have been in flight. */
    long inFlight(int index);

    /** {@return count of flows whose sums came} */
    int flowCount();

    /** A flow's sums. */
    FlowSum flow(int index, FlowSum sum);

    /** {@return count of witness flows} */
    int witnessCount();

    /** A witness flow's sums. */
    FlowSum witness(int index, FlowSum sum);
}
