package io.flowlag.exporter.checkpoint;

import io.flowlag.common.file.Disk;
import io.flowlag.exporter.flow.FlowEntry;
import net.openhft.chronicle.map.ChronicleMap;
import net.openhft.chronicle.map.ChronicleMapBuilder;
import org.agrona.CloseHelper;
import org.agrona.concurrent.UnsafeBuffer;

import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.function.Consumer;

/**
 * The file of the checkpoint: a Chronicle Map from flow id to {@link SavedFlow}, with a checksum of each entry. Id 0 describes
 * the file:
 * <pre>
 *  0  magic       8
 *  8  version     4
 * 12  maxFlows    4   that it has room for
 * 16  roundNs     8   when the last complete round ended, UNIX epoch
 * </pre>
 * A second file, {@code .lock}, excludes a second process while this one lives. A killed process leaves the map's own locks
 * behind, so the map is always opened with recovery, and only by this class. What it holds is on the disk after {@link #force};
 * a power cut before that may tear entries, which the ring mends. One thread uses it.
 */
final class CheckpointFile implements AutoCloseable {
    /** Of the files beside it too. */
    static final String MODE = "rw-------";

    private static final long MAGIC = 0x464c_4f57_4c41_4721L;
    private static final int VERSION = 1;
    private static final int VERSION_OFFSET = 8;
    private static final int MAX_FLOWS_OFFSET = 12;
    private static final int ROUND_OFFSET = 16;
    private static final int ENTRY_OVERHEAD_BYTES = 64;
    private static final long HEADER_ID = 0;
    private static final double ROOM_FOR_UNEVEN_SEGMENTS = 2.0;

    static {
        // One thread uses a map. A page that cannot be written may leave a lock of it closed: the library would wait for 60 s.
        System.setProperty("net.openhft.chronicle.map.lockTimeoutSeconds", "2");
    }

    private final Path path;
    private final int maxFlows;
    private final Disk disk;
    private final FileChannel lockChannel;
    private final FileLock lock;
    private final byte[] value = new byte[SavedFlow.LENGTH_BYTES];
    private final UnsafeBuffer valueBuffer = new UnsafeBuffer(value);
    private ChronicleMap<Long, byte[]> map;
    private FileChannel mapChannel;
    private Path mapPath;
    private String setAside = "";
    private long refusedCount;
    private long formerRoundNs;

    private CheckpointFile(
        final Path path, final int maxFlows, final Disk disk, final FileChannel lockChannel, final FileLock lock) {
        this.path = path;
        mapPath = path;
        this.maxFlows = maxFlows;
        this.disk = disk;
        this.lockChannel = lockChannel;
        this.lock = lock;
    }

