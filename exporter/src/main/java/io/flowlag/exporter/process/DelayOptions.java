package io.flowlag.exporter.process;

import io.flowlag.exporter.delay.ReferenceMode;

import java.nio.file.Path;
import java.util.List;

/**
 * What {@code flowlag delay} is told besides its configuration. Immutable.
 *
 * @param senderFiles    captures of the sender point, at least one; {@code -} is standard input.
 * @param receiverFiles  captures of the receiver point, at least one.
 * @param referenceMode  {@link ReferenceMode#MARKED} or {@link ReferenceMode#CAPTURED}.
 * @param isInterpolated whether delays are estimated from references.
 * @param isExact        whether matched packets are the delay of a flow.
 * @param truthFile      for the exact delays of all flows, or null.
 */
public record DelayOptions(
    List<String> senderFiles,
    List<String> receiverFiles,
    ReferenceMode referenceMode,
    boolean isInterpolated,
    boolean isExact,
    Path truthFile) {
}
