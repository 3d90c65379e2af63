package io.flowlag.exporter.exchange.link;

import io.flowlag.exporter.delay.SketchAgreement;
import io.flowlag.exporter.delay.SketchShipment;
import io.flowlag.exporter.delay.interval.IntervalPoint;
import io.flowlag.exporter.delay.interval.SettingsBuilder;
import io.flowlag.exporter.delay.interval.records.IntervalSettings;
import io.flowlag.exporter.delay.interval.records.SenderAnswer;
import io.flowlag.exporter.delay.interval.records.SketchedPacket;
import io.flowlag.exporter.delay.interval.repair.ReconcileSettings;
import io.flowlag.exporter.delay.interval.repair.SynopsisRequest;
import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.reconcile.FlowSample;
import io.flowlag.sketch.reconcile.PacketCache;
import org.agrona.DirectBuffer;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

/** What a receiver that asks too often costs a sender. */
class SynopsisAnswersTest {
    private static final long INTERVAL_NS = 1_000_000_000L;
    private static final int SETTINGS = 3;
    private static final int CLASSES = 2;
    private static final int INTERVALS = 3;
    private static final int ROUNDS = 10;
    private static final int PIECES = 64;
    private static final int LARGE = PIECES * SynopsisAnswers.WORK_SLOTS * 3 / 4;

    private ReconcileSettings settings = new ReconcileSettings(1024, ReconcileSettings.LEAST_CELLS, INTERVAL_NS);
    private final ExchangeCounters counters = new ExchangeCounters();
    private final SynopsisRequest request = new SynopsisRequest(settings.mostMissing());
    private final List<SketchShipment> givenBack = new ArrayList<>();
    private int answered;
    private DirectBuffer lastImage;
    private SynopsisAnswers answers = answers();

    private SynopsisAnswers answers() {
        return new SynopsisAnswers((requestId, image, offset) -> {
            lastImage = image;
            answered += image == null ? 0 : 1;
            return image == null ? 0 : image.capacity();
        }, counters, givenBack::add);
    }

    /** Intervals 1 and on, with some packets each, that were shipped. */
    private void ship() {
        final IntervalSettings context = new SettingsBuilder()
            .geometry(SketchGeometry.lds(2, 64, 1)).aggregatorCells(64).classCount(CLASSES).intervalNs(INTERVAL_NS)
            .maximumDelayNs(INTERVAL_NS / 10).answerDeadlineNs(INTERVAL_NS).inFlightPackets(64).maxFlows(64)
            .reconcile(settings).keptIntervals(INTERVALS).build();
        final IntervalPoint point = new IntervalPoint(context, false);
        final SketchAgreement agreement =
            new SketchAgreement(null, null, null, null, null, null, context, point, 0, false);
        point.advance(INTERVAL_NS);
        for (int number = 1; number <= INTERVALS; number++) {
            for (int i = 0; i < 20; i++) {
                point.onPacket(
                    new SketchedPacket().set(number * INTERVAL_NS + i, i % 4, number * 100L + i, 500, i % CLASSES, 1));
            }
            point.advance((number + 1) * INTERVAL_NS);
            final SenderAnswer closed = point.take(number);
            closed.packets().settle();
            answers.keep(new SketchShipment(agreement, closed, 0, 0, 0, 0), SETTINGS, INTERVALS);
        }
    }

    private boolean ask(final SynopsisRequest asked) {
        answers.onRequest(1, SETTINGS, asked);
        workToEnd();
        return lastImage != null;
    }

    /** {@return duty cycles with something to do} */
    private int workToEnd() {
        int cycles = 0;
        while (answers.doWork() > 0) {
            cycles++;
        }
        return cycles;
    }

    @Test
    void shouldAnswerEachKindTwiceForAnIntervalAndClassAndNoMore() {
        ship();
        for (int round = 0; round < ROUNDS; round++) {
            for (int number = 1; number <= INTERVALS; number++) {
                for (int i = PacketCache.ANY_CLASS; i < CLASSES; i++) {
                    ask(request.estimator(number, i, FlowSample.ALL));
                    ask(request.aggregator(number, i, FlowSample.ALL, 4, 100));
                    request.packets(number, i, FlowSample.ALL).add(number * 100L);
                    ask(request);
                }
            }
        }
        final int asked = ROUNDS * INTERVALS * (CLASSES + 1) * 3;
        final int most = SynopsisAnswers.MOST_REQUESTS * INTERVALS * (CLASSES + 1) * 3;
        assertEquals(most, answered);
        assertEquals(asked - most, counters.get(ExchangeCounter.SYNOPSIS_REQUESTS_EXCESS));
        assertNull(lastImage, "the last was denied");
        assertEquals(0, givenBack.size());
    }

    @Test
    void shouldDenyWhatIsNotThereAtNoCost() {
        ship();
        for (int round = 0; round < ROUNDS; round++) {
            ask(request.estimator(1, CLASSES, FlowSample.ALL));
            ask(request.estimator(INTERVALS + 1, 0, FlowSample.ALL));
            answers.onRequest(1, SETTINGS + 1, request.estimator(1, 0, FlowSample.ALL));
            workToEnd();
            request.flows(1, FlowSample.ALL).add(1);
            ask(request);
        }
        assertEquals(0, answered);
        assertEquals(ROUNDS - SynopsisAnswers.MOST_REQUESTS, counters.get(ExchangeCounter.SYNOPSIS_REQUESTS_EXCESS),
            "keys are not known here; looking for them twice is what it costs");
        ask(request.estimator(1, 0, FlowSample.ALL));
        assertNotNull(lastImage, "what is there is answered all the same");
    }

    @Test
    void shouldAnswerTheNewestRequestAlone() {
        ship();
        answers.onRequest(1, SETTINGS, request.estimator(1, 0, FlowSample.ALL));
        answers.onRequest(2, SETTINGS, request.estimator(2, 0, FlowSample.ALL));
        workToEnd();
        assertEquals(0, answers.doWork());
        assertEquals(1, answered);
    }

    /** A table of 64 pieces: as many duty cycles as that, whatever is asked, and one more to send the answer. */
    @Test
    void shouldLookThroughALargeCachePieceByPiece() {
        settings = new ReconcileSettings(LARGE, ReconcileSettings.LEAST_CELLS, INTERVAL_NS);
        answers = answers();
        ship();
        answers.onRequest(1, SETTINGS, request.estimator(1, 0, FlowSample.ALL));
        assertEquals(PIECES + 1, workToEnd());
        answers.onRequest(2, SETTINGS, request.aggregator(1, PacketCache.ANY_CLASS, FlowSample.ALL, 4, 100));
        assertEquals(PIECES + 1, workToEnd());
        assertEquals(2, answered);
    }

    @Test
    void shouldNotLookThroughAnIntervalThatIsGone() {
        settings = new ReconcileSettings(LARGE, ReconcileSettings.LEAST_CELLS, INTERVAL_NS);
        answers = answers();
        ship();
        answers.onRequest(1, SETTINGS, request.estimator(1, 0, FlowSample.ALL));
        assertEquals(1, answers.doWork());
        ship();
        assertEquals(INTERVALS, givenBack.size());
        assertEquals(1, workToEnd(), "it is denied");
        assertEquals(0, answered);
        answers.onRequest(2, SETTINGS, request.estimator(1, 0, FlowSample.ALL));
        answers.doWork();
        answers.forget();
        assertEquals(0, answers.doWork(), "nobody waits for it");
        assertEquals(0, answered);
    }
}
