package io.flowlag.exporter.exchange.link;

import io.flowlag.common.counter.CounterSet;
import io.flowlag.exporter.reference.CardClock;
import io.flowlag.exporter.status.ClockEstimate;
import io.flowlag.rli.clock.ClockEstimator;
import io.flowlag.rli.clock.ClockEvent;
import io.flowlag.rli.clock.ClockSettings;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.util.Locale;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.ObjLongConsumer;

/**
 * The clock of this host against a sender's: estimated from the times that the two ends of the exchange ask of each other, and
 * from packets where they are measured both ways, since these have the kernel's times. It is taken out of what the sender
 * measures if that is wanted. The estimate outlives sessions. The metering thread calls {@link #onDelay}; {@link #estimate},
 * {@link #applied} and the counters are for any; the rest is the exchange's thread's. Allocates once a second.
 */
final class SenderClock {
    private static final Logger LOG = LoggerFactory.getLogger(SenderClock.class);
    private static final long INTERVAL_NS = 1_000_000_000L;
    /** Both ends poll each millisecond, so that the least delay of a second differs by this much. */
    private static final long CHANGE_NS = 150_000;
    /** More intervals than wait to be repaired. */
    private static final int REMEMBERED = 32;
    private static final long NS_PER_S = 1_000_000_000L;
    private static final double NS_PER_US = 1e3;

    private final long pointId;
    private final boolean isCorrecting;
    private final String name;
    private final ClockEstimator exchanges = new ClockEstimator(ClockSettings.defaults().withChangeNs(CHANGE_NS));
    /** Apart: a bound of one way by packets and one of the other by exchanges would have a middle far from the truth. */
    private final ClockEstimator packets = new ClockEstimator(ClockSettings.defaults());
    private final LeastDelay arriving = new LeastDelay();
    private final LeastDelay untold = new LeastDelay();
    private final CounterSet<Change> changes = new CounterSet<>(Change.class);
    private final AtomicReferenceArray<Applied> applied = new AtomicReferenceArray<>(REMEMBERED);
    private volatile ClockEstimate estimate = ClockEstimate.NONE;
    private long nextNs = Long.MIN_VALUE;
    private boolean isForth;
    private boolean isBack;
    /** With packets both ways; one without takes two away. */
    private int packetIntervals;
    private boolean isOfPackets;
    private boolean isOffsetTold;
    /** Whether the next estimate does not continue the last one. */
    private boolean isBroken = true;

    /** What the clocks and the ways between them did. */
    private enum Change {
        CLOCK_EXCHANGES,
        CLOCK_REFLECTIONS,
        CLOCK_PACKETS_FORTH,
        CLOCK_PACKETS_BACK,
        CLOCK_STEPS,
        CLOCK_UNCLEAR_CHANGES,
        CLOCK_PATH_CHANGES
    }

    /** The estimate that an interval was corrected with. */
    private record Applied(long intervalNumber, ClockEstimate estimate) {
    }

    /** Without an estimate; lines of the log begin with a name. */
    SenderClock(final long pointId, final boolean isCorrecting, final String name) {
        this.name = name;
        this.pointId = pointId;
        this.isCorrecting = isCorrecting;
    }

    /** Takes an exchange with a reflector that has the sender's clock, likewise. */
    void onReflection(final long sentNs, final long receivedNs, final long reflectedNs, final long returnedNs) {
        changes.increment(Change.CLOCK_REFLECTIONS);
        take(sentNs, receivedNs, reflectedNs, returnedNs);
    }

    /** Takes an exchange: when this end asked, when the sender had the question and answered, and when the answer came. */
    void onExchange(final long askedNs, final long receivedNs, final long answeredNs, final long returnedNs) {
        changes.increment(Change.CLOCK_EXCHANGES);
        take(askedNs, receivedNs, answeredNs, returnedNs);
    }

    private void take(final long askedNs, final long receivedNs, final long answeredNs, final long returnedNs) {
        exchanges.onForward(returnedNs, returnedNs - answeredNs);
        exchanges.onBackward(askedNs, receivedNs - askedNs);
    }

    /** A packet of the sender arrived, each time by the clock of its point. Metering thread; allocates nothing. */
    void onDelay(final long sentNs, final long arrivedNs) {
        arriving.offer(sentNs, arrivedNs);
    }

    /** {@return the least delay of packets that the sender has not been told, if one is offered} */
    LeastDelay untold() {
        return untold;
    }

    /** A packet of this host arrived at the sender's, as that one tells. */
    void onWayBack(final long sentNs, final long arrivedNs) {
        changes.increment(Change.CLOCK_PACKETS_BACK);
        isBack = true;
        packets.onBackward(sentNs, arrivedNs - sentNs);
    }

    private void takeArriving() {
        if (arriving.isOffered()) {
            changes.increment(Change.CLOCK_PACKETS_FORTH);
            isForth = true;
            packets.onForward(arriving.arrivedNs(), arriving.arrivedNs() - arriving.sentNs());
            untold.offer(arriving.sentNs(), arriving.arrivedNs());
            arriving.taken();
        }
    }

