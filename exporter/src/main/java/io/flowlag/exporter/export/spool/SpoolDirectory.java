package io.flowlag.exporter.export.spool;

import io.flowlag.common.file.Disk;
import io.flowlag.exporter.terminal.OutputFiles;
import org.agrona.concurrent.UnsafeBuffer;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * Recovers the spool of a former process: checks every file frame by frame. A foreign file is set aside; a cut or damaged one
 * counts up to the damage. Used once, by the thread that opens the spool.
 */
final class SpoolDirectory {
    private static final String ASIDE = ".damaged";

    private final List<SpoolSegment> segments = new ArrayList<>();
    private final List<Aside> aside = new ArrayList<>();
    private final List<String> notices = new ArrayList<>();
    private final SpoolPosition position;
    private final SpoolScan scan;
    private long nextNumber = 1;
    private long records;
    private long refusedOctets;
    private long firstOffset = SpoolLayout.HEADER_LENGTH_BYTES;

    /** A file that is none of a spool and was set aside. */
    record Aside(Path path, long lengthBytes, FileTime modified) {
    }

    /** Checks every file; the buffer holds any frame. */
    SpoolDirectory(final Path directory, final SpoolPosition position, final UnsafeBuffer buffer, final ByteBuffer octets)
        throws IOException {
        this.position = position;
        scan = new SpoolScan(position, buffer, octets);
        nextNumber = position.releasedSegment() + 1; // a power cut may have taken that file, but not how far it was sent
        final List<Path> paths;
        try (Stream<Path> all = Files.list(directory)) {
            paths = all.filter((path) -> path.getFileName().toString().endsWith(".spool")).sorted().toList();
        }
        for (final Path path : paths) {
            takeUp(directory, path);
        }
        lookAside(directory);
        if (!segments.isEmpty() && segments.get(0).number == position.releasedSegment()) {
            firstOffset = Math.max(firstOffset, position.releasedOffset());
        }
        if (records > 0) {
            notices.add(directory + ": " + records + " recovers records of an earlier process" +
                (perhapsTwice() > 0 ? ", at most " + perhapsTwice() + " of which it may have sent" : ""));
        }
    }

    /** Creates the directory, for its owner alone; one where other users may write is refused. */
    static void make(final Path directory, final Disk disk) throws IOException {
        final Path parent = directory.toAbsolutePath().getParent();
        try {
            Files.createDirectories(parent);
            Files.createDirectory(directory, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
            disk.forceDirectory(parent);
        } catch (final FileAlreadyExistsException ex) {
            if (!Files.isDirectory(directory)) {
                throw new IOException(directory + ": is no directory", ex);
            }
            refuseForeign(directory);
        } catch (final IOException ex) {
            throw new IOException(directory + ": " + OutputFiles.reason(ex), ex);
        }
    }

    private static void refuseForeign(final Path directory) throws IOException {
        try {
            Disk.refuseForeign(directory, true);
        } catch (final IOException ex) {
            throw new IOException(directory + ": " + OutputFiles.reason(ex), ex);
        }
    }

    List<SpoolSegment> segments() {
        return segments;
    }

    /** {@return files that were set aside, now or before, oldest first} */
    List<Aside> aside() {
        return aside;
    }

    List<String> notices() {
        return List.copyOf(notices);
    }

    long nextNumber() {
        return nextNumber;
    }

    long records() {
        return records;
    }

    long perhapsTwice() {
        return scan.perhapsTwice();
    }

    long refusedOctets() {
        return refusedOctets;
    }

    /** {@return read position in the first file} */
    long firstOffset() {
        return firstOffset;
    }

    private void takeUp(final Path directory, final Path path) throws IOException {
        final long number = SpoolSegment.number(path);
        nextNumber = Math.max(nextNumber, number + 1);
        if (number >= 0 && number < position.releasedSegment()) {
            Files.deleteIfExists(path);
            return;
        }
        final SpoolSegment segment = new SpoolSegment(directory, number);
        segment.isSealed = true;
        final long length;
        try (FileChannel channel = Disk.open(path, SpoolSegment.MODE, StandardOpenOption.READ)) {
            length = channel.size();
            if (number < 0 || !scan.take(channel, segment)) {
                setAside(path, length);
                return;
            }
        } catch (final IOException ex) {
            notices.add(path + " is passed over: " + OutputFiles.reason(ex));
            return;
        }
        if (segment.lengthBytes < length) {
            refusedOctets += length - segment.lengthBytes;
            notices.add(path + " is cut or damaged: " + (length - segment.lengthBytes) + " octets at its end are passed over");
        }
        records += segment.records;
        segments.add(segment);
    }

    private void lookAside(final Path directory) throws IOException {
        try (DirectoryStream<Path> all = Files.newDirectoryStream(directory, "*" + ASIDE)) {
            for (final Path path : all) {
                if (Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS)) {
                    aside.add(new Aside(path, Files.size(path), Files.getLastModifiedTime(path)));
                }
            }
        }
        aside.sort(Comparator.comparing(Aside::modified));
    }

    private void setAside(final Path path, final long lengthBytes) throws IOException {
        refusedOctets += lengthBytes;
        final Path aside = path.resolveSibling(path.getFileName() + ASIDE);
        Files.move(path, aside, StandardCopyOption.REPLACE_EXISTING);
        notices.add(path + " is not a spool file; moved it to " + aside.getFileName());
    }
}
