package io.flowlag.tests.stress;

import io.flowlag.exporter.pipeline.StageRing;
import org.agrona.concurrent.UnsafeBuffer;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LL_Result;

/** One thread offers two messages, another reads: they arrive whole, in order and once, sooner or later. */
@JCStressTest
@State
@Outcome(id = {", 12", "1, 2", "12, "}, expect = Expect.ACCEPTABLE, desc = "each message once, in order")
@Outcome(expect = Expect.FORBIDDEN, desc = "a message is lost, torn, twice or too early")
public class StageRingStress {
    private static final int CAPACITY_BYTES = 128;
    private static final int LENGTH_BYTES = 16;
    private static final int MESSAGES = 2;

    private final StageRing ring = new StageRing(CAPACITY_BYTES, false);
    private final UnsafeBuffer message = new UnsafeBuffer(new byte[LENGTH_BYTES]);

    /** The stage before. */
    @Actor
    public void offer() {
        for (int number = 1; number <= MESSAGES; number++) {
            message.putLong(0, number);
            message.putLong(Long.BYTES, -number);
            ring.offer(message, 0, LENGTH_BYTES);
        }
    }

    /**
     * The stage behind.
     *
     * @param result what it saw.
     */
    @Actor
    public void read(final LL_Result result) {
        result.r1 = read();
    }

    /**
     * Later.
     *
     * @param result what was left.
     */
    @Arbiter
    public void readRest(final LL_Result result) {
        result.r2 = read();
    }

    private String read() {
        final StringBuilder seen = new StringBuilder();
        ring.read((type, buffer, offset, lengthBytes) -> {
            final long number = buffer.getLong(offset);
            seen.append(number == -buffer.getLong(offset + Long.BYTES) && lengthBytes == LENGTH_BYTES ? number : "torn");
        }, MESSAGES);
        return seen.toString();
    }
}
