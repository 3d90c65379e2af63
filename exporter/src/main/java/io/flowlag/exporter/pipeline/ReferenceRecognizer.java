package io.flowlag.exporter.pipeline;

import io.flowlag.exporter.capture.CapturedPacket;
import io.flowlag.exporter.decode.DecodedReference;
import io.flowlag.exporter.decode.PacketDecoder;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import io.flowlag.rli.reference.ReferenceDecoder;
import io.flowlag.rli.reference.ReferenceSession;
import io.flowlag.rli.reference.ReferenceVerdict;
import io.flowlag.rli.reference.ReferenceVerifier;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.util.List;

/**
 * Separates reference packets from regular ones while their octets are available. A datagram to the reference port that the
 * verifier accepts becomes a {@link DecodedReference}; one that it refuses is counted by reason and stays a regular packet.
 * Each observation point has its own replay window, since a reference may pass several.
 * <p>
 * The capture thread owns it. Allocates at construction.
 */
public class ReferenceRecognizer {
    /** Recognizes nothing: no packet has its port. */
    public static final ReferenceRecognizer NONE = new ReferenceRecognizer(-1, List.of(), 0, 0, 0, new Counters());

    static final int PROTOCOL_UDP = 17;
    /** By {@link ReferenceVerdict}; none for accepted references, which the metering stage counts. */
    static final CounterId[] COUNTERS = {
        null, CounterId.REFERENCES_TOO_SHORT, CounterId.REFERENCES_UNKNOWN_SESSION, CounterId.REFERENCES_WRONG_SOURCE,
        CounterId.REFERENCES_BAD_MAC, CounterId.REFERENCES_UNCHECKED, CounterId.REFERENCES_BAD_EXTENSION,
        CounterId.REFERENCES_BAD_EXTENSION_MAC, CounterId.REFERENCES_WRONG_TIMESTAMP_FORMAT, CounterId.REFERENCES_LATE,
        CounterId.REFERENCES_EARLY, CounterId.REFERENCES_REPLAYED};

    private final int port;
    private final ReferenceVerifier[] verifiers;
    private final Counters counters;

    /**
     * A recognizer.
     *
     * @param sessions         in the order of the stream indexes.
     * @param maximumDelayNs   that a reference may be under way, clock difference included.
     * @param maximumAdvanceNs by which its stamp may lie in the future, because clocks differ.
     * @param counters         the capture thread is the writer of those of refused references.
     */
    public ReferenceRecognizer(
        final int port,
        final List<ReferenceSession> sessions,
        final long maximumDelayNs,
        final long maximumAdvanceNs,
        final int pointCount,
        final Counters counters) {
        this.port = port;
        this.counters = counters;
        verifiers = new ReferenceVerifier[pointCount];
        for (int i = 0; i < pointCount; i++) {
            verifiers[i] = new ReferenceVerifier(sessions, maximumDelayNs, maximumAdvanceNs);
        }
    }

    /** Verifies with the keys of the same sessions as they are now. Any thread. */
    public void renew(final List<ReferenceSession> newer) {
        for (final ReferenceVerifier verifier : verifiers) {
            verifier.renew(newer);
        }
    }

    /** As below, from a packet as captured. */
    public boolean recognize(
        final PacketDecoder decoder, final CapturedPacket packet, final MutableDirectBuffer descriptor, final int offset,
        final int observationPoint) {
        return recognize(decoder, packet.buffer(), descriptor, offset, observationPoint);
    }

    /** Checks a packet just decoded from a buffer. Returns whether it is a reference, as its descriptor then is. */
    public final boolean recognize(
        final PacketDecoder decoder, final DirectBuffer packet, final MutableDirectBuffer descriptor, final int offset,
        final int observationPoint) {
        if (PacketDescriptor.destinationPort(descriptor, offset) != port ||
            PacketDescriptor.protocol(descriptor, offset) != PROTOCOL_UDP) {
            return false;
        }
        final ReferenceVerifier verifier = verifiers[observationPoint];
        final ReferenceVerdict verdict = verdict(verifier, decoder, packet, descriptor, offset);
        if (verdict != ReferenceVerdict.ACCEPTED) {
            counters.increment(COUNTERS[verdict.ordinal()]);
            return false;
        }
        encode(verifier, descriptor, offset);
        return true;
    }

    /** What a verifier says of a datagram just decoded from a buffer. */
    static ReferenceVerdict verdict(
        final ReferenceVerifier verifier, final PacketDecoder decoder, final DirectBuffer packet,
        final DirectBuffer descriptor, final int offset) {
        verifier.from(PacketDescriptor.sourceHigh(descriptor, offset), PacketDescriptor.sourceLow(descriptor, offset));
        return verifier.verify(
            packet, decoder.udpPayloadOffset(), decoder.udpPayloadLengthBytes(), decoder.udpPayloadWholeBytes(),
            PacketDescriptor.timestampNs(descriptor, offset));
    }

    /** Turns the descriptor of an accepted datagram into that of a reference. */
    static void encode(final ReferenceVerifier verifier, final MutableDirectBuffer descriptor, final int offset) {
        final ReferenceDecoder reference = verifier.decoder();
        DecodedReference.encode(
            descriptor, offset, verifier.sessionIndex(), reference.sequenceNumber(), reference.stampNs());
        DecodedReference.errorEstimate(descriptor, offset, reference.errorEstimate());
        if (reference.hasFollowUp()) {
            DecodedReference.followUp(descriptor, offset, reference.followUpSequenceNumber(), reference.followUpSentNs());
        }
    }
}
