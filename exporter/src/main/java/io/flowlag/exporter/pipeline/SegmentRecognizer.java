package io.flowlag.exporter.pipeline;

import io.flowlag.exporter.capture.CapturedPacket;
import io.flowlag.exporter.decode.DecodedReference;
import io.flowlag.exporter.decode.PacketDecoder;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.delay.PacketSegments;
import io.flowlag.exporter.delay.SegmentLookup;
import io.flowlag.exporter.delay.SegmentSwitch;
import io.flowlag.exporter.status.Counters;
import io.flowlag.rli.reference.ReferenceSession;
import io.flowlag.rli.reference.ReferenceVerdict;
import io.flowlag.rli.reference.ReferenceVerifier;
import org.agrona.MutableDirectBuffer;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Recognizes the references of several segments, and gives every other packet digests by the keys of its segments. Threads as of
 * its superclass. Allocates at construction.
 */
public final class SegmentRecognizer extends ReferenceRecognizer {
    private static final int IPV4_BYTES = 4;

    private final Counters counters;
    private final List<Expected> segments;
    private final Group[] groups;
    private final SegmentSwitch selection;
    private final boolean hasKeys;

    /**
     * References that one segment expects.
     *
     * @param target         where they go; null where it is not known.
     * @param sessions       in the order of the stream indexes; may be empty.
     * @param maximumDelayNs that a reference may be under way, and by which its stamp may lie in the future.
     */
    public record Expected(int port, InetAddress target, List<ReferenceSession> sessions, long maximumDelayNs) {
        boolean isLike(final Expected other) {
            return port == other.port && maximumDelayNs == other.maximumDelayNs &&
                (target == null ? other.target == null : target.equals(other.target)) &&
                sessions.stream().noneMatch((each) -> other.sessions.stream().anyMatch((it) -> it.ssid() == each.ssid()));
        }
    }

    /** Sessions of segments that one verifier tells apart, with the segment and the stream of each. */
    private static final class Group {
        private final Expected like;
        private final boolean hasTarget;
        private final long targetHigh;
        private final long targetLow;
        private final int[] segments;
        private final int[] streams;
        private final ReferenceVerifier[] verifiers;

        Group(final List<Expected> all, final List<Integer> members, final int pointCount) {
            like = all.get(members.get(0));
            hasTarget = like.target != null;
            final ByteBuffer octets = ByteBuffer.wrap(hasTarget ? like.target.getAddress() : new byte[IPV4_BYTES]);
            final boolean isIpv4 = octets.capacity() == IPV4_BYTES;
            targetHigh = isIpv4 ? 0 : octets.getLong(0);
            targetLow = isIpv4 ? octets.getInt(0) & 0xFFFF_FFFFL : octets.getLong(Long.BYTES);
            segments = members.stream().flatMap((each) -> all.get(each).sessions.stream().map((session) -> each))
                .mapToInt(Integer::intValue).toArray();
            streams = new int[segments.length];
            for (int i = 1; i < streams.length; i++) {
                streams[i] = segments[i] == segments[i - 1] ? streams[i - 1] + 1 : 0;
            }
            verifiers = new ReferenceVerifier[pointCount];
            Arrays.setAll(verifiers, (point) -> new ReferenceVerifier(
                members.stream().flatMap((each) -> all.get(each).sessions.stream()).toList(), like.maximumDelayNs,
                like.maximumDelayNs));
        }

        boolean isFor(final MutableDirectBuffer descriptor, final int offset) {
            return PacketDescriptor.destinationPort(descriptor, offset) == like.port && (!hasTarget ||
                PacketDescriptor.destinationLow(descriptor, offset) == targetLow &&
                PacketDescriptor.destinationHigh(descriptor, offset) == targetHigh);
        }
    }