    /** Time has passed, by this host's clock, ns since the epoch. Returns whether there is another estimate. */
    boolean onTime(final long nowNs) {
        takeArriving();
        if (nowNs >= nextNs - INTERVAL_NS && nowNs < nextNs ||
            changes.get(Change.CLOCK_EXCHANGES) + changes.get(Change.CLOCK_REFLECTIONS) == 0) {
            return false;
        }
        nextNs = nowNs + INTERVAL_NS;
        final ClockEvent event = exchanges.onInterval(nowNs);
        tell(event);
        final ClockEvent ofPackets = packets.onInterval(nowNs);
        // The exchanges tell of others.
        if (Math.max(Math.abs(ofPackets.forwardNs()), Math.abs(ofPackets.backwardNs())) < CHANGE_NS) {
            tell(ofPackets);
        }
        final boolean isNarrower = isNarrower();
        isBroken |= isNarrower != isOfPackets || (isNarrower ? ofPackets : event).isRestart();
        isOfPackets = isNarrower;
        final ClockEstimator estimator = isNarrower ? packets : exchanges;
        final ClockEstimate last = estimate;
        if (exchanges.hasEstimate()) {
            estimate = new ClockEstimate(
                true, isCorrecting, estimator.offsetNs(), estimator.boundNs(), estimator.driftPpb() / NS_PER_S, nowNs,
                isBroken ? nowNs : last.sinceNs());
            isBroken = false;
            tellOffset();
        } else if (last.isKnown()) {
            estimate = new ClockEstimate(
                false, isCorrecting, last.offsetNs(), last.boundNs(), last.drift(), last.timeNs(), last.sinceNs());
        }
        return true;
    }

    /**
     * Whether the packets bound the offset more closely: both ways have some in nearly every interval, and they do not contradict
     * the exchanges. If they do, a clock was set while one way had none, and they begin anew.
     */
    private boolean isNarrower() {
        packetIntervals = isForth && isBack ?
            Math.min(2 * ClockEstimator.LEAST_INTERVALS, packetIntervals + 1) : Math.max(0, packetIntervals - 2);
        isForth = false;
        isBack = false;
        if (!packets.hasEstimate() || !exchanges.hasEstimate()) {
            return false;
        }
        if (packets.lowNs() > exchanges.highNs() || packets.highNs() < exchanges.lowNs()) {
            packets.reset();
            return false;
        }
        return packetIntervals >= ClockEstimator.LEAST_INTERVALS && packets.boundNs() < exchanges.boundNs();
    }

    private void tell(final ClockEvent event) {
        switch (event.kind()) {
            case NONE -> { }
            case STEP -> {
                changes.increment(Change.CLOCK_STEPS);
                isOffsetTold = false;
                LOG.warn("{}exchange: a clock was set: this host's moved by {} against that of sender {}", name,
                    text(event.stepNs()), pointId);
            }
            case UNCLEAR, CONTRADICTION -> {
                changes.increment(Change.CLOCK_UNCLEAR_CHANGES);
                isOffsetTold = false;
                LOG.warn("{}exchange: the clocks of this host and of sender {} may have stepped; their difference is estimated " +
                    "anew", name, pointId);
            }
            default -> {
                changes.increment(Change.CLOCK_PATH_CHANGES);
                LOG.info("{}exchange: another path: the way from sender {} takes {}, the way to it {}", name, pointId,
                    change(event.forwardNs()), change(event.backwardNs()));
            }
        }
    }

    private static String change(final long ns) {
        return text(Math.abs(ns)) + (ns < 0 ? " less" : " more");
    }

    private static String text(final long ns) {
        return String.format(Locale.ROOT, "%.1f us", ns / NS_PER_US);
    }

    private void tellOffset() {
        if (!isOffsetTold) {
            isOffsetTold = true;
            final String advice = advice(estimate.offsetNs(), estimate.boundNs());
            LOG.info("{}exchange: this host's clock less that of sender {}: {} ± {}{}", name, pointId,
                text(estimate.offsetNs()), text(estimate.boundNs()),
                isCorrecting ? "; delays are corrected" : "");
            if (!advice.isEmpty()) {
                LOG.warn("{}exchange: sender {}: {}", name, pointId, advice);
            }
        }
    }

    /** {@return what to do about an offset that leap seconds explain, or that no interval can be paired with; else empty} */
    static String advice(final long offsetNs, final long boundNs) {
        if (CardClock.isAtomic(offsetNs)) {
            return String.format(Locale.ROOT, "this host's clock is %d s %s: one of the two is on TAI, as hardware clocks of " +
                "cards (PHC) are under ptp4l, the other on UTC; let phc2sys set the system clock with the UTC offset " +
                "(phc2sys -w)", CardClock.TAI_S, offsetNs > 0 ? "ahead" : "behind");
        }
        return Math.abs(offsetNs) - boundNs < NS_PER_S ? "" :
            "the clocks are more than a second apart: no interval can be compared until they are set";
    }

    /** Corrects a sender's interval, if delays are corrected. */
    void correct(final ReceivedInterval interval) {
        final ClockEstimate now = estimate;
        applied.lazySet(place(interval.intervalNumber()), new Applied(interval.intervalNumber(), now));
        if (now.isCorrected()) {
            interval.retime(now);
        }
    }

    /** {@return the estimate that an interval was corrected with, if it was; any thread} */
    ClockEstimate applied(final long intervalNumber) {
        final Applied last = applied.get(place(intervalNumber));
        return last == null || last.intervalNumber() != intervalNumber ? ClockEstimate.NONE : last.estimate();
    }

    private static int place(final long intervalNumber) {
        return Math.floorMod(intervalNumber, REMEMBERED);
    }

    /** {@return the last estimate; any thread} */
    ClockEstimate estimate() {
        return estimate;
    }

    /** Shows the counters. Any thread. */
    void counters(final ObjLongConsumer<String> consumer) {
        for (final Change each : Change.values()) {
            consumer.accept(each.name().toLowerCase(Locale.ROOT), changes.get(each));
        }
    }
}
