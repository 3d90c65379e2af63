package io.flowlag.exporter.runtime.demo;

import io.flowlag.common.command.ExitCode;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;

class DemoProcessTest {
    @Test
    void shouldFindNoFaultWithADemoThatASignalEnded() {
        assertEquals(ExitCode.DONE, DemoProcess.verdict(ExitCode.DONE, false, true));
        assertEquals(ExitCode.CANNOT_WRITE, DemoProcess.verdict(ExitCode.CANNOT_WRITE, false, true));
        assertEquals(ExitCode.INTERNAL, DemoProcess.verdict(ExitCode.DONE, false, false));
        assertEquals(ExitCode.DONE, DemoProcess.verdict(ExitCode.DONE, true, false));
    }
}
