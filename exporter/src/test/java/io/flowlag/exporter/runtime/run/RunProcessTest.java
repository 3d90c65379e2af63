package io.flowlag.exporter.runtime.run;

import io.flowlag.common.command.ExitCode;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;

class RunProcessTest {
    @Test
    void shouldEndWithItsOwnFaultsBeforeThoseOfInterfaces() {
        assertEquals(ExitCode.DONE, RunProcess.exitCode(0, false));
        assertEquals(ExitCode.NO_INPUT, RunProcess.exitCode(0, true));
        assertEquals(ExitCode.INTERNAL, RunProcess.exitCode(1, false));
        assertEquals(ExitCode.INTERNAL, RunProcess.exitCode(1, true));
    }
}
