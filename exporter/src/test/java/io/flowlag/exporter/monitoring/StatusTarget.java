package io.flowlag.exporter.monitoring;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.flowlag.common.command.ExitException;
import io.flowlag.exporter.delay.FlowDelay;
import io.flowlag.exporter.fuzz.Corpus;
import io.flowlag.exporter.fuzz.FuzzTarget;
import io.flowlag.exporter.fuzz.GuardedMemory;
import org.agrona.concurrent.UnsafeBuffer;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/** Contents of a status file, as {@code top} and {@code flows} read them, with a checksum that is right. */
public final class StatusTarget implements FuzzTarget {
    private static final int FLOWS = 12;
    private static final int MOST_SHORT_FLOWS = 4;
    private static final int MOST_SHORT_VALUES = 2;
    private static final int MAX_BYTES = 24 << 10;

    private final GuardedMemory memory = new GuardedMemory(MAX_BYTES);
    private final UnsafeBuffer contents = new UnsafeBuffer(0, 0);

    /** A target. */
    public StatusTarget() {
    }

    /** {@return whole contents, and shorter ones, which are read in less time} */
    @Override
    public List<byte[]> seeds() {
        final List<byte[]> seeds = new ArrayList<>(Corpus.of("status"));
        seeds.add(SnapshotCodec.encode(Snapshots.of(1), Snapshots.flows(1, FLOWS)).byteArray());
        try {
            for (int flows = 1; flows <= MOST_SHORT_FLOWS; flows++) {
                seeds.add(shortOne(flows, true));
                seeds.add(shortOne(flows, false));
            }
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
        return seeds;
    }

    private static byte[] shortOne(final int flows, final boolean hasDelay) throws IOException {
        final byte[] whole = SnapshotCodec.encode(Snapshots.of(1), Snapshots.flows(1, flows)).byteArray();
        final int wholeBytes = new UnsafeBuffer(whole).getInt(0, LITTLE_ENDIAN);
        final ObjectMapper mapper = new ObjectMapper();
        final JsonNode tree = mapper.readTree(whole, Integer.BYTES, wholeBytes);
        shorten(tree);
        if (!hasDelay) {
            ((ObjectNode)tree.at("/snapshot/statistics")).putNull("delay");
        }
        final byte[] json = mapper.writeValueAsBytes(tree);
        final int flowsBytes = whole.length - wholeBytes - Integer.BYTES;
        final byte[] seed = new byte[Integer.BYTES + json.length + flowsBytes];
        final UnsafeBuffer buffer = new UnsafeBuffer(seed);
        buffer.putInt(0, json.length, LITTLE_ENDIAN);
        buffer.putBytes(Integer.BYTES, json);
        buffer.putBytes(Integer.BYTES + json.length, whole, whole.length - flowsBytes, flowsBytes);
        return seed;
    }

    private static void shorten(final JsonNode node) {
        node.forEach(StatusTarget::shorten);
        while (node instanceof ArrayNode items && items.size() > 1) {
            items.remove(1);
        }
        for (final String each : List.of("counters", "gauges")) {
            if (node.get(each) instanceof ObjectNode values) {
                values.retain(new ArrayList<>(values.properties()).stream().limit(MOST_SHORT_VALUES)
                    .map((value) -> value.getKey()).toList());
            }
        }
    }

    /** Mostly the length of the JSON with which whole flows lie behind it. */
    @Override
    public int mend(final byte[] octets, final int lengthBytes, final SplittableRandom random) {
        if (lengthBytes > Integer.BYTES && random.nextInt(8) > 0) {
            final UnsafeBuffer input = new UnsafeBuffer(octets, 0, lengthBytes);
            final int rest = lengthBytes - Integer.BYTES;
            final int jsonBytes = Math.max(0, Math.min(rest, input.getInt(0, LITTLE_ENDIAN)));
            final int flows = (rest - jsonBytes + FlowDelay.IMAGE_LENGTH_BYTES / 2) / FlowDelay.IMAGE_LENGTH_BYTES;
            input.putInt(0, Math.max(0, rest - flows * FlowDelay.IMAGE_LENGTH_BYTES), LITTLE_ENDIAN);
        }
        return lengthBytes;
    }

    @Override
    public long take(final byte[] octets, final int length) {
        memory.wrap(contents, octets, 0, length);
        try {
            final StatusSnapshot snapshot = SnapshotCodec.decode(contents);
            final boolean hasDelay = snapshot.statistics().delay() != null;
            return 1 + (Math.min(snapshot.flows().flows().size(), MOST_SHORT_FLOWS) << 1) + (hasDelay ? 1 : 0);
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
