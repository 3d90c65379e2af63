package io.flowlag.station.config;

import io.flowlag.common.config.Problems;
import io.flowlag.ipfix.collect.SessionKind;
import io.flowlag.station.demo.DemoNetwork;
import io.flowlag.station.job.JobSettings;
import io.flowlag.station.wire.KafkaSettings;
import io.flowlag.station.wire.TopicFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** The configuration of a station: the page's example, defaults, and what is refused. */
class StationConfigReaderTest {
    @TempDir
    private Path directory;

    private final Problems problems = new Problems();

    private StationConfig read(final String yaml) throws IOException {
        Files.writeString(directory.resolve("network.yaml"), new DemoNetwork(1).yaml());
        return StationConfigReader.read(Files.writeString(directory.resolve("station.yaml"), yaml), problems);
    }

    @Test
    void shouldReadTheExampleOfThePage() throws IOException {
        final StationConfig config = read(Files.readString(Path.of("../docs/station/station.yaml")));

        assertEquals(List.of(), problems.lines());
        assertEquals("backbone", config.job().name());
        assertEquals(new JobSettings.Windows(60_000, 75_000, 3_600_000), config.job().windows());
        assertEquals(directory.resolve("checkpoints"), config.flink().checkpoints());
    }

    @Test
    void shouldNeedNoMoreThanANetwork() throws IOException {
        final StationConfig config = read("network: {topology: network.yaml}");

        assertEquals(1, config.listen().size());
        assertEquals(SessionKind.UDP, config.listen().get(0).kind());
        assertTrue(config.listen().get(0).address().getAddress().isLoopbackAddress());
        assertTrue(config.view().listen().getAddress().isLoopbackAddress());
        assertEquals(500_000, config.job().slowNs());
        assertNull(config.flink().checkpoints());
        assertNull(config.kafka());
    }

    @Test
    void shouldPassWhatTheFileOfPropertiesSaysIfOthersMayNotReadIt() throws IOException {
        final Path file = Files.writeString(directory.resolve("kafka.properties"), "security.protocol=SSL\nssl.key.password=a\n");
        final String yaml = "network: {topology: network.yaml}\n" +
            "kafka: {brokers: '192.0.2.1:9092,[2001:db8::1]:9092', format: json, properties: kafka.properties}";
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----"));
        final KafkaSettings kafka = read(yaml).kafka();

        assertEquals("flowlag.", kafka.prefix());
        assertEquals(TopicFormat.JSON, kafka.format());
        assertEquals(Map.of("security.protocol", "SSL", "ssl.key.password", "a"), kafka.properties());
        assertFalse(kafka.toString().contains("=a"));
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
        assertNull(read(yaml));
        assertTrue(problems.lines().get(0).contains("others may read"), () -> problems.lines().toString());
    }

    @Test
    void shouldKeepWhatExactlyOnceDependsOn() throws IOException {
        final Path file = Files.writeString(directory.resolve("kafka.properties"), "isolation.level=read_uncommitted\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));

        assertNull(read("network: {topology: network.yaml}\nkafka: {brokers: 'a:1', properties: kafka.properties}"));
        assertTrue(problems.lines().get(0).contains("isolation.level is set by the station"), () -> problems.lines().toString());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "network: {topologi: network.yaml} | 1:11: network.topologi: unknown key",
        "network: {topology: network.yaml, slow: 3} | slow=3: a duration needs a unit",
        "network: {topology: nowhere.yaml} | nowhere.yaml",
        "listen: ['udp://127.0.0.1:1', 'http://a:1'] | listen=http://a:1: is no address to receive on: write udp://HOST:PORT",
        "listen: ['tls://127.0.0.1:1?key=a'] | TLS needs certificate, key and authorities",
        "view: {listen: '192.0.2.1:80'} | view.listen=192.0.2.1:80: without TLS pages are served on loopback only",
        "view: {tls: {certificate: c.pem}} | view.tls: needs certificate and key",
        "view: {tls: {certificate: c.pem, key: k.pem}} | view.tls: cannot read",
        "view: {token: nowhere} | nowhere: no such file",
        "view: {token: network.yaml} | holds a secret that others may read or replace: chmod 600",
        "alerts: {webhook: 'ftp://a/b'} | alerts.webhook=ftp://a/b: write http://HOST/...",
        "alerts: {webhook: 'a b'} | alerts.webhook=a b: ",
        "windows: {lateness: 2h} | must be 5s to 1h",
        "windows: {lateness: 60s, late-limit: 30s} | windows.late-limit: is below windows.lateness",
        "windows: {length: 7s} | does not divide an hour",
        "paths: {share: 1/0} | must be 1 or 1/2 to 1/65535",
        "slos: [{name: a, from: n00, to: nowhere, below: 1ms, share: 0.9}] | slos.to=nowhere: is no node of the network",
        "slos: [{name: a, from: n00, to: n00, below: 1ms, share: 0.9}] | slos.to=n00: is where it begins",
        "slos: [{name: a, from: n00, to: n03, share: 1}] | slos.below: is missing",
        "locate: {confidence: 2} | must be 0.5 to 0.999",
        "kafka: {brokers: 'a'} | kafka.brokers=a: must be HOST:PORT",
        "kafka: {brokers: 'a:1', prefix: 'a b'} | kafka.prefix=a b: must be letters",
        "kafka: {brokers: 'a:1', format: avro} | must be protobuf, protobuf-delimited or json",
        "kafka: {brokers: 'a:1', properties: nowhere} | no such file"})
    void shouldRefuseWithKeyValueAndWayOut(final String line, final String wanted) throws IOException {
        final String network = line.startsWith("network") ? "" : "network: {topology: network.yaml}\n";

        assertNull(read(network + line));
        assertFalse(problems.isEmpty());
        assertTrue(problems.lines().stream().anyMatch((each) -> each.contains(wanted)), () -> problems.lines().toString());
    }
}
