package io.flowlag.exporter.delay.exact;

import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Checks whether two points see the same packets: the share of decided sent packets that matched, in windows of a minimum
 * number of packets. A share below one half indicates a wrong set-up. The counters of both points then narrow down the cause:
 * whether flows are the same, packets that came in place of the missing ones, fragments, tunnels and large packets at one point
 * only, digests seen at a distant time.
 * <p>
 * It only reads counters, so any one thread may own it, for example the conductor. Allocates when it judges.
 */
public final class DigestAgreement {
    /** The minimum of packets for a meaningful verdict. */
    public static final long DEFAULT_MINIMUM_PACKETS = 100;

    private static final double ENOUGH = 0.5;
    private static final double HARDLY_ANY = 0.01;
    private static final double SOME = 0.1;
    private static final long DISTANT_HITS = 4;

    private final MatchCounters counters;
    private final long minimumPackets;
    private final Map<MatchCounter, Long> start = new EnumMap<>(MatchCounter.class);
    private final Map<MatchCounter, Long> window = new EnumMap<>(MatchCounter.class);
    private Verdict verdict = Verdict.TOO_FEW;

    /** What a window showed. */
    public enum Verdict {
        /** Too few packets for a judgement. */
        TOO_FEW,
        /** Half of the digests or more match. */
        AGREES,
        /** Fewer than half of the digests match. */
        DISAGREES
    }

    /**
     * An agreement whose first window begins now; a window has at least so many packets, see {@link #DEFAULT_MINIMUM_PACKETS}.
     */
    public DigestAgreement(final MatchCounters counters, final long minimumPackets) {
        if (minimumPackets < 1) {
            throw new IllegalArgumentException("minimumPackets=" + minimumPackets + " is not more than 0");
        }
        this.counters = counters;
        this.minimumPackets = minimumPackets;
        read(start);
        read(window);
    }

    /**
     * Judges the packets since the window began. If there are enough, the next window begins. Returns the verdict on this window;
     * {@link Verdict#TOO_FEW} leaves the window open.
     */
    public Verdict judge() {
        read(window);
        window.replaceAll((counter, total) -> total - start.get(counter));
        verdict = verdictOfWindow();
        if (verdict != Verdict.TOO_FEW) {
            read(start);
        }
        return verdict;
    }

    /**
     * The decided sent packets of the window last judged. Packets of flows that the receiver point never saw count as missing
     * only where others came in their place. Returns packets that matched, are missing, or were cut too short to match.
     */
    long decidedPackets() {
        return in(MatchCounter.MATCHED) + missing() + in(MatchCounter.SENT_DIGEST_SHORT);
    }

    /** {@return the share of these that matched, 0 to 1; NaN if there are none} */
    double share() {
        return (double)in(MatchCounter.MATCHED) / decidedPackets();
    }

    /** {@return the possible causes if the window last judged disagrees, the likeliest first; else empty} */
    List<DisagreementCause> causes() {
        return verdict == Verdict.DISAGREES ? List.copyOf(findCauses()) : List.of();
    }

    /** {@return verdict and causes in one line; empty unless the window last judged disagrees} */
    public String message() {
        if (verdict != Verdict.DISAGREES) {
            return "";
        }
        final String causes = causes().stream().map(this::sentence).collect(Collectors.joining("; or "));
        return decidedPackets() == 0 ?
            String.format(Locale.ROOT, "none of %d received packets was sent: %s", in(MatchCounter.RECEIVED), causes) :
            String.format(Locale.ROOT, "%d of %d sent packets were received (%.1f %%): %s",
                in(MatchCounter.MATCHED), decidedPackets(), 100 * share(), causes);
    }

    private String sentence(final DisagreementCause cause) {
        return cause == DisagreementCause.TIME ?
            String.format(Locale.ROOT, "%s (one was received %.6f s after it was sent)",
                cause.sentence(), counters.distanceNs() / 1e9) :
            cause.sentence();
    }

