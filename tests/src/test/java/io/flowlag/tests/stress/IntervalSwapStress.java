package io.flowlag.tests.stress;

import io.flowlag.sketch.interval.IntervalSketch;
import io.flowlag.sketch.interval.IntervalSketches;
import io.flowlag.sketch.interval.MeasurementInterval;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * The writer fills an interval's sketch, closes it, and needs an empty one for a later interval; the reader polls the closed one,
 * reads it and returns it. The reader sees all of it or none, and the writer gets it empty or not at all.
 */
@JCStressTest
@State
@Outcome(id = {"-1, -1", "3, -1", "3, 0"}, expect = Expect.ACCEPTABLE, desc = "whole to the reader, empty to the writer")
@Outcome(expect = Expect.FORBIDDEN, desc = "a part of a sketch, or a used one")
public class IntervalSwapStress {
    private static final int LENGTH_NS = 10;
    private static final int OPEN_INTERVALS = 2;
    private static final int NONE = -1;

    private final IntervalSketches<Sketch> sketches =
        new IntervalSketches<>(new MeasurementInterval(LENGTH_NS), 0, OPEN_INTERVALS, OPEN_INTERVALS + 1, Sketch::new);

    /** Counts packets, twice. */
    private static final class Sketch implements IntervalSketch {
        private long number;
        private int packets;
        private int others;

        @Override
        public void begin(final long intervalNumber, final long intervalNs) {
            number = intervalNumber;
        }

        @Override
        public long intervalNumber() {
            return number;
        }

        @Override
        public void clear() {
            packets = 0;
            others = 0;
        }

        private int sum() {
            return packets + others;
        }
    }

    /**
     * The writer: interval 0 has packets, interval 3 wants the sketch back that it had.
     *
     * @param result what the sketch of interval 3 holds at first.
     */
    @Actor
    public void write(final II_Result result) {
        final Sketch first = sketches.select(0);
        first.packets = 1;
        first.others = 2;
        sketches.advance(LENGTH_NS);
        sketches.advance(2 * LENGTH_NS);
        sketches.advance(3 * LENGTH_NS);
        final Sketch again = sketches.select(3 * LENGTH_NS);
        result.r2 = again == null ? NONE : again.sum();
    }

    /**
     * The reader.
     *
     * @param result what the sketch of interval 0 holds.
     */
    @Actor
    public void read(final II_Result result) {
        final Sketch filled = sketches.poll();
        result.r1 = filled == null ? NONE : filled.sum();
        if (filled != null) {
            sketches.giveBack(filled);
        }
    }
}
