package io.flowlag.tests.system;

import io.flowlag.exporter.capture.CaptureException;
import io.flowlag.exporter.capture.bpf.BpfCall;
import io.flowlag.exporter.capture.bpf.EbpfAssembler;
import io.flowlag.exporter.capture.posix.CLibrary;
import io.flowlag.tests.support.NetworkNamespace;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import static io.flowlag.exporter.capture.bpf.EbpfAssembler.*;
import static org.junit.jupiter.api.Assertions.*;

/** eBPF in this kernel, on wires between network namespaces on which only this test sends. */
@Tag("topology")
class EbpfCaptureTest {
    private static final Path UNPRIVILEGED = Path.of("/proc/sys/kernel/unprivileged_bpf_disabled");

    private NetworkNamespace near;

    @BeforeEach
    void layWire() throws IOException {
        NetworkNamespace.assumeAvailable();
        near = NetworkNamespace.create("near");
    }

    @AfterEach
    void removeWire() throws IOException {
        if (near != null) {
            near.close();
        }
    }

    @Test
    void shouldShowValuesOfAMapInMemory() {
        final int mapFd = BpfCall.createMap(BpfCall.MAP_ARRAY, Integer.BYTES, 1024, BpfCall.MAP_FLAG_MMAPABLE);
        final long address = CLibrary.mmap(0, 8 * 1024, 3, 1, mapFd, 0);
        assertNotEquals(-1, address);
        try {
            BpfCall.update(mapFd, 1023, 0x01020304);
            assertEquals(0x01020304, new UnsafeBuffer(address, 8 * 1024).getInt(8 * 1023));
        } finally {
            CLibrary.munmap(address, 8 * 1024);
            CLibrary.close(mapFd);
        }
    }

    @Test
    void shouldSayWhatTheVerifierRefuses() {
        final CaptureException ex = assertThrows(CaptureException.class,
            () -> BpfCall.loadProgram(BpfCall.PROGRAM_SOCKET_FILTER, new EbpfAssembler().computeBy(MOV, R0, R5).exit()));
        assertEquals(CaptureException.Kind.UNAVAILABLE, ex.kind());
        assertEquals("eBPF program of 2 instructions: permission denied: R5 !read_ok", ex.getMessage());
    }

    @Test
    void shouldSayWhichRightIsMissing() throws IOException {
        Assumptions.assumeFalse(Files.readString(UNPRIVILEGED).startsWith("0"), "this kernel lets everybody make maps");
        final CaptureException ex = assertThrows(CaptureException.class, () -> near.callWithoutCapabilities(
            () -> BpfCall.createMap(BpfCall.MAP_ARRAY, 8, 1, BpfCall.MAP_FLAG_MMAPABLE)));
        assertEquals(CaptureException.Kind.NO_PERMISSION, ex.kind());
        assertTrue(ex.getMessage().contains("CAP_BPF"), ex.getMessage());
    }
}
