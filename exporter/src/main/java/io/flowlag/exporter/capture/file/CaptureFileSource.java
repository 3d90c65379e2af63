package io.flowlag.exporter.capture.file;

import io.flowlag.exporter.capture.PacketSource;

/**
 * A {@link PacketSource} of capture files. Created by {@link CaptureFiles}; used by one thread. The buffer passed to a handler
 * belongs to the source. {@link #poll} allocates nothing per packet; it allocates when it opens a file, moves the window, or
 * meets a link type for the first time. It waits only for standard input and pipes, and for them only before its first packet.
 */
public interface CaptureFileSource extends PacketSource {
    /** {@return packets whose time is out of range; they were given the nearest time within it} */
    long timestampClampedCount();
}
