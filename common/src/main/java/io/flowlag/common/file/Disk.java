package io.flowlag.common.file;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import java.util.UUID;

/**
 * What brings files to the disk, so that they outlive a power cut. The methods that force may be overridden to record their
 * order. Files are opened for this process alone and never through a link. Stateless, safe from any thread; each force blocks
 * until the disk has answered.
 */
public class Disk {
    /** That of the system. */
    public static final Disk SYSTEM = new Disk();

    private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");
    private static final String BOOT_ID_VARIABLE = "FLOWLAG_BOOT_ID";
    private static final String BARE_UUID = "(\\p{XDigit}{8})(\\p{XDigit}{4})(\\p{XDigit}{4})(\\p{XDigit}{4})(\\p{XDigit}{12})";
    private static final UUID NO_ID = new UUID(0, 0);
    private static final int WRITABLE_BY_GROUP = 0020;
    private static final int WRITABLE_BY_OTHERS = 0002;
    private static final int STICKY = 01000;

    /**
     * Opens a file that is no link.
     *
     * @param mode    of a new file, whatever the umask adds, such as {@code rw-------}.
     * @param options as of {@link FileChannel#open(Path, OpenOption...)}.
     * @throws IOException if it is a link, or as of the system.
     */
    public static FileChannel open(final Path path, final String mode, final StandardOpenOption... options) throws IOException {
        final Set<OpenOption> all = new HashSet<>(Arrays.asList(options));
        all.add(LinkOption.NOFOLLOW_LINKS);
        final boolean hasModes = path.getFileSystem().supportedFileAttributeViews().contains("posix");
        final FileAttribute<?>[] attributes = hasModes ?
            new FileAttribute<?>[]{PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(mode))} :
            new FileAttribute<?>[0];
        try {
            return FileChannel.open(path, all, attributes);
        } catch (final IOException ex) {
            throw Files.isSymbolicLink(path) ? new IOException("is a link: name the file itself", ex) : ex;
        }
    }

    /**
     * Refuses a directory in which other users may replace files.
     *
     * @param isPrivate whether a group may not write in it either.
     * @throws IOException with the fault and the way out, if it belongs to a user who is neither root nor of this process, or if
     *     others may write in it; a directory like /tmp, where each deletes only own files, is one for all.
     */
    public static void refuseForeign(final Path directory, final boolean isPrivate) throws IOException {
        if (!directory.getFileSystem().supportedFileAttributeViews().contains("unix")) {
            return;
        }
        if (isForeign(directory)) {
            throw new IOException("the directory belongs to another user (" + Files.getOwner(directory) +
                "): run as that user, or name another directory");
        }
        final int mode = (int)Files.getAttribute(directory, "unix:mode");
        final boolean isShared = (mode & WRITABLE_BY_OTHERS) != 0 && (isPrivate || (mode & STICKY) == 0);
        if (isShared || isPrivate && (mode & WRITABLE_BY_GROUP) != 0) {
            throw new IOException("other users may write in the directory: chmod go-w " + directory);
        }
    }

    /** {@return whether a file belongs to a user who is neither root nor of this process; throws as the system does} */
    public static boolean isForeign(final Path path) throws IOException {
        if (!path.getFileSystem().supportedFileAttributeViews().contains("unix")) {
            return false;
        }
        final int owner = (int)Files.getAttribute(path, "unix:uid");
        final Path self = Path.of("/proc/self");
        return owner != 0 && Files.exists(self) && owner != (int)Files.getAttribute(self, "unix:uid");
    }

    /** {@return the identifier of this run of the system; zeros if it is unknown, as where /proc is hidden} */
    public static UUID bootId() {
        final String variable = System.getenv(BOOT_ID_VARIABLE);
        try {
            final String text = Files.isReadable(BOOT_ID) ? Files.readString(BOOT_ID) : variable == null ? "" : variable;
            return UUID.fromString(text.strip().replaceFirst("^" + BARE_UUID + "$", "$1-$2-$3-$4-$5"));
        } catch (final IOException | IllegalArgumentException ex) {
            return NO_ID;
        }
    }

    /**
     * Forces a file's octets and its length to the disk.
     *
     * @param path of the channel's file.
     * @throws IOException if the disk did not take them; octets written before may be lost although they can be read.
     */
    public void force(final FileChannel channel, final Path path) throws IOException {
        channel.force(false);
    }

    /** Forces the names of a directory's files to the disk; throws an {@link IOException} if that fails. */
    public void forceDirectory(final Path directory) throws IOException {
        try (FileChannel channel = FileChannel.open(directory)) {
            channel.force(true);
        }
    }

    /** Gives a file the name of another one, at once and for good; throws an {@link IOException} if that fails. */
    public void replace(final Path from, final Path to) throws IOException {
        Files.move(from, to, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
        forceDirectory(to.toAbsolutePath().getParent());
    }
}
