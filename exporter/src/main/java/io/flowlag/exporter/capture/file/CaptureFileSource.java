package io.flowlag.exporter.capture.file;

import io.flowlag.exporter.capture.PacketSource;

/**
 * A {@link PacketSource} of capture files. Made by {@link CaptureFiles}; used by one thread. The buffer given to a handler is
 * the source's own. {@link #poll} allocates nothing per packet; it allocates when a file is opened or its window moved, and when
 * a link type is met for the first time. It waits only for standard input and pipes, and for them only before its first packet.
 */
public interface CaptureFileSource extends PacketSource {
    /** {@return packets whose time 64 bits of ns since 1970 cannot hold; they were given the nearest time that they can} */
    long timestampClampedCount();
}
