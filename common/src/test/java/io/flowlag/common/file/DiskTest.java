package io.flowlag.common.file;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

class DiskTest {
    @TempDir
    private Path directory;

    private static void open(final Path path) throws IOException {
        Disk.open(path, "rw-------", StandardOpenOption.CREATE, StandardOpenOption.WRITE).close();
    }

    @Test
    void shouldOpenAFileForItsOwnerAndNoLink() throws IOException {
        final Path file = directory.resolve("file");
        open(file);
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
        final Path link = Files.createSymbolicLink(directory.resolve("link"), file);
        assertEquals("is a link: name the file itself", assertThrows(IOException.class, () -> open(link)).getMessage());
        final Path away = Files.createSymbolicLink(directory.resolve("away"), directory.resolve("absent"));
        assertThrows(IOException.class, () -> open(away));
        assertFalse(Files.exists(directory.resolve("absent")));
    }

    @Test
    void shouldRefuseDirectoriesWhereOthersMayReplaceFiles() throws IOException {
        final String[] modes = {"rwx------", "rwxr-xr-x", "rwxrwx---", "rwxrwxrwx"};
        for (int i = 0; i < modes.length; i++) {
            Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString(modes[i]));
            assertEquals(i > 2, isRefused(directory, false), modes[i]);
            assertEquals(i > 1, isRefused(directory, true), modes[i]);
        }
        Files.setAttribute(directory, "unix:mode", 01777);
        assertFalse(isRefused(directory, false));
        assertTrue(isRefused(directory, true));
    }

    @Test
    void shouldRefuseADirectoryOfAnotherUser() throws IOException {
        assumeTrue("root".equals(System.getProperty("user.name")), "root alone gives directories away");
        Files.setAttribute(directory, "unix:uid", 12_345);
        assertTrue(isRefused(directory, false));
        Files.setAttribute(directory, "unix:uid", 0);
        assertFalse(isRefused(directory, true));
    }

    private static boolean isRefused(final Path path, final boolean isPrivate) {
        try {
            Disk.refuseForeign(path, isPrivate);
            return false;
        } catch (final IOException ex) {
            return true;
        }
    }

    @Test
    void shouldForceAndReplace() throws IOException {
        final Path from = Files.writeString(directory.resolve("from"), "new");
        final Path to = Files.writeString(directory.resolve("to"), "old");
        try (FileChannel channel = FileChannel.open(from, StandardOpenOption.WRITE)) {
            assertDoesNotThrow(() -> Disk.SYSTEM.force(channel, from));
        }
        Disk.SYSTEM.replace(from, to);
        assertEquals("new", Files.readString(to));
        assertFalse(Files.exists(from));
    }

    /** Only then does the name outlive a power cut. */
    @Test
    void shouldForceTheDirectoryOfAFileThatHasTakenItsName() throws IOException {
        final Path from = Files.writeString(directory.resolve("from"), "new");
        final Path to = directory.resolve("to");
        final List<Path> forced = new ArrayList<>();
        final Disk disk = new Disk() {
            @Override
            public void forceDirectory(final Path names) {
                assertTrue(Files.exists(to) && Files.notExists(from), "forced before the file has its name");
                forced.add(names);
            }
        };
        disk.replace(from, to);
        assertEquals(List.of(directory), forced);
    }

    @Test
    void shouldKnowThisRunOfTheSystem() {
        assumeTrue(Files.isReadable(Path.of("/proc/sys/kernel/random/boot_id")), "/proc is hidden");
        assertNotEquals(new UUID(0, 0), Disk.bootId());
        assertEquals(Disk.bootId(), Disk.bootId());
    }
}
