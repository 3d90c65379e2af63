package io.flowlag.exporter.delay;

import io.flowlag.exporter.config.ExporterConfig.Role;
import io.flowlag.rli.reference.ReferenceSession;

import java.util.List;

/**
 * What the delay stage of a process is joined to. The first packet source is the sender point where there are two points, and the
 * second the receiver point; otherwise every source is the point of the process's role. Immutable.
 *
 * @param role           of the process; {@link Role#NONE} measures no delay.
 * @param referenceMode  where references come from.
 * @param sessions       of the references, in the order of the classes; empty where they are regular packets.
 * @param transmitter    sends references, or null where this process sends none; owned by the delay stage from then on.
 * @param clockError     of the two points' clocks.
 * @param isInterpolated whether delays are estimated from references.
 * @param isMatched      whether every packet is matched; needs both points.
 * @param isExact        whether matched packets, and not estimates, are the delay of a flow.
 * @param digestPayloadBytes of a packet that its digest covers: fewer than all where a capture has cut packets.
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
    int digestPayloadBytes) {
    /** Of a packet that its digest covers, where captures have them. */
    public static final int DIGEST_PAYLOAD_BYTES = 32;

    /** No delay is measured. */
    public static final DelayWiring NONE = new DelayWiring(
        Role.NONE, ReferenceMode.NONE, List.of(), null, ClockError.NONE, false, false, false, DIGEST_PAYLOAD_BYTES);

    /** {@return whether there is anything to do} */
    public boolean isOn() {
        return role != Role.NONE;
    }

    /**
     * Whether packets of a source are at the sender point.
     *
     * @param observationPoint index of the source.
     * @return true if they are.
     */
    public boolean isSenderPoint(final int observationPoint) {
        return role == Role.SENDER || role == Role.BOTH && observationPoint == 0;
    }
}
