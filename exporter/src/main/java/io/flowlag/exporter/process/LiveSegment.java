package io.flowlag.exporter.process;

import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.ExporterConfig.Direction;
import io.flowlag.exporter.config.ExporterConfig.Role;
import io.flowlag.exporter.delay.ClockError;
import io.flowlag.exporter.delay.DelayWiring;
import io.flowlag.exporter.delay.ReferenceMode;
import io.flowlag.exporter.delay.ReferenceTransmitter;
import io.flowlag.rli.reference.ReferenceSession;

import java.util.List;

/**
 * What a live process's role means: the interfaces that it captures from, the way that packets pass them, and what its delay
 * stage is joined to.
 */
final class LiveSegment {
    private final ExporterConfig config;

    /**
     * Of a configuration.
     *
     * @param config of the process.
     */
    LiveSegment(final ExporterConfig config) {
        this.config = config;
    }

    /** {@return the interfaces to capture from, in the order of the observation points; the sender point first} */
    List<String> interfaces() {
        return config.segment().role() == Role.BOTH ?
            List.of(config.segment().ingress(), config.segment().egress()) : config.capture().interfaces();
    }

    /**
     * The way that packets pass an interface.
     *
     * @param observationPoint index of the interface.
     * @return into the machine at the sender point of both, out of it at the receiver point; else as configured.
     */
    Direction direction(final int observationPoint) {
        if (config.segment().role() != Role.BOTH) {
            return config.capture().direction();
        }
        return observationPoint == 0 ? Direction.IN : Direction.OUT;
    }

    /**
     * What the delay stage is joined to.
     *
     * @param machine gives sockets and clocks.
     * @return the wiring; {@link DelayWiring#NONE} without a role.
     */
    DelayWiring wiring(final Machine machine) {
        final Role role = config.segment().role();
        if (role == Role.NONE) {
            return DelayWiring.NONE;
        }
        final boolean isReferenced = role != Role.BOTH || config.rli().target() != null;
        final List<ReferenceSession> sessions = isReferenced ? ReferenceSessions.of(config.rli()) : List.of();
        final ReferenceTransmitter transmitter =
            isReferenced && role.isSender() ? machine.transmitter(config, sessions) : null;
        return new DelayWiring(
            role, isReferenced ? ReferenceMode.SENT : ReferenceMode.NONE, sessions, transmitter, machine.clockError(config),
            isReferenced && role.isReceiver(), role == Role.BOTH, config.segment().exact(),
            DelayWiring.DIGEST_PAYLOAD_BYTES);
    }

    /** What a live process takes from the machine. */
    interface Machine {
        /**
         * Opens the sockets of the references.
         *
         * @param config   with target, port and classes.
         * @param sessions of the references, one a class.
         * @return what sends them, owned by the caller.
         */
        ReferenceTransmitter transmitter(ExporterConfig config, List<ReferenceSession> sessions);

        /**
         * Finds out how far the clocks may be apart.
         *
         * @param config with the source of that knowledge.
         * @return its state, kept up to date.
         */
        ClockError clockError(ExporterConfig config);
    }
}
