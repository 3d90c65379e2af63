package io.flowlag.rli.sender;

import io.flowlag.common.counter.Counted;

/** Counters of an {@link InjectionScheduler} for each class: label and one sentence. */
public enum SenderCounter implements Counted {
    REFERENCES("references_sent", "Reference packets sent."),
    REFERENCE_BYTES("reference_bytes_sent", "Octets of the reference packets sent, as on the link."),
    REGULAR_PACKETS("regular_packets", "Regular packets of the class at the sender's point."),
    REGULAR_BYTES("regular_bytes", "Octets of regular packets of the class at the sender's point."),
    BY_MAXIMUM_GAP("references_by_maximum_gap", "Reference packets sent because max-gap came before the policy's distance."),
    HELD_BY_CEILING("references_held_by_ceiling", "Reference packets that were due and waited for the bandwidth ceiling."),
    FAILED("references_failed", "Reference packets that the socket did not take.");

    private final Text text;

    SenderCounter(final String label, final String sentence) {
        text = new Text(label, "", sentence);
    }

    @Override
    public Text text() {
        return text;
    }
}
