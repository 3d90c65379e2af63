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
 * @param role               of the process; {@link Role#NONE} measures no delay.
 * @param sessions           of the references, in the order of the classes; empty where they are regular packets.
 * @param transmitter        sends references, or null where this process sends none; owned by the delay stage from then on.
 * @param clockError         of the two points' clocks.
 * @param isInterpolated     whether delays are estimated from references.
 * @param isMatched          whether every packet is matched; needs both points.
 * @param isExact            whether matched packets, and not estimates, are the delay of a flow.
 * @param isSketched         whether received packets are in sketches; needs both points, or a link to the sender.
 * @param digestPayloadBytes payload octets that a packet's digest covers: fewer than all where a capture has cut packets.
 * @param digestHash         of packets, for the capture stage; null for the key of the configuration.
 * @param link               joins the sketches with those of a point in another process; null for none.
 * @param captures           known facts about the captures; {@link CaptureFacts#NONE} live.
 */
public record DelayWiring(
    Role role,
    ReferenceMode referenceMode,
    List<ReferenceSession> sessions,
    ReferenceTransmitter transmitter,
    ClockError clockError,
    boolean isInterpolated,
    boolean isMatched,
    boolean isExact,
    boolean isSketched,
    int digestPayloadBytes,
    SipHash digestHash,
    SketchLink link,
    CaptureFacts captures) {
    /** Payload octets that a packet's digest covers, where captures have them. */
    public static final int DIGEST_PAYLOAD_BYTES = 32;

    /** No delay is measured. */
    public static final DelayWiring NONE = new DelayWiring(
        Role.NONE, ReferenceMode.NONE, List.of(), null, ClockError.NONE, false, false, false, DIGEST_PAYLOAD_BYTES);

    /** Without known facts about captures. */
    public DelayWiring(
        final Role role,
        final ReferenceMode referenceMode,
        final List<ReferenceSession> sessions,
        final ReferenceTransmitter transmitter,
        final ClockError clockError,
        final boolean isInterpolated,
        final boolean isMatched,
        final boolean isExact,
        final boolean isSketched,
        final int digestPayloadBytes,
        final SipHash digestHash,
        final SketchLink link) {
        this(role, referenceMode, sessions, transmitter, clockError, isInterpolated, isMatched, isExact, isSketched,
            digestPayloadBytes, digestHash, link, CaptureFacts.NONE);
    }

    /** Without sketches. */
    public DelayWiring(
        final Role role,
        final ReferenceMode referenceMode,
        final List<ReferenceSession> sessions,
        final ReferenceTransmitter transmitter,
        final ClockError clockError,
        final boolean isInterpolated,
        final boolean isMatched,
        final boolean isExact,
        final int digestPayloadBytes) {
        this(role, referenceMode, sessions, transmitter, clockError, isInterpolated, isMatched, isExact, false,
            digestPayloadBytes, null, null);
    }

    /**
     * The same with sketches, or without.
     *
     * @param sketched whether packets of both points are in sketches.
     */
    public DelayWiring withSketches(final boolean sketched) {
        return new DelayWiring(role, referenceMode, sessions, transmitter, clockError, isInterpolated, isMatched, isExact,
            sketched, digestPayloadBytes, digestHash, link, captures);
    }

    /**
     * The same with another hash of packets.
     *
     * @param hash for the capture stage; null for the key of the configuration.
     */
    public DelayWiring withDigestHash(final SipHash hash) {
        return new DelayWiring(role, referenceMode, sessions, transmitter, clockError, isInterpolated, isMatched, isExact,
            isSketched, digestPayloadBytes, hash, link, captures);
    }

    /**
     * The same joined to a point in another process.
     *
     * @param newLink a {@link ReceiverLink} or a {@link SenderLink}, as the role says; null for none.
     */
    public DelayWiring withLink(final SketchLink newLink) {
        return new DelayWiring(role, referenceMode, sessions, transmitter, clockError, isInterpolated, isMatched, isExact,
            isSketched, digestPayloadBytes, newLink instanceof ReceiverLink receiver ? receiver.hash() :
            newLink == null ? digestHash : null, newLink, captures);
    }

    /** {@return the link of a receiver; null without one} */
    public ReceiverLink receiverLink() {
        return link instanceof ReceiverLink receiver ? receiver : null;
    }

    /** {@return the link of a sender; null without one} */
    public SenderLink senderLink() {
        return link instanceof SenderLink sender ? sender : null;
    }

    /** {@return whether packets of the sender point are in sketches for a receiver in another process} */
    public boolean isShipping() {
        return role == Role.SENDER && link != null;
    }

    /** {@return whether any estimator needs the digests of packets; interpolation between separate reference packets does not} */
    public boolean hasDigests() {
        return isMatched || isExact || isSketched || isShipping() || referenceMode.isTraffic();
    }

    /** {@return whether the segment flow hash may be left to the delay stage, which keeps it with the flow} */
    public boolean isFlowHashLeft() {
        return role == Role.RECEIVER && isSketched && receiverLink() != null && !isMatched && !isExact;
    }

    /** {@return whether there is anything to do} */
    public boolean isOn() {
        return role != Role.NONE;
    }

    /** The same with facts about the captures. */
    public DelayWiring withCaptures(final CaptureFacts facts) {
        return new DelayWiring(role, referenceMode, sessions, transmitter, clockError, isInterpolated, isMatched, isExact,
            isSketched, digestPayloadBytes, digestHash, link, facts);
    }

    /** Whether a packet is at the sender point, by its source and its direction. */
    public boolean isAtSender(final DirectBuffer descriptor, final int offset) {
        final boolean isSender = isSenderPoint(PacketDescriptor.observationPoint(descriptor, offset));
        return isSender != isBackward(descriptor, offset);
    }

    /** Whether a packet goes from the receiver point to the sender point, where captures hold both directions. */
    boolean isBackward(final DirectBuffer descriptor, final int offset) {
        return captures.sides() != null && captures.sides().isBackward(descriptor, offset);
    }

    /** Whether packets of a source are at the sender point. */
    public boolean isSenderPoint(final int observationPoint) {
        return role == Role.SENDER || role == Role.BOTH && observationPoint == 0;
    }
}
