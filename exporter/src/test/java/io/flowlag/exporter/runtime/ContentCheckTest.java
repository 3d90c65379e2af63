package io.flowlag.exporter.runtime;

import io.flowlag.common.command.ExitCode;
import io.flowlag.exporter.capture.filter.BpfCompiler;
import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ConfigurationException;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.exchange.link.TestCredentials;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

class ContentCheckTest {
    private static final String RECEIVER = "segment: {role: receiver}; lds: {enabled: on}; ";

    @TempDir
    Path directory;

    /** A semicolon and a blank stand for the end of a line, G for a file of what is given. */
    private ExporterConfig config(final String yaml, final String content) throws IOException {
        final Path file = Files.writeString(directory.resolve("g.pem"), content);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        return new ConfigLoader().text("f", yaml.replace("; ", "\n").replaceAll("\\bG\\b", file.toString())).conclude();
    }

    @Test
    void shouldRefuseShardsWhereDelayIsMeasuredInAnyCase() throws IOException {
        final ConfigurationException refusal =
            assertThrows(ConfigurationException.class, () -> ContentCheck.requireOneFlowCache(config("threading: sharded", "")));
        assertEquals(List.of("f:1:12: threading=sharded: measures no delay, which this command does: set it to pipelined or " +
            "shared"), refusal.errors());
        ContentCheck.requireOneFlowCache(config("threading: shared", ""));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "decode: {digest-key-file: G}                | f:1:27: decode.digest-key-file=",
        "segment: {role: receiver}; rli: {key-file: G}           | f:2:17: rli.key-file=",
        "rli: {senders: ['7@10.0.0.1?key-file=G']}               | session 7: ",
        "segment: {role: receiver}; lds: {enabled: on}; exchange: {listen: 5555, key-file: G} | f:3:36: exchange.key-file="})
    void shouldSayWhereAFileIsNamedThatHoldsNoKey(final String yaml, final String expected) throws IOException {
        for (final String content : new String[] {"garbage", "", "0011", "\u00fc"}) {
            final ExporterConfig config = config(yaml, content);
            final ConfigurationException refusal =
                assertThrows(ConfigurationException.class, () -> ContentCheck.check(config));
            assertEquals(1, refusal.errors().size(), refusal.errors()::toString);
            assertTrue(refusal.errors().get(0).contains(expected), refusal.errors()::toString);
            assertTrue(refusal.errors().get(0).contains("holds no key: write 32 "), refusal.errors()::toString);
        }
        ContentCheck.check(config(yaml, "00112233445566778899aabbccddeeff\n"));
    }

    /** Only a key may tell references of two segments apart, so its files must differ in what they hold. */
    @Test
    void shouldRefuseOneKeyOfTwoSegmentsInTwoFiles() throws IOException {
        final String key = "00112233445566778899aabbccddeeff\n";
        final Path other = Files.writeString(directory.resolve("other"), key);
        Files.setPosixFilePermissions(other, PosixFilePermissions.fromString("rw-------"));
        final ExporterConfig config = config("segments: [{role: receiver, id: 1, source: [10.0.0.0/8], rli: {key-file: G}}, " +
            "{role: receiver, id: 2, source: [11.0.0.0/8], rli: {key-file: " + other + "}}]", key);
        final List<String> errors = assertThrows(ConfigurationException.class, () -> ContentCheck.check(config)).errors();
        assertTrue(errors.get(0).contains("the segment with id 1 has references of this session and key"), errors::toString);
        Files.writeString(other, "1" + key.substring(1));
        ContentCheck.check(config);
    }

    /** The digests of both ends must be equal at the same time, so their key has no next one. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "decode: {digest-key-file: G}                | 1",
        "segment: {role: receiver}; rli: {key-file: G}           | 2",
        "rli: {senders: ['7@10.0.0.1?key-file=G']}               | 2",
        "segment: {role: receiver}; lds: {enabled: on}; exchange: {listen: 5555, key-file: G} | 2"})
    void shouldTakeANextKeyBesideTheCurrentOne(final String yaml, final int mostKeys) throws IOException {
        final String key = "00112233445566778899aabbccddeeff\n";
        ContentCheck.check(config(yaml, key.repeat(mostKeys)));
        final ExporterConfig config = config(yaml, key.repeat(mostKeys + 1));
        assertTrue(assertThrows(ConfigurationException.class, () -> ContentCheck.check(config)).errors().get(0)
            .contains("holds no key: write 32 "));
    }

    @Test
    void shouldSayWhereEachFileIsNamedThatHoldsNoCertificate() throws IOException {
        final String files = "certificate: G, key: G, trust: G}";
        final ExporterConfig config = config("exporting: {tls: {" + files + ", destinations: [tls://h]}; " + RECEIVER +
            "exchange: {listen: 5555, tls: {" + files + "}", "garbage");
        final ConfigurationException refusal = assertThrows(ConfigurationException.class, () -> ContentCheck.check(config));
        assertEquals(4, refusal.errors().size(), refusal.errors()::toString);
        assertTrue(refusal.errors().get(0).startsWith("f:1:32: exporting.tls.certificate="), refusal.errors()::toString);
        assertTrue(refusal.errors().get(3).startsWith("f:4:"), refusal.errors()::toString);
        assertEquals(ExitCode.CONFIGURATION, refusal.exitCode());
    }

    @Test
    void shouldSayWhereAKeyIsNamedThatIsNotTheCertificates() throws Exception {
        final TestCredentials credentials = new TestCredentials(directory);
        credentials.make("a", "IP:127.0.0.1");
        credentials.make("b", "IP:127.0.0.1");
        Files.setPosixFilePermissions(directory.resolve("b.key.pem"), PosixFilePermissions.fromString("rw-------"));
        Files.setPosixFilePermissions(directory.resolve("a.key.pem"), PosixFilePermissions.fromString("rw-------"));
        final String yaml = "exporting: {tls: {key: %1$s/%2$s.key.pem, certificate: %1$s/a.pem, trust: %1$s/b.pem}}";
        final ExporterConfig wrong = config(String.format(yaml, directory, "b"), "");
        final ConfigurationException refusal = assertThrows(ConfigurationException.class, () -> ContentCheck.check(wrong));
        assertEquals(1, refusal.errors().size(), refusal.errors()::toString);
        assertTrue(refusal.errors().get(0).startsWith("f:1:24: exporting.tls.key="), refusal.errors()::toString);
        ContentCheck.check(config(String.format(yaml, directory, "a"), ""));
    }

    @Test
    void shouldSayWhereAnExchangeIsThatCannotHoldTheWeights() throws IOException {
        final String listen = "segment: {role: receiver}; exchange: {listen: 5555}; ";
        final ExporterConfig config = config(listen +
            "lds: {enabled: on, weights: ['sport=1,3,5,7 dport=1,3,5,7 dscp=1,3,5,7,9,11,13,15,17 proto=tcp,udp weight=9']}", "");
        final ConfigurationException refusal = assertThrows(ConfigurationException.class, () -> ContentCheck.check(config));
        assertTrue(refusal.errors().get(0).startsWith("f:2:20: exchange.listen=5555: lds.weights: 288 combinations"),
            refusal.errors()::toString);
        ContentCheck.check(config(listen + "lds: {enabled: on}", ""));
    }

    @Test
    void shouldSayWhereAFilterIsThatCannotBeCompiled() throws IOException {
        assumeTrue(BpfCompiler.isAvailable(), "libpcap");
        final ExporterConfig wrong = config("capture: {filter: 'udp adn'}", "");
        assertTrue(ContentCheck.isFilterChecked(wrong));
        final ConfigurationException refusal = assertThrows(ConfigurationException.class, () -> ContentCheck.check(wrong));
        assertTrue(refusal.errors().get(0).startsWith("f:1:19: capture.filter=udp adn: can't"), refusal.errors()::toString);
        ContentCheck.check(config("capture: {filter: 'udp and port 53'}", ""));
        ContentCheck.check(config("", ""));
    }
}