    /**
     * Locks the file's name.
     *
     * @param path of the file; its directory exists.
     * @return the file, not yet open.
     * @throws IOException with a message for the user, if it cannot be locked, or others could replace it.
     */
    static CheckpointFile lock(final Path path, final int maxFlows, final Disk disk) throws IOException {
        final Path lockPath = path.resolveSibling(path.getFileName() + ".lock");
        Disk.refuseForeign(directory(path), false);
        if (Files.isSymbolicLink(path)) {
            throw new IOException("is a link: name the file itself");
        }
        FileChannel channel = null;
        try {
            channel = Disk.open(lockPath, MODE, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            final FileLock lock = channel.tryLock();
            if (lock == null) {
                throw new IOException("another process uses it");
            }
            return new CheckpointFile(path, maxFlows, disk, channel, lock);
        } catch (final OverlappingFileLockException ex) {
            CloseHelper.quietClose(channel);
            throw new IOException("this process uses it already", ex);
        } catch (final IOException ex) {
            CloseHelper.quietClose(channel);
            throw ex;
        }
    }

    private static Path directory(final Path path) {
        return path.toAbsolutePath().getParent();
    }

    /**
     * Opens an existing file, or creates a new one; it is on the disk. An unreadable file is moved aside.
     *
     * @param leftovers adds entries that were on their way to the file; called if there is one.
     * @throws IOException if no new file can be created.
     */
    SavedFlows open(final Consumer<CheckpointFile> leftovers) throws IOException {
        Files.deleteIfExists(freshPath()); // of a process that was killed
        final SavedFlows flows = Files.exists(path) ? recover(leftovers) : SavedFlows.none();
        if (map == null) {
            create(SavedFlows.none());
            takeName();
        } else if (maxFlowsOfMap() != maxFlows) {
            map.close();
            create(flows);
            takeName();
        } else {
            mapChannel = Disk.open(path, MODE, StandardOpenOption.WRITE);
            force();
        }
        return flows;
    }

    /** The approximate size of the file: entries with key, checksum and index, and room for uneven filling of segments. */
    static long sizeBytes(final int maxFlows) {
        return 2L * maxFlows * (SavedFlow.LENGTH_BYTES + ENTRY_OVERHEAD_BYTES);
    }

    /** {@return where an unreadable file was moved, and why; empty if there was none} */
    String setAside() {
        return setAside;
    }

    /** {@return invalid entries} */
    long refusedCount() {
        return refusedCount;
    }

    void put(final UnsafeBuffer buffer, final int offset, final long flowId) {
        buffer.getBytes(offset, value);
        map.put(flowId, value);
    }

    /** Writes a flow of a former process, if its octets are valid. */
    void putIfSound(final UnsafeBuffer buffer) {
        final long flowId = FlowEntry.flowId(buffer, 0);
        if (SavedFlow.isSound(buffer, 0, flowId)) {
            put(buffer, 0, flowId);
        } else {
            refusedCount++;
        }
    }

    /** Marks a flow whose record was written; true if the flow was there. */
    boolean markEnded(final long flowId) {
        final byte[] flow = map.getUsing(flowId, value);
        if (flow == null) {
            return false;
        }
        System.arraycopy(flow, 0, value, 0, SavedFlow.LENGTH_BYTES);
        SavedFlow.markEnded(valueBuffer);
        map.put(flowId, value);
        return true;
    }

    /** Takes a flow out. */
    void remove(final long flowId) {
        map.remove(flowId);
    }

    /** Forces everything to the disk. */
    void force() throws IOException {
        disk.force(mapChannel, mapPath);
    }

    /** Writes the time of a complete round, and forces everything to the disk. A new file then replaces the former one. */
    void endRound(final long nowNs) throws IOException {
        putHeader(map, nowNs);
        force();
        takeName();
    }

    /** Begins a new file, because the present one cannot be written. That one stays until the new one holds a round. */
    void beginAgain() throws IOException {
        CloseHelper.quietClose(mapChannel);
        CloseHelper.quietClose(map);
        create(SavedFlows.none());
    }

    /** Removes the file: there is nothing to restore. */
    void remove() throws IOException {
        CloseHelper.quietClose(mapChannel);
        CloseHelper.quietClose(map);
        Files.deleteIfExists(mapPath);
        Files.deleteIfExists(path);
        disk.forceDirectory(directory(path));
    }

    @Override
    public void close() {
        CloseHelper.quietClose(mapChannel);
        CloseHelper.quietClose(map);
        CloseHelper.quietClose(lock);
        CloseHelper.quietClose(lockChannel);
    }

    /** Recovers a file. Any fault of it, by crash, accident or intent, appears as some exception or error. */
    private SavedFlows recover(final Consumer<CheckpointFile> leftovers) throws IOException {
        try {
            checkPreamble();
            map = builder(maxFlows).recoverPersistedTo(path.toFile(), true);
            checkHeader();
            leftovers.accept(this);
            return readFlows();
        } catch (final IOException | RuntimeException | LinkageError | InternalError | AssertionError ex) {
            CloseHelper.quietClose(map);
            map = null;
            final Path aside = path.resolveSibling(path.getFileName() + ".damaged");
            disk.replace(path, aside);
            setAside = aside + " (" + reason(ex) + ")";
            refusedCount = 0;
            return SavedFlows.none();
        }
    }

    private static String reason(final Throwable ex) {
        final String message = ex.getMessage();
        return message == null ? ex.getClass().getSimpleName() : message.lines().findFirst().orElse("");
    }

    private void checkPreamble() throws IOException {
        final byte[] begin = new byte[CheckpointPreamble.LIMIT_BYTES];
        final int length;
        try (InputStream in = Files.newInputStream(path)) {
            length = in.readNBytes(begin, 0, begin.length);
        }
        if (!CheckpointPreamble.isSound(begin, length)) {
            throw new IOException("it is no checkpoint");
        }
    }

    private void checkHeader() throws IOException {
        final byte[] header = map.get(HEADER_ID);
        final UnsafeBuffer buffer = header == null ? null : new UnsafeBuffer(header);
        if (buffer == null || header.length != SavedFlow.LENGTH_BYTES || buffer.getLong(0) != MAGIC) {
            throw new IOException("it is no checkpoint");
        }
        if (buffer.getInt(VERSION_OFFSET) != VERSION) {
            throw new IOException("it is of format " + buffer.getInt(VERSION_OFFSET) + ", this is " + VERSION);
        }
        formerRoundNs = buffer.getLong(ROUND_OFFSET);
    }

    private int maxFlowsOfMap() {
        return new UnsafeBuffer(map.get(HEADER_ID)).getInt(MAX_FLOWS_OFFSET);
    }

    private SavedFlows readFlows() {
        final SavedFlows flows = new SavedFlows();
        map.forEach((id, flow) -> {
            if (id == HEADER_ID) {
                return;
            }
            if (flow.length == SavedFlow.LENGTH_BYTES && SavedFlow.isSound(new UnsafeBuffer(flow), 0, id)) {
                flows.add(flow);
            } else {
                refusedCount++;
            }
        });
        return flows;
    }

    private Path freshPath() {
        return path.resolveSibling(path.getFileName() + ".new");
    }

    /** Creates FILE.new and forces it. */
    private void create(final SavedFlows flows) throws IOException {
        mapPath = freshPath();
        Files.deleteIfExists(mapPath);
        mapChannel = Disk.open(mapPath, MODE, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
        try {
            map = builder(maxFlows).createPersistedTo(mapPath.toFile());
            putHeader(map, formerRoundNs);
            flows.forEach((flow) -> map.put(FlowEntry.flowId(new UnsafeBuffer(flow), 0), flow));
            force();
        } catch (final IOException | RuntimeException | InternalError ex) {
            CloseHelper.quietCloseAll(mapChannel, map);
            Files.deleteIfExists(mapPath);
            throw ex;
        }
    }

    private void takeName() throws IOException {
        if (!mapPath.equals(path)) {
            disk.replace(mapPath, path);
            mapPath = path;
        }
    }

    private void putHeader(final ChronicleMap<Long, byte[]> target, final long roundNs) {
        valueBuffer.setMemory(0, SavedFlow.LENGTH_BYTES, (byte)0);
        valueBuffer.putLong(0, MAGIC);
        valueBuffer.putInt(VERSION_OFFSET, VERSION);
        valueBuffer.putInt(MAX_FLOWS_OFFSET, maxFlows);
        valueBuffer.putLong(ROUND_OFFSET, roundNs);
        target.put(HEADER_ID, value);
    }

    /** There is room for as many ended flows as the cache holds. */
    private static ChronicleMapBuilder<Long, byte[]> builder(final int maxFlows) {
        return ChronicleMapBuilder.of(Long.class, byte[].class)
            .name("flowlag-checkpoint")
            .entries(2L * maxFlows + 1)
            .constantValueSizeBySample(new byte[SavedFlow.LENGTH_BYTES])
            .maxBloatFactor(ROOM_FOR_UNEVEN_SEGMENTS)
            .checksumEntries(true)
            .putReturnsNull(true)
            .removeReturnsNull(true);
    }
}
