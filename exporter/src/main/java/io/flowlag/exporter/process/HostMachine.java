package io.flowlag.exporter.process;

import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.ExporterConfig.ClockSource;
import io.flowlag.exporter.console.ExitCode;
import io.flowlag.exporter.console.ExitException;
import io.flowlag.exporter.delay.ClockError;
import io.flowlag.exporter.delay.ReferenceTransmitter;
import io.flowlag.rli.reference.ReferenceSession;

import java.util.List;

/** The machine that the process runs on. */
final class HostMachine implements LiveSegment.Machine {
    @Override
    public ReferenceTransmitter transmitter(final ExporterConfig config, final List<ReferenceSession> sessions) {
        throw new ExitException(ExitCode.CONFIGURATION, "rli.target=" + config.rli().target() +
            ": this machine cannot send references: leave it out and match every packet, with role both");
    }

    @Override
    public ClockError clockError(final ExporterConfig config) {
        return ClockError.fixed(config.clock().source() == ClockSource.FIXED ? config.clock().errorNs() : -1);
    }
}
