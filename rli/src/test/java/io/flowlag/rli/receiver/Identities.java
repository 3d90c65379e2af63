package io.flowlag.rli.receiver;

import static io.flowlag.rli.receiver.ReceiverCounter.*;
import static org.junit.jupiter.api.Assertions.assertEquals;

/** The two sums of {@link ReceiverCounter}. */
final class Identities {
    private Identities() {
    }

    static void assertHold(final RliReceiver receiver) {
        assertEquals(
            receiver.counter(PACKETS),
            sum(receiver, BUFFERED, ESTIMATED, FLOW_ENDED, WITHOUT_REFERENCE, OVERFLOW, SILENCE, RESTART, CLOCK_STEP),
            "packets");
        assertEquals(
            receiver.counter(REFERENCES),
            sum(
                receiver, REFERENCES_WAITING, REFERENCES_SETTLED, REFERENCES_DUPLICATED, REFERENCES_OUT_OF_ORDER,
                REFERENCES_TOO_OLD, REFERENCES_BACKWARDS),
            "references");
        assertEquals(
            receiver.counter(REFERENCES_SETTLED),
            sum(receiver, REFERENCES_BY_STAMP, REFERENCES_BY_FOLLOW_UP, REFERENCES_WITHOUT_FOLLOW_UP), "settled");
    }

    private static long sum(final RliReceiver receiver, final ReceiverCounter... counters) {
        long sum = 0;
        for (final ReceiverCounter counter : counters) {
            sum += receiver.counter(counter);
        }
        return sum;
    }
}
