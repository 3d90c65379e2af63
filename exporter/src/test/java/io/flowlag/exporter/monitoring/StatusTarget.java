package io.flowlag.exporter.monitoring;

import io.flowlag.exporter.fuzz.Corpus;
import io.flowlag.exporter.fuzz.FuzzTarget;
import io.flowlag.exporter.fuzz.GuardedMemory;
import io.flowlag.exporter.terminal.ExitException;
import org.agrona.concurrent.UnsafeBuffer;

import java.util.List;
import java.util.stream.Stream;

/** Contents of a status file, as {@code top} and {@code flows} read them, with a checksum that is right. */
public final class StatusTarget implements FuzzTarget {
    private static final int FLOWS = 12;
    private static final int MAX_BYTES = 1 << 16;

    private final GuardedMemory memory = new GuardedMemory(MAX_BYTES);
    private final UnsafeBuffer contents = new UnsafeBuffer(0, 0);

    /** A target. */
    public StatusTarget() {
    }

    @Override
    public List<byte[]> seeds() {
        return Stream.concat(Corpus.of("status").stream(), Stream.of(seed())).toList();
    }

    private static byte[] seed() {
        return SnapshotCodec.encode(Snapshots.of(1), Snapshots.flows(1, FLOWS)).byteArray();
    }

    @Override
    public long take(final byte[] octets, final int length) {
        memory.wrap(contents, octets, 0, length);
        try {
            final StatusSnapshot snapshot = SnapshotCodec.decode(contents);
            return 1 + snapshot.flows().flows().size();
        } catch (final ExitException ex) {
            return 0;
        }
    }

    @Override
    public int maxInputBytes() {
        return MAX_BYTES;
    }

    @Override
    public long allocationBoundBytes() {
        return 32L << 20;
    }
}
