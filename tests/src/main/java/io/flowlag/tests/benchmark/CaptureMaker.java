package io.flowlag.tests.benchmark;

import io.flowlag.exporter.capture.PacketSource;
import io.flowlag.exporter.lab.CaptureWriter;
import io.flowlag.exporter.lab.GeneratedTraffic;
import io.flowlag.exporter.lab.TrafficProfile;

import java.io.IOException;
import java.nio.file.Path;

/** Writes generated traffic as a capture; equal profiles give equal octets. */
final class CaptureMaker {
    private static final int POLL_LIMIT = 1024;

    private CaptureMaker() {
    }

    /**
     * Writes a capture.
     *
     * @throws IOException if it cannot be written.
     */
    static void make(final TrafficProfile profile, final Path file, final CaptureWriter.Format format) throws IOException {
        try (GeneratedTraffic traffic = new GeneratedTraffic(profile); CaptureWriter writer = new CaptureWriter(file, format)) {
            while (traffic.poll(writer, POLL_LIMIT) != PacketSource.END_OF_SOURCE) {
                // goes on to the end
            }
        }
    }
}