    /**
     * A recognizer.
     *
     * @param segments   what each expects, in the order of their indexes.
     * @param pointCount number of sources, each of which has its own replay windows.
     * @param selection  finds the segments of a packet.
     * @param hasKeys    whether the decoder has keys of segments.
     */
    public SegmentRecognizer(
        final List<Expected> segments, final int pointCount, final SegmentSwitch selection, final boolean hasKeys,
        final Counters counters) {
        super(-1, List.of(), 0, 0, 0, counters);
        this.counters = counters;
        this.segments = List.copyOf(segments);
        this.selection = selection;
        this.hasKeys = hasKeys;
        groups = groups(segments).stream().map((members) -> new Group(segments, members, pointCount)).toArray(Group[]::new);
    }

    /** Those with a target first: a process's own references are taken for no other's. */
    private static List<List<Integer>> groups(final List<Expected> segments) {
        final List<List<Integer>> groups = new ArrayList<>();
        for (final boolean hasTarget : new boolean[]{true, false}) {
            for (int i = 0; i < segments.size(); i++) {
                final Expected segment = segments.get(i);
                if (!segment.sessions.isEmpty() && (segment.target != null) == hasTarget) {
                    groups.stream().filter((members) -> members.stream().allMatch((each) -> segment.isLike(segments.get(each))))
                        .findFirst().orElseGet(() -> {
                            groups.add(new ArrayList<>());
                            return groups.get(groups.size() - 1);
                        }).add(i);
                }
            }
        }
        return groups;
    }

    /** Verifies with the keys of the sessions of all segments, one after the other, as they are now. Any thread. */
    @Override
    public void renew(final List<ReferenceSession> newer) {
        final int[] firsts = new int[segments.size()];
        for (int i = 1; i < firsts.length; i++) {
            firsts[i] = firsts[i - 1] + segments.get(i - 1).sessions.size();
        }
        for (final Group group : groups) {
            final List<ReferenceSession> own = new ArrayList<>();
            for (int i = 0; i < group.segments.length; i++) {
                own.add(newer.get(firsts[group.segments[i]] + group.streams[i]));
            }
            for (final ReferenceVerifier verifier : group.verifiers) {
                verifier.renew(own);
            }
        }
    }

    @Override
    public boolean recognize(
        final PacketDecoder decoder, final CapturedPacket packet, final MutableDirectBuffer descriptor, final int offset,
        final int observationPoint) {
        if (PacketDescriptor.protocol(descriptor, offset) == PROTOCOL_UDP &&
            isReference(decoder, packet, descriptor, offset, observationPoint)) {
            return true;
        }
        final PacketSegments packets = selection.at(PacketDescriptor.timestampNs(descriptor, offset));
        final boolean isForwarded = packet.way() != CapturedPacket.Way.PASSING || !packets.isLocal(descriptor, offset);
        if (hasKeys && isForwarded && (PacketDescriptor.flags(descriptor, offset) & PacketDescriptor.FLAG_OVERSIZE) == 0) {
            final int found = packets.of(descriptor, offset);
            decoder.digest(packet, SegmentLookup.sender(found), SegmentLookup.receiver(found), descriptor, offset);
        }
        return false;
    }

    /** Asks each verifier that the packet may be for; a refusal counts once. */
    private boolean isReference(
        final PacketDecoder decoder, final CapturedPacket packet, final MutableDirectBuffer descriptor, final int offset,
        final int observationPoint) {
        ReferenceVerdict verdict = ReferenceVerdict.ACCEPTED;
        for (final Group group : groups) {
            if (group.isFor(descriptor, offset)) {
                final ReferenceVerifier verifier = group.verifiers[observationPoint];
                final ReferenceVerdict next = verdict(verifier, decoder, packet.buffer(), descriptor, offset);
                if (next == ReferenceVerdict.ACCEPTED) {
                    encode(verifier, descriptor, offset);
                    DecodedReference.segment(descriptor, offset, group.segments[verifier.sessionIndex()],
                        group.streams[verifier.sessionIndex()]);
                    return true;
                }
                verdict = next == ReferenceVerdict.UNKNOWN_SESSION && verdict != ReferenceVerdict.ACCEPTED ? verdict : next;
            }
        }
        if (verdict != ReferenceVerdict.ACCEPTED) {
            counters.increment(COUNTERS[verdict.ordinal()]);
        }
        return false;
    }
}
