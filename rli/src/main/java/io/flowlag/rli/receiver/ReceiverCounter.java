package io.flowlag.rli.receiver;

/**
 * Counters of an {@link RliReceiver} for each stream: label and one sentence. Two sums hold at any time:
 * <pre>
 * packets    = buffered + estimated + flowEnded + withoutReference + overflow + silence + restart + clockStep
 * references = waiting + settled + duplicated + outOfOrder + tooOld + backwards
 * </pre>
 * and {@code settled = settledByStamp + settledByFollowUp + settledWithoutFollowUp}.
 */
public enum ReceiverCounter {
    /** Regular packets offered. */
    PACKETS("rli_packets", "Regular packets offered for estimation."),
    /** Packets that wait for their right reference. */
    BUFFERED("rli_buffered", "Packets that wait for their right reference now."),
    /** Packets with an estimate in their flow. */
    ESTIMATED("rli_estimated", "Packets with an estimated delay."),
    /** Packets with an estimate whose flow had ended. */
    FLOW_ENDED("rli_flow_ended", "Packets with an estimated delay whose flow had ended."),
    /** Packets without a left reference. */
    WITHOUT_REFERENCE("rli_without_reference", "Packets that came while there was no left reference."),
    /** Packets that found the buffer full. */
    OVERFLOW("rli_overflow", "Packets that found the interpolation buffer full."),
    /** Packets whose right reference did not come in time. */
    SILENCE("rli_silence", "Packets whose right reference did not come in time."),
    /** Packets between two lives of the sender. */
    RESTART("rli_restart", "Packets between references before and after a restart of the sender."),
    /** Packets between references whose clocks do not agree. */
    CLOCK_STEP("rli_clock_step", "Packets between references before and after a step of a clock."),
    /** Packets with a negative estimate. */
    NEGATIVE("rli_negative", "Packets with a negative estimated delay."),

    /** References offered. */
    REFERENCES("rli_references", "Reference packets offered."),
    /** References that wait for their effective send time. */
    REFERENCES_WAITING("rli_references_waiting", "References that wait for their effective send time now."),
    /** References whose delay is known. */
    REFERENCES_SETTLED("rli_references_settled", "References whose delay is known."),
    /** References that were settled by the stamp that they carry. */
    REFERENCES_BY_STAMP("rli_references_by_stamp", "References settled by the stamp that they carry, as configured."),
    /** References that were settled by their effective send time. */
    REFERENCES_BY_FOLLOW_UP("rli_references_by_follow_up", "References settled by their effective send time."),
    /** References whose effective send time never came. */
    REFERENCES_WITHOUT_FOLLOW_UP(
        "rli_references_without_follow_up", "References settled by their stamp, corrected, because no follow-up came."),
    /** References that came twice. */
    REFERENCES_DUPLICATED("rli_references_duplicated", "References whose number was seen before."),
    /** References that came after a later one. */
    REFERENCES_OUT_OF_ORDER("rli_references_out_of_order", "References that came after a later one; not interpolated."),
    /** References that came much too late. */
    REFERENCES_TOO_OLD("rli_references_too_old", "References far below the newest number."),
    /** References with an arrival before that of the last. */
    REFERENCES_BACKWARDS(
        "rli_references_backwards", "References with an arrival a little before the last one's; not interpolated."),
    /** References that are missing. */
    REFERENCES_LOST("rli_references_lost", "References missing between the first and the newest number now."),
    /** Restarts of the sender. */
    SENDER_RESTARTS("rli_sender_restarts", "Restarts of the sender."),
    /** Times that the sender fell silent. */
    SILENCES("rli_silences", "Times that no reference came for too long, and estimates stopped."),
    /** Steps of a clock. */
    CLOCK_STEPS("rli_clock_steps", "Steps of the sender's or the receiver's clock."),
    /** Effective send times that cannot be true. */
    FOLLOW_UPS_REFUSED("rli_follow_ups_refused", "Effective send times too far from the reference's stamp."),
    /** References with a negative delay. */
    REFERENCES_NEGATIVE("rli_references_negative", "References with a negative delay.");

    private final String label;
    private final String sentence;

    ReceiverCounter(final String label, final String sentence) {
        this.label = label;
        this.sentence = sentence;
    }

    /** {@return its name in statistics} */
    public String label() {
        return label;
    }

    /** {@return what it counts} */
    public String sentence() {
        return sentence;
    }
}
