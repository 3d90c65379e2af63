package io.flowlag.rli.receiver;

import io.flowlag.common.counter.Counted;

import java.util.Locale;

/**
 * Counters of an {@link RliReceiver} for each stream: label and one sentence. Two sums hold at any time:
 * <pre>
 * packets    = buffered + estimated + flowEnded + withoutReference + overflow + silence + restart + clockStep
 * references = waiting + settled + duplicated + outOfOrder + tooOld + backwards
 * </pre>
 * and {@code settled = settledByStamp + settledByFollowUp + settledWithoutFollowUp}.
 */
public enum ReceiverCounter implements Counted {
    PACKETS("Regular packets offered for estimation."),
    BUFFERED("Packets that wait for their right reference now."),
    ESTIMATED("Packets with an estimated delay."),
    FLOW_ENDED("Packets with an estimated delay whose flow had ended."),
    WITHOUT_REFERENCE("Packets that came while there was no left reference."),
    OVERFLOW("Packets that found the interpolation buffer full."),
    SILENCE("Packets whose right reference did not come in time."),
    RESTART("Packets between references before and after a restart of the sender."),
    CLOCK_STEP("Packets between references before and after a step of a clock."),
    NEGATIVE("Packets with a negative estimated delay."),
    REFERENCES("Reference packets offered."),
    REFERENCES_WAITING("References that wait for their effective send time now."),
    REFERENCES_SETTLED("References whose delay is known."),
    REFERENCES_BY_STAMP("References settled by the stamp that they carry, as configured."),
    REFERENCES_BY_FOLLOW_UP("References settled by their effective send time."),
    REFERENCES_WITHOUT_FOLLOW_UP("References settled by their stamp, corrected, because no follow-up came."),
    REFERENCES_DUPLICATED("References whose number was seen before."),
    REFERENCES_OUT_OF_ORDER("Injected references that came after a later one; not interpolated."),
    REFERENCES_TOO_OLD("References far below the newest number."),
    REFERENCES_BACKWARDS("References with an arrival a little before the last one's; not interpolated."),
    REFERENCES_LOST("References missing between the first and the newest number now."),
    SENDER_RESTARTS("Restarts of the sender."),
    SILENCES("Times that no reference came for too long, and estimates stopped."),
    CLOCK_STEPS("Steps of the sender's or the receiver's clock."),
    FOLLOW_UPS_REFUSED("Effective send times too far from the reference's stamp."),
    REFERENCES_NEGATIVE("References with a negative delay.");

    private final Text text;

    ReceiverCounter(final String sentence) {
        text = new Text("rli_" + name().toLowerCase(Locale.ROOT), "", sentence);
    }

    @Override
    public Text text() {
        return text;
    }

    /** {@return whether it counts packets, and not references or what happens to their stream} */
    public boolean isOfPackets() {
        return compareTo(REFERENCES) < 0;
    }
}
