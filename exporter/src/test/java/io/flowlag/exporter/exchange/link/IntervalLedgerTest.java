package io.flowlag.exporter.exchange.link;

import io.flowlag.exporter.exchange.link.IntervalLedger.Answer;
import io.flowlag.exporter.exchange.wire.IntervalVerdict;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;

class IntervalLedgerTest {
    private static final long DEADLINE_NS = 100;
    private static final int WINDOW = 8;

    private final IntervalLedger ledger = new IntervalLedger(WINDOW, DEADLINE_NS);
    private final List<Long> missing = new ArrayList<>();

    private void poll(final long nowNs) {
        ledger.poll(nowNs, missing::add);
    }

    @Test
    void shouldTakeAnIntervalOnce() {
        ledger.expect(5, 0);
        assertEquals(Answer.WAITING, ledger.answer(5));
        assertEquals(IntervalVerdict.ACCEPTED, ledger.arrive(5, Answer.COMPLETE));
        assertEquals(Answer.COMPLETE, ledger.answer(5));
        assertEquals(IntervalVerdict.DUPLICATE, ledger.arrive(5, Answer.DAMAGED));
        assertEquals(Answer.COMPLETE, ledger.answer(5));
        poll(1000);
        assertEquals(List.of(), missing);
    }

    @Test
    void shouldGiveUpAtTheDeadline() {
        ledger.expect(5, 10);
        ledger.expect(6, 20);
        poll(109);
        assertEquals(List.of(), missing);
        poll(110);
        poll(111);
        assertEquals(List.of(5L), missing);
        assertEquals(Answer.MISSING, ledger.answer(5));
        assertEquals(IntervalVerdict.LATE, ledger.arrive(5, Answer.COMPLETE));
        assertEquals(Answer.MISSING, ledger.answer(5));
        assertEquals(IntervalVerdict.ACCEPTED, ledger.arrive(6, Answer.DAMAGED));
        assertEquals(Answer.DAMAGED, ledger.answer(6));
    }

    @Test
    void shouldTakeWhatComesBeforeItIsExpected() {
        assertEquals(IntervalVerdict.ACCEPTED, ledger.arrive(5, Answer.COMPLETE));
        ledger.expect(5, 0);
        assertEquals(Answer.COMPLETE, ledger.answer(5));
        poll(1000);
        assertEquals(List.of(), missing);
    }

    @Test
    void shouldRefuseWhatIsFarAheadOrForgotten() {
        ledger.expect(100, 0);
        assertEquals(IntervalVerdict.ACCEPTED, ledger.verdict(104));
        assertEquals(IntervalVerdict.AHEAD, ledger.verdict(105));
        assertEquals(IntervalVerdict.AHEAD, ledger.verdict(Long.MAX_VALUE));
        assertEquals(IntervalVerdict.ACCEPTED, ledger.verdict(97));
        assertEquals(IntervalVerdict.LATE, ledger.verdict(96));
        assertEquals(IntervalVerdict.LATE, ledger.verdict(Long.MIN_VALUE));
    }

    @Test
    void shouldNotBeLedAstrayByAHostileNumberThatCameFirst() {
        assertEquals(IntervalVerdict.ACCEPTED, ledger.arrive(Long.MAX_VALUE, Answer.COMPLETE));
        ledger.expect(100, 0);
        assertEquals(IntervalVerdict.ACCEPTED, ledger.arrive(100, Answer.COMPLETE));
        assertEquals(Answer.COMPLETE, ledger.answer(100));
    }

    @Test
    void shouldBeginAnewWhenTheReceiversClockWasSetBack() {
        ledger.expect(1000, 0);
        ledger.expect(1001, 0);
        ledger.arrive(1000, Answer.COMPLETE);
        ledger.expect(100, 50);
        assertEquals(IntervalVerdict.ACCEPTED, ledger.arrive(100, Answer.COMPLETE));
        assertEquals(IntervalVerdict.ACCEPTED, ledger.verdict(101));
        assertEquals(IntervalVerdict.AHEAD, ledger.verdict(1001));
        poll(51);
        assertEquals(List.of(1001L), missing, "it was waited for");
    }

    @Test
    void shouldReportWhatTimeLeaptOver() {
        ledger.expect(1, 0);
        ledger.expect(2, 0);
        ledger.expect(1 + WINDOW, 0);
        poll(1);
        assertEquals(List.of(1L), missing);
        poll(DEADLINE_NS);
        assertEquals(List.of(1L, 2L, 1L + WINDOW), missing.stream().sorted().toList());
    }

    @Test
    void shouldRememberThatAnIntervalWasRefused() {
        ledger.expect(3, 0);
        assertEquals(IntervalVerdict.ACCEPTED, ledger.arrive(3, Answer.REFUSED));
        assertEquals(Answer.REFUSED, ledger.answer(3));
        assertEquals(IntervalVerdict.DUPLICATE, ledger.arrive(3, Answer.COMPLETE));
        poll(1000);
        assertEquals(List.of(), missing);
        assertEquals(Answer.UNKNOWN, ledger.answer(77));
    }
}
