package io.flowlag.common.file;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.Set;

/** Whether a file may be used, and whether its secret is one. Has no state. */
public final class FileAccess {
    private static final Set<PosixFilePermission> TOO_OPEN = Set.of(PosixFilePermission.GROUP_WRITE,
        PosixFilePermission.OTHERS_READ, PosixFilePermission.OTHERS_WRITE, PosixFilePermission.OTHERS_EXECUTE);

    private FileAccess() {
    }

    /**
     * Looks at a file's kind, owner and mode.
     *
     * @param isSecret whether others must not be able to read or replace it.
     * @return its fault, with the remedy; null if there is none.
     */
    public static String fault(final Path file, final boolean isSecret) {
        if (!Files.isRegularFile(file)) {
            return Files.exists(file) ? "is no regular file: name a file" : "no such file: check the path";
        }
        if (!Files.isReadable(file)) {
            return "may not be read: check its owner and mode";
        }
        if (isSecret && isForeign(file)) {
            return "holds a secret and belongs to another user, who may replace it: chown it to root, or to the process's user";
        }
        return isSecret && isTooOpen(file) ? "holds a secret that others may read or replace: chmod 600 " + file : null;
    }

    private static boolean isForeign(final Path file) {
        try {
            return Disk.isForeign(file);
        } catch (final IOException ex) {
            return true; // an unknown owner is not trusted
        }
    }

    private static boolean isTooOpen(final Path file) {
        try {
            return Files.getPosixFilePermissions(file).stream().anyMatch(TOO_OPEN::contains);
        } catch (final UnsupportedOperationException ex) {
            return false; // a file system without permissions
        } catch (final IOException ex) {
            return true; // unknown permissions are not trusted
        }
    }
}
