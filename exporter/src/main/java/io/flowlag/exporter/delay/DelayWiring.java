package io.flowlag.exporter.delay;

import io.flowlag.common.hash.SipHash;
import io.flowlag.exporter.config.ExporterConfig.Role;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.rli.reference.ReferenceSession;
import org.agrona.DirectBuffer;

import java.util.List;

/**
 * The inputs of a process's delay stage. With two points, the first packet source is the sender point and the second the
 * receiver point; otherwise every source is the point of the process's role. Immutable.
 *
 * @param role           of the process; {@link Role#NONE} measures no delay.
 * @param clockError     of the two points' clocks.
 * @param isInterpolated whether delays are estimated from references.
 * @param isMatched      whether every packet is matched; needs both points.
 * @param isExact        whether matched packets, and not estimates, are the delay of a flow.
 * @param isSketched     whether received packets are in sketches; needs both points, or a link to the sender.
 * @param digestHash     of packets, for the capture stage; null for the key of the configuration.
 * @param link           joins the sketches with those of a point in another process, or {@link SketchLink#NONE}.
 * @param captures       known facts about the captures; {@link CaptureFacts#NONE} live.
 */
public record DelayWiring(
    Role role,
    References references,
    ClockError clockError,
    boolean isInterpolated,
    boolean isMatched,
    boolean isExact,
    boolean isSketched,
    SipHash digestHash,
    SketchLink link,
    CaptureFacts captures) {
    /** Payload octets that a packet's digest covers, where captures have them. */
    public static final int DIGEST_PAYLOAD_BYTES = 32;
    /** No delay is measured. */
    public static final DelayWiring NONE =
        new DelayWiring(Role.NONE, References.NONE, ClockError.NONE, false, false, false, false);

    /**
     * The references of a process.
     *
     * @param sessions    in the order of the classes; empty where references are regular packets.
     * @param transmitter sends them, or null where this process sends none; owned by the delay stage from then on.
     */
    public record References(ReferenceMode mode, List<ReferenceSession> sessions, ReferenceTransmitter transmitter) {
        public static final References NONE = new References(ReferenceMode.NONE, List.of());
        /** Regular packets that the sender point marks. */
        public static final References MARKED = new References(ReferenceMode.MARKED, List.of());

        /** References that this process does not send. */
        public References(final ReferenceMode mode, final List<ReferenceSession> sessions) {
            this(mode, sessions, null);
        }

        /** {@return whether this process sends references} */
        public boolean isSent() {
            return transmitter != null;
        }
    }

    /** Live, with the key of the configuration, and without a link. */
    public DelayWiring(
        final Role role, final References references, final ClockError clockError, final boolean isInterpolated,
        final boolean isMatched, final boolean isExact, final boolean isSketched) {
        this(
            role, references, clockError, isInterpolated, isMatched, isExact, isSketched, null, SketchLink.NONE,
            CaptureFacts.NONE);
    }

    /** The same without sketches. */
    public DelayWiring withoutSketches() {
        return new DelayWiring(
            role, references, clockError, isInterpolated, isMatched, isExact, false, digestHash, link, captures);
    }

    /** The same with another hash of packets. */
    public DelayWiring withDigestHash(final SipHash hash) {
        return new DelayWiring(
            role, references, clockError, isInterpolated, isMatched, isExact, isSketched, hash, link, captures);
    }

    /** The same joined to a point in another process, by a {@link ReceiverLink} or a {@link SenderLink}, as the role says. */
    public DelayWiring withLink(final SketchLink newLink) {
        return new DelayWiring(
            role, references, clockError, isInterpolated, isMatched, isExact, isSketched,
            newLink instanceof ReceiverLink receiver ? receiver.hash() : null, newLink, captures);
    }

    /** The same for one of several shards: each ships its part of intervals. */
    public DelayWiring ofShard(final int shard) {
        return senderLink() == null ? this : withLink(senderLink().shard(shard));
    }

    /** The same with facts about the captures. */
    public DelayWiring withCaptures(final CaptureFacts facts) {
        return new DelayWiring(
            role, references, clockError, isInterpolated, isMatched, isExact, isSketched, digestHash, link, facts);
    }

    /** {@return the link of a receiver; null without one} */
    ReceiverLink receiverLink() {
        return link instanceof ReceiverLink receiver ? receiver : null;
    }

    /** {@return the link of a sender; null without one} */
    public SenderLink senderLink() {
        return link instanceof SenderLink sender ? sender : null;
    }

    /** {@return whether packets of the sender point are in sketches for a receiver in another process} */
    public boolean isShipping() {
        return role == Role.SENDER && link != SketchLink.NONE;
    }

    /** {@return whether any estimator needs the digests of packets; interpolation between separate reference packets does not} */
    public boolean hasDigests() {
        return isMatched || isExact || isSketched || isShipping() || references.mode.isTraffic();
    }

    /** {@return whether the segment flow hash may be left to the delay stage, which keeps it with the flow} */
    public boolean isFlowHashLeft() {
        return role == Role.RECEIVER && isSketched && receiverLink() != null && !isMatched && !isExact;
    }

    /** {@return whether there is anything to do} */
    public boolean isOn() {
        return role != Role.NONE;
    }

    /** Whether a packet is at the sender point, by its source and its direction. */
    public boolean isAtSender(final DirectBuffer descriptor, final int offset) {
        final boolean isSender = isSenderPoint(PacketDescriptor.observationPoint(descriptor, offset));
        return isSender != isBackward(descriptor, offset);
    }

    /** Whether a packet goes from the receiver point to the sender point, where captures hold both directions. */
    boolean isBackward(final DirectBuffer descriptor, final int offset) {
        return captures.areBothWays() && captures.sides().isBackward(descriptor, offset);
    }

    /** {@return segments between interfaces of this host, if there are several} */
    public SegmentPairs pairs() {
        return captures.pairs();
    }

    /** Whether packets of an observation point are at the sender point: with both points, those of even ones. */
    boolean isSenderPoint(final int observationPoint) {
        return role == Role.SENDER || role == Role.BOTH && (observationPoint & 1) == 0;
    }
}