    private Verdict verdictOfWindow() {
        final boolean isDecided = decidedPackets() >= minimumPackets;
        final boolean isOneSided = in(MatchCounter.SENT) == 0 && in(MatchCounter.UNEXPECTED) >= minimumPackets;
        if (isDecided && share() >= ENOUGH) {
            return Verdict.AGREES;
        }
        return isDecided || isOneSided ? Verdict.DISAGREES : Verdict.TOO_FEW;
    }

    private Set<DisagreementCause> findCauses() {
        if (in(MatchCounter.SENT) == 0) {
            return EnumSet.of(DisagreementCause.NOTHING_SENT);
        }
        if (in(MatchCounter.RECEIVED) == 0) {
            return EnumSet.of(DisagreementCause.NOTHING_RECEIVED);
        }
        if (isCut()) {
            return EnumSet.of(DisagreementCause.SNAP_LENGTH);
        }
        final Set<DisagreementCause> causes = EnumSet.noneOf(DisagreementCause.class);
        if (in(MatchCounter.DISTANT) >= DISTANT_HITS) {
            causes.add(DisagreementCause.TIME);
        }
        if (differs(MatchCounter.SENT_FRAGMENTS, MatchCounter.RECEIVED_FRAGMENTS)) {
            causes.add(DisagreementCause.FRAGMENTATION);
        }
        if (differs(MatchCounter.SENT_LARGE, MatchCounter.RECEIVED_LARGE)) {
            causes.add(DisagreementCause.OFFLOAD);
        }
        if (differs(MatchCounter.SENT_TUNNELLED, MatchCounter.RECEIVED_TUNNELLED)) {
            causes.add(DisagreementCause.TUNNEL);
        }
        if (causes.isEmpty()) {
            addCausesByFlows(causes);
        }
        return causes;
    }

    /** Without a clearer sign: whether other packets come in place of the missing ones, and belong to the same flows. */
    private void addCausesByFlows(final Set<DisagreementCause> causes) {
        final long lost = missing();
        final long strangers = strangers();
        if (strangers < SOME * lost) {
            causes.add(DisagreementCause.LOSS);
        } else if (in(MatchCounter.LOST_OF_SEEN_FLOW) < ENOUGH * lost) {
            causes.addAll(EnumSet.of(
                DisagreementCause.NAT, DisagreementCause.TUNNEL, DisagreementCause.PROXY,
                DisagreementCause.DIFFERENT_TRAFFIC));
        } else if (share() < HARDLY_ANY) {
            causes.addAll(EnumSet.of(DisagreementCause.KEY, DisagreementCause.PROXY));
        } else {
            causes.addAll(EnumSet.of(
                DisagreementCause.PROXY, DisagreementCause.OFFLOAD, DisagreementCause.FRAGMENTATION));
        }
    }

    private long missing() {
        final long unseen = Math.max(0, in(MatchCounter.NOT_OF_SEGMENT));
        return Math.max(0, in(MatchCounter.LOST)) +
            (in(MatchCounter.RECEIVED) == 0 ? unseen : Math.min(unseen, strangers()));
    }

    private long strangers() {
        return in(MatchCounter.UNEXPECTED) + in(MatchCounter.RECEIVED_UNDECIDED);
    }

    private boolean isCut() {
        return in(MatchCounter.SENT_DIGEST_SHORT) > ENOUGH * in(MatchCounter.SENT) ||
            in(MatchCounter.RECEIVED_DIGEST_SHORT) > ENOUGH * in(MatchCounter.RECEIVED);
    }

    /** Whether one point has a kind of packet in a share of its packets, and the other has not. */
    private boolean differs(final MatchCounter atSender, final MatchCounter atReceiver) {
        final double sentShare = (double)in(atSender) / in(MatchCounter.SENT);
        final double receivedShare = (double)in(atReceiver) / in(MatchCounter.RECEIVED);
        return Math.abs(sentShare - receivedShare) > SOME;
    }

    private long in(final MatchCounter counter) {
        return window.get(counter);
    }

    private void read(final Map<MatchCounter, Long> to) {
        for (final MatchCounter counter : MatchCounter.values()) {
            to.put(counter, counters.get(counter));
        }
    }
}
