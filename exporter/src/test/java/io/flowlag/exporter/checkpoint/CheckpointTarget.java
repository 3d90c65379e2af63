package io.flowlag.exporter.checkpoint;

import io.flowlag.common.file.Disk;
import io.flowlag.exporter.flow.FlowCache;
import io.flowlag.exporter.flow.FlowCacheSettingsBuilder;
import io.flowlag.exporter.flow.FlowEntry;
import io.flowlag.exporter.fuzz.Corpus;
import io.flowlag.exporter.fuzz.FuzzTarget;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import org.agrona.concurrent.UnsafeBuffer;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteOrder;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.zip.CRC32C;

/**
 * The inputs that a start reads without the map's own recovery: the beginning of the map's file, and the ring with flows on
 * their way. The ring's flows are inspected, restored into a cache and ended. An input is what the ring released and forced
 * (8 octets each; if the lowest bit of the second is set, after a power cut), then the ring's first slots; the same octets are
 * also tried as the beginning of a map.
 */
public final class CheckpointTarget implements FuzzTarget {
    private static final int POSITIONS_BYTES = 16;
    private static final int MAX_FLOWS = 64;
    private static final int STATE_BYTES = 128;
    private static final long NOW_NS = 1_700_000_000_000_000_000L;
    private static final int MANY = 1 << 16;

    private final Counters counters = new Counters();
    private final FlowCache cache;
    private final CheckpointRing ring;
    private final UnsafeBuffer file;
    private final UnsafeBuffer flow = new UnsafeBuffer(new byte[SavedFlow.LENGTH_BYTES]);
    private final long bootId;
    private int formerBytes;
    private long records;

