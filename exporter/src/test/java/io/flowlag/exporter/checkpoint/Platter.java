package io.flowlag.exporter.checkpoint;

import io.flowlag.common.file.Disk;
import org.agrona.concurrent.UnsafeBuffer;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import java.util.zip.CRC32C;

/**
 * A disk that keeps what was forced: a file's octets as of its last force, and names as of the last force of their directory. At
 * a chosen operation the power is cut: what it keeps then is copied to another directory. Of files in use, some pages that were
 * not forced are kept too, as the system writes them when it likes.
 */
public final class Platter extends Disk {
    private static final int PAGE_BYTES = 4096;
    private static final int MOST_USED_BYTES = 1 << 20;
    private static final int BOOT_ID_OFFSET = 8;
    private static final int CHECKSUM_OFFSET = 28;

    private final Map<Object, byte[]> octets = new HashMap<>();
    private final Map<Path, Object> names = new HashMap<>();
    private final List<String> operations = new ArrayList<>();
    private final Path home;
    private final Path kept;
    private final Random random;
    private final int operationsToCut;
    private boolean isCut;
    private boolean isFailing;
    private String lastInPlace = "";

    /** Keeps all that is in a directory; the power is cut before one of the operations. */
    public Platter(final Path home, final Path kept, final Random random, final int operationsToCut) {
        this.home = home;
        this.kept = kept;
        this.random = random;
        this.operationsToCut = operationsToCut;
        try (Stream<Path> all = Files.walk(home)) {
            for (final Path path : all.toList()) {
                names.put(path, key(path));
                if (Files.isRegularFile(path)) {
                    octets.put(key(path), read(path));
                }
            }
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private static Object key(final Path path) throws IOException {
        return Files.readAttributes(path, BasicFileAttributes.class).fileKey();
    }

    boolean isCut() {
        return isCut;
    }

    /** Cuts the power now. */
    public void cutNow() throws IOException {
        isCut = true;
        Files.createDirectories(kept);
        cut();
    }

    /** Whether it answers errors when it is to force something. */
    public void failing(final boolean value) {
        isFailing = value;
    }

    /** {@return what was done since the last call} */
    List<String> operations() {
        final List<String> done = List.copyOf(operations);
        operations.clear();
        return done;
    }

    private void onOperation(final String operation, final Path path) throws IOException {
        if (isFailing) {
            throw new IOException("Input/output error");
        }
        operations.add(operation + ' ' + path.getFileName());
        if (operations.size() >= operationsToCut && !isCut) {
            isCut = true;
            cut();
        }
        if (path.toString().contains(".checkpoint")) {
            lastInPlace = path.getFileName().toString();
        }
    }

    @Override
    public void force(final FileChannel channel, final Path path) throws IOException {
        onOperation("force", path);
        octets.put(key(path), read(path));
    }

    /** Of the ring as much as a test uses. */
    private static byte[] read(final Path path) throws IOException {
        try (InputStream in = Files.newInputStream(path)) {
            return in.readNBytes(MOST_USED_BYTES);
        }
    }

    @Override
    public void forceDirectory(final Path directory) throws IOException {
        onOperation("names", directory);
        names.keySet().removeIf((name) -> directory.equals(name.getParent()));
        try (Stream<Path> all = Files.list(directory)) {
            for (final Path path : all.toList()) {
                names.put(path, key(path));
            }
        }
    }

    @Override
    public void replace(final Path from, final Path to) throws IOException {
        onOperation("replace", to);
        super.replace(from, to);
    }

    private void cut() throws IOException {
        for (final Map.Entry<Path, Object> name : names.entrySet().stream().sorted(Map.Entry.comparingByKey()).toList()) {
            final Path path = name.getKey();
            final Path copy = kept.resolve(home.relativize(path).toString());
            if (Files.isDirectory(path)) {
                Files.createDirectories(copy);
            } else {
                final byte[] kept = octets.getOrDefault(name.getValue(), new byte[0]);
                final byte[] left = isTorn(path) ? withSomePages(path, kept) : kept;
                Files.write(copy, left);
                if (path.toString().endsWith(".ring")) {
                    Files.write(copy, Arrays.copyOf(withOtherBoot(left), left.length == 0 ? 0 : (int)Files.size(path)));
                }
            }
        }
    }

    /** The map is not torn while flows are taken out, which moves others: the promise leaves that out. */
    private boolean isTorn(final Path path) {
        return !path.toString().endsWith(".checkpoint") || lastInPlace.endsWith(".ring");
    }

    private byte[] withSomePages(final Path path, final byte[] kept) throws IOException {
        if (!Files.exists(path)) {
            return kept;
        }
        final byte[] now = read(path);
        final byte[] torn = Arrays.copyOf(kept, Math.max(kept.length, random.nextBoolean() ? now.length : 0));
        for (int at = 0; at < Math.min(now.length, torn.length); at += PAGE_BYTES) {
            if (random.nextBoolean()) {
                System.arraycopy(now, at, torn, at, Math.min(PAGE_BYTES, Math.min(now.length, torn.length) - at));
            }
        }
        return torn;
    }

    /** The next start is of another run of the system. */
    static byte[] withOtherBoot(final byte[] ring) {
        final UnsafeBuffer buffer = new UnsafeBuffer(ring);
        if (ring.length > CHECKSUM_OFFSET + Integer.BYTES) {
            buffer.putLong(BOOT_ID_OFFSET, ~buffer.getLong(BOOT_ID_OFFSET));
            final CRC32C crc = new CRC32C();
            crc.update(ring, 0, CHECKSUM_OFFSET);
            buffer.putInt(CHECKSUM_OFFSET, (int)crc.getValue());
        }
        return ring;
    }
}
