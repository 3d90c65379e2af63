package io.flowlag.tests.system;

import io.flowlag.exporter.capture.CaptureException;
import io.flowlag.exporter.capture.LiveCaptureOptions;
import io.flowlag.exporter.capture.LivePacketSource;
import io.flowlag.exporter.capture.live.LiveCapture;

/** A process of its own that opens one interface, polls it, closes it, and says on one line what came of it. */
final class LiveCaptureMain {
    private LiveCaptureMain() {
    }

    /**
     * Opens and closes.
     *
     * @param arguments kind, interface, filter.
     */
    public static void main(final String[] arguments) {
        final LiveCaptureOptions options = LiveCaptureOptions.of(arguments[1])
            .withKind(LiveCaptureOptions.Kind.valueOf(arguments[0]))
            .withFilterExpression(arguments[2]);
        try (LivePacketSource source = LiveCapture.open(options)) {
            new CapturedPackets().stopAndDrain(source);
            System.out.println("opened " + source.name() + " and captured " + source.capturedCount());
        } catch (final CaptureException ex) {
            System.out.println(ex.kind() + " " + ex.getMessage());
        }
    }
}
