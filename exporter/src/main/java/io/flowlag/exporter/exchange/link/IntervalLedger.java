package io.flowlag.exporter.exchange.link;

import io.flowlag.exporter.exchange.wire.IntervalVerdict;
import org.agrona.collections.LongArrayList;

import java.util.Arrays;
import java.util.function.LongConsumer;

/**
 * A receiver's record of one sender's intervals: received, awaited until a deadline, or missing. It remembers a window of them.
 * One thread; allocates at construction, and when time jumps past awaited intervals.
 */
final class IntervalLedger {
    /** State of an interval. */
    enum Answer {
        /** Unknown: not expected, or forgotten. */
        UNKNOWN,
        /** Awaited; its deadline is not over. */
        WAITING,
        /** Received; the sender's point dropped nothing. */
        COMPLETE,
        /** Received; the sender's point dropped packets, so the path's loss is unknown. */
        DAMAGED,
        /** Received, but unusable. */
        REFUSED,
        /** Not received by its deadline. */
        MISSING
    }

    private static final long NO_DEADLINE = Long.MAX_VALUE;

    private final long deadlineNs;
    private final long[] numbers;
    private final long[] deadlinesNs;
    private final Answer[] answers;
    private final LongArrayList pushedOut = new LongArrayList();
    private boolean isStarted;
    private long newestExpected;

    /**
     * An empty ledger.
     *
     * @param windowIntervals how many intervals it remembers, at least 4: half of them before the newest that is expected, half
     *                        ahead of it.
     * @param deadlineNs      how long an interval is waited for once it is expected.
     */
    IntervalLedger(final int windowIntervals, final long deadlineNs) {
        if (windowIntervals < 4 || deadlineNs < 0) {
            throw new IllegalArgumentException(
                "windowIntervals=" + windowIntervals + " is less than 4, or deadlineNs=" + deadlineNs + " is negative");
        }
        this.deadlineNs = deadlineNs;
        numbers = new long[windowIntervals];
        deadlinesNs = new long[windowIntervals];
        answers = new Answer[windowIntervals];
        Arrays.fill(answers, Answer.UNKNOWN);
        Arrays.fill(deadlinesNs, NO_DEADLINE);
    }

    /**
     * Expects the sender's interval, after the receiver has closed its own. An interval older than the window means that the
     * clock was set back: everything is forgotten, and awaited intervals count as missing.
     */
    void expect(final long number, final long nowNs) {
        if (isStarted && number <= newestExpected - numbers.length / 2) {
            restart();
        }
        newestExpected = isStarted ? Math.max(newestExpected, number) : number;
        isStarted = true;
        enter(number);
        final int slot = slot(number);
        if (answers[slot] == Answer.UNKNOWN) {
            answers[slot] = Answer.WAITING;
            deadlinesNs[slot] = nowNs + deadlineNs;
        }
    }

    private void restart() {
        isStarted = false;
        for (int slot = 0; slot < numbers.length; slot++) {
            if (answers[slot] == Answer.WAITING) {
                pushedOut.addLong(numbers[slot]);
            }
            answers[slot] = Answer.UNKNOWN;
            deadlinesNs[slot] = NO_DEADLINE;
        }
    }

    /** Whether an interval would be accepted now. Returns accepted, or why not. */
    IntervalVerdict verdict(final long number) {
        if (isStarted && number > newestExpected + numbers.length / 2) {
            return IntervalVerdict.AHEAD;
        }
        if (isStarted && number <= newestExpected - numbers.length / 2) {
            return IntervalVerdict.LATE;
        }
        return switch (answer(number)) {
            case UNKNOWN, WAITING -> IntervalVerdict.ACCEPTED;
            case COMPLETE, DAMAGED, REFUSED -> IntervalVerdict.DUPLICATE;
            case MISSING -> IntervalVerdict.LATE;
        };
    }

    /** Records a received interval: complete, damaged or refused. Returns accepted, or why it changes nothing. */
    IntervalVerdict arrive(final long number, final Answer answer) {
        final IntervalVerdict verdict = verdict(number);
        if (verdict == IntervalVerdict.ACCEPTED) {
            enter(number);
            answers[slot(number)] = answer;
            deadlinesNs[slot(number)] = NO_DEADLINE;
        }
        return verdict;
    }

    Answer answer(final long number) {
        final int slot = slot(number);
        return numbers[slot] == number ? answers[slot] : Answer.UNKNOWN;
    }

    /** Ends the wait for intervals past their deadline: each is handed over once. Returns how many. */
    int poll(final long nowNs, final LongConsumer onMissing) {
        int missing = pushedOut.size();
        for (int i = 0; i < missing; i++) {
            onMissing.accept(pushedOut.getLong(i));
        }
        pushedOut.clear();
        for (int slot = 0; slot < numbers.length; slot++) {
            if (answers[slot] == Answer.WAITING && nowNs >= deadlinesNs[slot]) {
                answers[slot] = Answer.MISSING;
                missing++;
                onMissing.accept(numbers[slot]);
            }
        }
        return missing;
    }

    private void enter(final long number) {
        final int slot = slot(number);
        if (numbers[slot] != number) {
            if (answers[slot] == Answer.WAITING) {
                pushedOut.addLong(numbers[slot]);
            }
            numbers[slot] = number;
            answers[slot] = Answer.UNKNOWN;
            deadlinesNs[slot] = NO_DEADLINE;
        }
    }

    private int slot(final long number) {
        return (int)Math.floorMod(number, (long)numbers.length);
    }
}
