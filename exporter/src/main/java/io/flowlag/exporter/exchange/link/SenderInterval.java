package io.flowlag.exporter.exchange.link;

import io.flowlag.exporter.exchange.wire.ExchangeSettings;
import io.flowlag.exporter.exchange.wire.FlowSum;
import io.flowlag.exporter.exchange.wire.PointDrops;
import io.flowlag.sketch.image.SketchImage;

/**
 * A sender's interval, whole and verified, as {@link ReceiverHandler} sees it: during the call only, since its memory is used
 * again.
 */
public interface SenderInterval {
    /** {@return the sender's observation point} */
    long pointId();

    /** {@return the interval's number} */
    long number();

    /** {@return the settings that held} */
    ExchangeSettings settings();

    /** {@return what the sender's point lost in the interval} */
    PointDrops drops();

    /** {@return whether differences between the points are not the path's losses alone} */
    boolean isDamaged();

    /** {@return how good the sender's clock is, as RFC 4656 section 4.1.2 has it; 0 if it says nothing} */
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