    /** A target with a ring in a file that is already deleted. */
    public CheckpointTarget() {
        cache = new FlowCache(new FlowCacheSettingsBuilder().maxFlows(MAX_FLOWS).stateLengthBytes(STATE_BYTES).build(),
            (buffer, offset, length) -> records++, counters);
        try {
            final Path path = Files.createTempFile("flowlag-fuzz", ".ring");
            try (CheckpointRing first = CheckpointRing.open(path, STATE_BYTES, Disk.SYSTEM)) {
                first.begin(MAX_FLOWS);
            }
            final ByteBuffer memory = ByteBuffer.allocateDirect((int)Files.size(path)).put(Files.readAllBytes(path));
            file = new UnsafeBuffer(memory);
            ring = new CheckpointRing(path, Disk.SYSTEM, null, memory, STATE_BYTES);
            bootId = file.getLong(CheckpointRing.BOOT_ID_OFFSET);
            Files.delete(path);
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    @Override
    public List<byte[]> seeds() {
        final List<byte[]> seeds = new ArrayList<>(Corpus.of("checkpoint"));
        seeds.add(ringOf(1));
        seeds.add(ringOf(3));
        final byte[] text = ("!net.openhft.chronicle.map.VanillaChronicleMap {\n  name: flowlag-checkpoint,\n" +
            "  keyClass: !type long,\n  valueClass: !type byte[],\n  checksumEntries: true,\n  keySizeMarshaller: " +
            "!net.openhft.chronicle.hash.serialization.impl.ConstantSizeMarshaller {\n    constantSize: 8\n  }\n}\n")
            .getBytes(StandardCharsets.ISO_8859_1);
        final byte[] preamble = new byte[12 + text.length];
        new UnsafeBuffer(preamble).putInt(8, text.length, ByteOrder.LITTLE_ENDIAN);
        System.arraycopy(text, 0, preamble, 12, text.length);
        seeds.add(preamble);
        return seeds;
    }

    private static byte[] ringOf(final int flows) {
        final UnsafeBuffer seed = new UnsafeBuffer(new byte[POSITIONS_BYTES + flows * CheckpointRing.SLOT_BYTES]);
        seed.putLong(Long.BYTES, 2L * flows);
        for (int i = 0; i < flows; i++) {
            final int slot = POSITIONS_BYTES + i * CheckpointRing.SLOT_BYTES;
            final int entry = slot + CheckpointRing.CONTENT_OFFSET;
            seed.putInt(slot + CheckpointRing.TYPE_OFFSET, i == 1 ? CheckpointRing.LAST : CheckpointRing.FLOW);
            seed.putLong(slot + CheckpointRing.SEQUENCE_OFFSET, i);
            FlowEntry.flowId(seed, entry, 7 + i);
            FlowEntry.ipVersion(seed, entry, i == 2 ? 6 : 4);
            FlowEntry.sourceLow(seed, entry, i);
            FlowEntry.packetCount(seed, entry, 1 + i);
            FlowEntry.startNs(seed, entry, NOW_NS - 1_000);
            FlowEntry.endNs(seed, entry, NOW_NS);
            FlowEntry.flags(seed, entry, FlowEntry.FLAG_LIVE);
            putChecksum(seed, slot);
        }
        return seed.byteArray();
    }

    private static void putChecksum(final UnsafeBuffer buffer, final int slot) {
        final CRC32C crc = new CRC32C();
        crc.update(buffer.byteArray(), slot + CheckpointRing.TYPE_OFFSET,
            CheckpointRing.SLOT_BYTES - CheckpointRing.TYPE_OFFSET);
        buffer.putInt(slot, (int)crc.getValue());
    }

    @Override
    public List<byte[]> dictionary() {
        return List.of("!type ", "!java.lang.Runtime {", "!net.openhft.chronicle.", "\n").stream()
            .map((each) -> each.getBytes(StandardCharsets.ISO_8859_1)).toList();
    }

    /** Mostly the positions of all that is there, and whole slots. */
    @Override
    public int mend(final byte[] octets, final int lengthBytes, final SplittableRandom random) {
        if (lengthBytes < POSITIONS_BYTES || random.nextInt(4) == 0) {
            return lengthBytes;
        }
        final UnsafeBuffer input = new UnsafeBuffer(octets);
        final int slots = (lengthBytes - POSITIONS_BYTES) / CheckpointRing.SLOT_BYTES;
        input.putLong(0, 0);
        input.putLong(Long.BYTES, random.nextInt(slots + 1) * 2L + random.nextInt(2));
        for (int i = 0; i < slots && random.nextInt(8) != 0; i++) {
            final int slot = POSITIONS_BYTES + i * CheckpointRing.SLOT_BYTES;
            input.putInt(slot + CheckpointRing.TYPE_OFFSET, random.nextInt(1, 5));
            input.putLong(slot + CheckpointRing.SEQUENCE_OFFSET, i);
            putChecksum(input, slot);
        }
        return lengthBytes;
    }

    @Override
    public long take(final byte[] octets, final int length) {
        final long preamble = CheckpointPreamble.isSound(octets, Math.min(length, CheckpointPreamble.LIMIT_BYTES)) ? 1 : 0;
        if (length < POSITIONS_BYTES) {
            return preamble;
        }
        final UnsafeBuffer input = new UnsafeBuffer(octets);
        final int ringBytes = length - POSITIONS_BYTES;
        file.putLong(CheckpointRing.RELEASED_OFFSET, input.getLong(0));
        file.putLong(CheckpointRing.FORCED_OFFSET, input.getLong(Long.BYTES) >> 1);
        file.putLong(CheckpointRing.BOOT_ID_OFFSET, (input.getLong(Long.BYTES) & 1) == 0 ? bootId : ~bootId);
        file.putBytes(CheckpointRing.SLOTS_OFFSET, octets, POSITIONS_BYTES, ringBytes);
        file.setMemory(CheckpointRing.SLOTS_OFFSET + ringBytes, Math.max(0, formerBytes - ringBytes), (byte)0);
        formerBytes = ringBytes;
        final long before = counters.get(CounterId.FLOWS_TAKEN_UP);
        final int[] messages = new int[1];
        ring.replay((type, buffer, index, lengthBytes) -> {
            messages[0]++;
            if (type == CheckpointRing.FLOW || type == CheckpointRing.LAST) {
                flow.putBytes(0, buffer, index, lengthBytes);
                takeUp();
            }
        });
        cache.expire(NOW_NS, MANY);
        while (cache.flush(MANY)) {
            continue;
        }
        return 2 + preamble + 4 * Math.min(messages[0], 100) + 1_000 * (counters.get(CounterId.FLOWS_TAKEN_UP) - before);
    }

    private void takeUp() {
        if (SavedFlow.isSound(flow, 0, FlowEntry.flowId(flow, 0))) {
            cache.takeUp(flow, 0, SavedFlow.STATE_LENGTH_BYTES, NOW_NS);
        }
    }

    @Override
    public void check() {
        if (cache.size() != 0 || records != counters.get(CounterId.FLOWS_TAKEN_UP)) {
            throw new AssertionError(counters.get(CounterId.FLOWS_TAKEN_UP) + " flows taken up, " + records + " records, " +
                cache.size() + " flows left");
        }
    }

    @Override
    public int maxInputBytes() {
        return 2048;
    }

    @Override
    public long allocationBoundBytes() {
        return 64 << 10;
    }
}
