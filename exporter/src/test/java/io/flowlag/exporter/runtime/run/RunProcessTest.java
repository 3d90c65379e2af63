package io.flowlag.exporter.runtime.run;

import io.flowlag.common.command.ExitCode;
import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.runtime.doctor.HostExamination;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

class RunProcessTest {
    @Test
    void shouldEndWithItsOwnFaultsBeforeThoseOfInterfaces() {
        assertEquals(ExitCode.DONE, RunProcess.exitCode(0, false));
        assertEquals(ExitCode.NO_INPUT, RunProcess.exitCode(0, true));
        assertEquals(ExitCode.INTERNAL, RunProcess.exitCode(1, false));
        assertEquals(ExitCode.INTERNAL, RunProcess.exitCode(1, true));
    }

    private static ExporterConfig config(final String yaml) {
        return new ConfigLoader().text("test", yaml).conclude();
    }

    @Test
    void shouldSayWhatAReloadChanges() {
        final ExporterConfig old = config("metering: {idle-timeout: 5s}\nexporting: {destinations: ['udp://192.0.2.1']}");
        assertEquals("no value changed", Reload.changes(old, old));
        assertEquals("metering.idle-timeout = 15s (was 5s)",
            Reload.changes(old, config("exporting: {destinations: ['udp://192.0.2.1']}")));
        final String more = Reload.changes(old, config("metering: {idle-timeout: 5s}"));
        assertTrue(more.contains("is no longer") && more.contains("192.0.2.1"), more);
    }

    @Test
    void shouldSayWhatAnInterfaceIsAtStart() {
        final String loopback = HostExamination.interfaceText("lo");
        assertTrue(loopback.matches("MTU [0-9]+.*, offloads (off|unknown|[a-z -]+)"), loopback);
    }
}
