package io.flowlag.exporter.config;

import io.flowlag.common.command.ExitCode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

class FileRelationsTest {
    @TempDir
    private Path directory;

    private Path file(final String name) {
        return directory.resolve(name);
    }

    private Path existing(final String name) throws IOException {
        return Files.writeString(file(name), "{}");
    }

    private static ConfigLoader export(final ConfigLoader loader, final Path... files) {
        return loader.option("--export", ConfigTable.DESTINATIONS, Stream.of(files).map((each) -> "file:" + each).toList());
    }

    private static ConfigLoader set(final ConfigLoader loader, final ConfigKey<?> key, final Object value) {
        return loader.option("--set " + key.path(), key, List.of(value.toString()));
    }

    private static void assertRefused(final String wanted, final ConfigLoader loader) {
        final ConfigurationException refused = assertThrows(ConfigurationException.class, loader::conclude);
        assertEquals(List.of(wanted), refused.errors());
        assertEquals(ExitCode.USAGE, refused.exitCode());
    }

    @Test
    void shouldNotWriteOverAnInputUnderAnyName() throws IOException {
        final Path capture = existing("in.pcap");
        final Path link = Files.createSymbolicLink(file("link.pcap"), capture);
        final Path hardLink = Files.createLink(file("hard.pcap"), capture);
        final Path indirect = Files.createDirectory(file("sub")).resolve("../in.pcap");
        for (final Path name : List.of(capture, indirect, link, hardLink)) {
            assertRefused("--export=file:" + name + " (exporting.destinations): the same file is used by -r: name another one",
                export(new ConfigLoader().reads("-r", List.of("-", "more.pcap", capture.toString())), name));
        }
        assertRefused("--set stats.file=" + link + " (stats.file): the same file is used by -s: name another one",
            set(new ConfigLoader().reads("-s", List.of(capture.toString())), ConfigTable.STATS_FILE, link));
        assertRefused("--truth=" + link + ": the same file is used by -s: name another one",
            new ConfigLoader().writes("--truth", link).reads("-s", List.of(capture.toString())));
        assertRefused("--export=file:" + link + " (exporting.destinations): the same file is used by --truth: name another one",
            export(new ConfigLoader().writes("--truth", capture), link));
    }

    @Test
    void shouldReadOneFileTwice() throws IOException {
        final List<String> capture = List.of(existing("in.pcap").toString());
        assertDoesNotThrow(() -> new ConfigLoader().reads("-s", capture).reads("-r", capture).conclude());
    }

    @Test
    void shouldNotWriteOverWhatConfigures() throws IOException {
        final Path configuration = existing("flowlag.yaml");
        assertRefused("--export=file:" + configuration +
            " (exporting.destinations): the same file is used by the configuration itself: name another one",
            export(new ConfigLoader().file(configuration), configuration));
        final Path trust = existing("trust.pem");
        assertRefused("--set log.file=" + trust + " (log.file): the same file is used by exporting.tls.trust: name another one",
            set(set(new ConfigLoader(), ConfigTable.TLS_TRUST, trust), ConfigTable.LOG_FILE, trust));
        final Path key = existing("sender.key");
        Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-------"));
        assertRefused("--set log.file=" + key + " (log.file): the same file is used by rli.senders: name another one",
            set(set(new ConfigLoader(), ConfigTable.SENDERS, "1@192.0.2.1?key-file=" + key), ConfigTable.LOG_FILE, key));
        final Path self = Files.writeString(file("self.yaml"), "exporting: {destinations: [\"file:" + file("self.yaml") + "\"]}");
        final ConfigurationException inFile = assertThrows(ConfigurationException.class, () -> new ConfigLoader().file(self)
            .conclude());
        assertEquals(ExitCode.CONFIGURATION, inFile.exitCode());
    }

    @Test
    void shouldKnowAFileThatIsNotThereByItsDirectory() throws IOException {
        Files.createSymbolicLink(file("elsewhere"), Files.createDirectory(file("real")));
        final Path linked = file("elsewhere/new.ipfix");
        assertRefused("--export=file:" + linked +
            " (exporting.destinations): the same file is used by exporting.destinations: name another one",
            export(new ConfigLoader(), file("real/new.ipfix"), linked));
        final Path nowhere = file("no/directory");
        assertRefused("--export=file:" + nowhere +
            " (exporting.destinations): the same file is used by stats.file: name another one",
            export(set(new ConfigLoader(), ConfigTable.STATS_FILE, nowhere), nowhere));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", ".lock", ".ring", ".new", ".damaged"})
    void shouldKeepAwayFromACheckpointAndWhatIsBesideIt(final String suffix) {
        final Path checkpoint = file("same.x");
        final Path wanted = file("same.x" + suffix);
        assertRefused("--export=file:" + wanted + " (exporting.destinations): the same file is used by checkpoint.file" +
            (suffix.isEmpty() ? "" : " (with " + suffix + ")") + ": name another one",
            export(set(new ConfigLoader(), ConfigTable.CHECKPOINT_FILE, checkpoint), wanted));
    }

    @Test
    void shouldNotMakeAFileBesideACheckpointThatIsRead() throws IOException {
        final Path capture = existing("in.pcap.ring");
        assertRefused("--set checkpoint.file=" + file("in.pcap") + " (checkpoint.file): " + capture +
            " is made too, and the same file is used by -r: name another one",
            set(new ConfigLoader().reads("-r", List.of(capture.toString())), ConfigTable.CHECKPOINT_FILE, file("in.pcap")));
    }

    @Test
    void shouldShareDevicesAndStandardStreams() {
        final Path nothing = Path.of("/dev/null");
        assertDoesNotThrow(() -> export(set(new ConfigLoader().reads("-r", List.of("/dev/null", "-")), ConfigTable.STATS_FILE,
            nothing), nothing).writes("--truth", nothing).conclude());
        assertDoesNotThrow(
            () -> set(new ConfigLoader().writes("--truth", Path.of("-")), ConfigTable.STATS_FILE, "-").conclude());
        assertRefused("--export=file:/dev/null (exporting.destinations): is listed twice: leave one out",
            export(new ConfigLoader(), nothing, nothing));
        final Path inMemory = Path.of("/dev/shm/flowlag-that-is-not-there");
        assertRefused("--export=file:" + inMemory +
            " (exporting.destinations): the same file is used by stats.file: name another one",
            export(set(new ConfigLoader(), ConfigTable.STATS_FILE, inMemory), inMemory));
    }
}
