package io.flowlag.exporter.runtime.delay;

import io.flowlag.exporter.capture.file.CaptureFiles;
import io.flowlag.exporter.delay.ReferenceMode;
import io.flowlag.exporter.listing.Listing;

import java.nio.file.Path;
import java.util.List;

/**
 * The options of {@code flowlag delay} besides its configuration. Immutable.
 *
 * @param senderFiles    captures of the sender point, at least one; {@code -} is standard input.
 * @param receiverFiles  captures of the receiver point, at least one.
 * @param referenceMode  {@link ReferenceMode#MARKED} or {@link ReferenceMode#CAPTURED}.
 * @param isInterpolated whether delays are estimated from references.
 * @param isSketched     whether packets of both points are in sketches.
 * @param isExact        whether matched packets are the delay of a flow.
 * @param truthFile      for the exact delays of all flows, or null.
 * @param memoryBytes    limit, octets; 0 for half of the host's memory.
 * @param listing        what is printed without a destination.
 */
public record DelayOptions(
    List<String> senderFiles,
    List<String> receiverFiles,
    ReferenceMode referenceMode,
    boolean isInterpolated,
    boolean isSketched,
    boolean isExact,
    Path truthFile,
    long memoryBytes,
    Listing listing) {
    /** With a table of every record. */
    public DelayOptions(
        final List<String> senderFiles, final List<String> receiverFiles, final ReferenceMode referenceMode,
        final boolean isInterpolated, final boolean isSketched, final boolean isExact, final Path truthFile,
        final long memoryBytes) {
        this(senderFiles, receiverFiles, referenceMode, isInterpolated, isSketched, isExact, truthFile, memoryBytes,
            Listing.DEFAULT);
    }

    /** {@return the same, printing something else} */
    public DelayOptions with(final Listing other) {
        return new DelayOptions(
            senderFiles, receiverFiles, referenceMode, isInterpolated, isSketched, isExact, truthFile, memoryBytes, other);
    }

    /** {@return whether a capture is standard input, which can be read only once} */
    boolean hasStandardInput() {
        return senderFiles.contains(CaptureFiles.STANDARD_INPUT) || receiverFiles.contains(CaptureFiles.STANDARD_INPUT);
    }

    /** {@return the same with the points swapped} */
    DelayOptions swapped() {
        return new DelayOptions(
            receiverFiles, senderFiles, referenceMode, isInterpolated, isSketched, isExact, truthFile, memoryBytes, listing);
    }

    /** {@return the same, with the reference packets in the captures} */
    DelayOptions byInjected() {
        return new DelayOptions(
            senderFiles, receiverFiles, ReferenceMode.CAPTURED, true, isSketched, isExact, truthFile, memoryBytes, listing);
    }
}
