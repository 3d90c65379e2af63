package io.flowlag.exporter.config;

import io.flowlag.common.command.ExitCode;
import io.flowlag.exporter.config.ExporterConfig.Destination;
import io.flowlag.exporter.config.ExporterConfig.Transport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Set;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

class ConfigLoaderTest {
    private static final long SECOND_NS = 1_000_000_000L;

    @TempDir
    Path directory;

    /** A pipe whose reader has left cannot be gone on with; without a spool its records are failed, and counted. */
    @Test
    void shouldRefuseASpoolForWhatIsNoRegularFile() {
        final String text = "exporting: {spool: spools, destinations: ['file:/dev/null%s']}";
        final ConfigurationException refusal = assertThrows(ConfigurationException.class,
            () -> new ConfigLoader().text("f", text.formatted("")).conclude());
        assertEquals(1, refusal.errors().size(), refusal::getMessage);
        assertTrue(refusal.getMessage().contains("file:/dev/null: is not a regular file"), refusal::getMessage);
        final ExporterConfig config = new ConfigLoader().text("f", text.formatted("?spool=none")).conclude();
        assertNull(config.exporting().destinations().get(0).spool().directory());
    }

    @Test
    void shouldHoldTheDocumentedDefaultsWhenNothingIsGiven() {
        final ExporterConfig config = new ConfigLoader().conclude();
        assertEquals(131_072, config.metering().maxFlows());
        assertEquals(60 * SECOND_NS, config.metering().activeTimeoutNs());
        assertEquals(15 * SECOND_NS, config.metering().idleTimeoutNs());
        assertEquals(Runtime.getRuntime().availableProcessors() > 2 ? ExporterConfig.Threading.PIPELINED :
            ExporterConfig.Threading.SHARED, config.threading());
        assertEquals(1, config.observationDomainId());
        assertNull(config.capture().filter());
        assertEquals(List.of(), config.exporting().destinations());
        assertEquals(List.of(), config.warnings());
        assertTrue(config.effectiveValues().stream().allMatch((value) -> value.origin().isDefault()));
    }

    @Test
    void shouldHoldTheDefaultsForAnEmptyFileAndForEmptySections() {
        assertEquals(new ConfigLoader().conclude(), new ConfigLoader().text("f", "").conclude());
        assertEquals(new ConfigLoader().conclude(), new ConfigLoader().text("f",
            "# nothing\n---\ncapture:\nmetering:\n").conclude());
    }

    @Test
    void shouldTakeEveryKindOfValue() {
        final ExporterConfig config = load("""
            observation-domain: 4294967295
            threading: shared
            capture:
              interfaces: [eth0, eth1]
              source: pcap
              direction: in
              promiscuous: off
              filter: "udp port 53"
              snap-length: 1k
              ring: 128m
              hardware-timestamps: true
            decode: {tunnels: inner, fragments: off, fragment-table: 128}
            metering:
              flow-key:
                - dscp
                - vlan
              max-flows: 1m
              active-timeout: 2m
              idle-timeout: 30s
              tcp-end-timeout: 0s
            pipeline: {packet-ring: 64k, record-ring: 1m, idle: yield}
            exporting: {enterprise-number: 4711}
            log: {level: debug, file: /tmp/flowlag.log}
            stats: {file: /tmp/flowlag.json, interval: 10s}
            """);
        assertEquals(0xFFFF_FFFFL, config.observationDomainId());
        assertEquals(new ExporterConfig.Capture(List.of("eth0", "eth1"), ExporterConfig.SourceKind.PCAP,
            ExporterConfig.Direction.IN,
            false, "udp port 53", 1024, 128L << 20, true, ExporterConfig.Unsuited.REFUSE), config.capture());
        assertEquals(new ExporterConfig.Decode(ExporterConfig.Tunnels.INNER, false, 128, false, null),
            config.decode());
        assertEquals(new ExporterConfig.Metering(Set.of(ExporterConfig.KeyField.DSCP, ExporterConfig.KeyField.VLAN), 1 << 20,
            120 * SECOND_NS, 30 * SECOND_NS, 0, 0, false, false, false, Sampling.NONE), config.metering());
        assertEquals(new ExporterConfig.Pipeline(
            1 << 16, 1 << 20, Math.max(2, Runtime.getRuntime().availableProcessors() - 1), ExporterConfig.Idle.YIELD),
            config.pipeline());
        assertEquals(4711, config.exporting().enterpriseNumber());
        assertEquals(10 * SECOND_NS, config.stats().intervalNs());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        metering: {activ-timeout: 60s}        | f:1:12: metering.activ-timeout: unknown key; did you mean metering.active-timeout?
        active-timeout: 60s                   | f:1:1: active-timeout: unknown key; did you mean metering.active-timeout?
        metring: {max-flows: 1k}              | f:1:1: metring: unknown key; did you mean metering?
        metering: {max-flow: 1k}              | f:1:12: metering.max-flow: unknown key; did you mean metering.max-flows?
        capture: {idle-timeout: 5s}           | f:1:11: capture.idle-timeout: unknown key; did you mean metering.idle-timeout?
        capture: {zzz: 5s}                    | f:1:11: capture.zzz: unknown key: capture may have interfaces, source, direction,
        metering: {idle-timeout: 15}          | f:1:26: metering.idle-timeout=15: a duration needs a unit: write 15s
        metering: {idle-timeout: 15k}         | f:1:26: metering.idle-timeout=15k: 'k' is no unit of a duration: use ns, us, ms,
        metering: {idle-timeout: -1s}         | f:1:26: metering.idle-timeout=-1s: is no duration: write a whole number and a unit
        metering: {idle-timeout: 1.5s} | f:1:26: metering.idle-timeout=1.5s: is no duration: write a whole number and a unit
        metering: {idle-timeout: 90d}         | f:1:26: metering.idle-timeout=90d: must be 1ms to 1d; did you mean 90s?
        metering: {max-flows: 128M}           | f:1:23: metering.max-flows=128M: must be 16 to 8m
        metering: {max-flows: 128s} | f:1:23: metering.max-flows=128s: 's' is no unit of a count: use k, m, g (k is 1024)
        metering: {max-flows: 99999999999999999999} | f:1:23: metering.max-flows=99999999999999999999: must be 16 to 8m
        metering: {max-flows: [1k, 2k]}       | f:1:23: metering.max-flows: is one value: count, 16 to 8m
        metering: {max-flows: {a: 1}}         | f:1:23: metering.max-flows: is one value
        metering: {max-flows: }               | f:1:12: metering.max-flows: has no value: write one (count, 16 to 8m, or auto)
        metering: {flow-key: [dscp, dscp]}    | f:1:22: metering.flow-key=[dscp, dscp]: names 'dscp' twice
        metering: {flow-key: [vlam]} | f:1:22: metering.flow-key=[vlam]: must be one of dscp, vlan, interface; did you mean vlan?
        metering: 5                           | f:1:11: metering: is a section: put its keys, indented, on the lines below it
        capture: {ring: 64}                   | f:1:17: capture.ring=64: must be 1m to 1g; did you mean 64m?
        pipeline: {packet-ring: 3m}           | f:1:25: pipeline.packet-ring=3m: must be a power of two: 2m or 4m
        threading: pipelind | f:1:12: threading=pipelind: must be one of pipelined, shared, sharded, invoker; did you mean
        capture: {promiscuous: maybe}         | f:1:24: capture.promiscuous=maybe: must be on or off
        observation-domain: 4294967296        | f:1:21: observation-domain=4294967296: must be 0 to 4294967295
        observation-domain: 1k                | f:1:21: observation-domain=1k: is no whole number
        capture: {filter: ""}                 | f:1:19: capture.filter=: is empty: write a tcpdump expression
        exporting: {enterprise-number: 0}     | f:1:32: exporting.enterprise-number=0: 0 stands for IANA's own elements
        exporting: {enterprise-number: 29305} | f:1:32: exporting.enterprise-number=29305: 29305 stands for reverse elements
        exporting: {rate-limit: 20}           | f:1:25: exporting.rate-limit=20: must be 8k to 100g; did you mean 20m?
        rli: {capacity: 3191158800b} | f:1:17: rli.capacity=3191158800b: 'b' is no unit of a rate: use k, m, g (k is 1000 bits/s)
        rli: {capacity: 3191158800000000}     | f:1:17: rli.capacity=3191158800000000: must be 8k to 1000g
        rli: {max-gap: 100}                   | f:1:16: rli.max-gap=100: a duration needs a unit: write 100ms
        rli: {max-gap: 5}                     | f:1:16: rli.max-gap=5: a duration needs a unit: write 5s
        rli: {max-gap: 99999}                 | f:1:16: rli.max-gap=99999: a duration needs a unit: write 99999us
        rli: {max-gap: 99999999999}           | f:1:16: rli.max-gap=99999999999: a duration needs a unit: write 100us to 10s (
        rli: {max-gap: 50us}                  | f:1:16: rli.max-gap=50us: must be 100us to 10s; did you mean 50ms?
        rli: {ceiling: 0%, capacity: 1g}      | f:1:16: rli.ceiling=0%: is no share: write more than 0% and up to 100%
        rli: {ceiling: 101%, capacity: 1g}    | f:1:16: rli.ceiling=101%: is no share
        rli: {ceiling: 1, capacity: 1g}       | f:1:16: rli.ceiling=1: must be 1k to 100g; did you mean 1m?
        rli: {ceiling: 2%}                    | f:1:16: rli.ceiling=2%: is a share of rli.capacity: give that, or a rate
        rli: {ceiling: 0.00001, capacity: 10m} | rli.max-gap alone takes
        rli: {smoothing: 0}                   | f:1:18: rli.smoothing=0: must be above 0
        stats: {interval: 5s}                 | f:1:19: stats.interval=5s: needs stats.file
        {log: {level: &a info}, threading: *a} | anchors and aliases
        [1, 2]                                | f:1:1: a configuration is made of lines such as
        metering: {idle-timeout: 2m} | f:1:26: metering.idle-timeout=2m: is more than metering.active-timeout=60s: lower this or
        metering: {tcp-end-timeout: 20s}      | f:1:29: metering.tcp-end-timeout=20s: is more than metering.idle-timeout=15s
        metering: {active-timeout: 30s, cut: 1m} | f:1:38: metering.cut=1m: is more than metering.active-timeout=30s
        {metering: {cut: 1500ms}, segment: {role: receiver}} | f:1:18: metering.cut=1500ms: is no multiple of segment.interval=1s
        {metering: {cut: 1500ms}, segment: {ingress: a, egress: b}} | f:1:18: metering.cut=1500ms: is no multiple of
        metering: {cut: 0s} | f:1:17: metering.cut=0s: must be 10ms to 1d
        pipeline: {shards: 3} | f:1:20: pipeline.shards=3: is for threading sharded: set that, or leave this out
        {threading: sharded, pipeline: {shards: 65}} | f:1:41: pipeline.shards=65: must be 1 to 64
        {threading: sharded, segment: {ingress: a, egress: b}} | f:1:13: threading=sharded: measures delay at one point alone:
        {threading: sharded, segment: {role: sender}, exchange: {connect: "h:1"}, reconcile: {enabled: on}} | in one place, and
        {threading: sharded, segment: {role: receiver}, exchange: {listen: 1}, reconcile: {enabled: on}} | in one place, and
        {threading: sharded, segment: {role: receiver}, exchange: {listen: 1}, rli: {passive-share: 0.1}} | in one shard alone
        {threading: sharded, segment: {role: receiver}, rli: {estimator: left}} | rli.estimator=left: does not wait for referenc
        {threading: sharded, capture: {source: pcap}} | f:1:13: threading=sharded: needs the kernel to share packets out, and
        {threading: sharded, capture: {source: xdp}} | capture.source is xdp: set that to afpacket
        {capture: {source: xdp, direction: out}} | f:1:36: capture.direction=out: is not seen by xdp, which has arriving packets
        {capture: {source: xdp}, segment: {ingress: a, egress: b}} | capture.source=xdp: takes arriving packets from the host
        """)
    void shouldRefuseWithPlaceValueAndWayOut(final String yaml, final String wanted) {
        final ConfigurationException refusal = refused(yaml);
        assertEquals(ExitCode.CONFIGURATION, refusal.exitCode());
        assertTrue(refusal.getMessage().contains(wanted), refusal.getMessage() + "\nwanted: " + wanted);
    }

    @Test
    void shouldSayEveryErrorOfAFileInItsOrder() {
        final ConfigurationException refusal = refused("""
            metering:
              idle-timeout: 15
              max-flows: lots
              max-flows: 1k
            exporting:
              destinations:
                - udp://host:99999
                - {uri: "udp://host", profil: full}
            bogus: 1
            """);
        assertEquals(List.of(2, 3, 4, 7, 8, 9),
            refusal.errors().stream().map((line) -> Integer.parseInt(line.split(":")[1])).toList(), refusal.getMessage());
        assertTrue(refusal.errors().get(2).contains("is given twice, first in line 3"), refusal.getMessage());
        assertTrue(refusal.errors().get(4).contains("did you mean profile?"), refusal.getMessage());
    }

    @Test
    void shouldRefuseAKeyThatStandsInItsSectionAndByItsPath() {
        final ConfigurationException refusal = refused("""
            metering:
              active-timeout: 50s
            metering.active-timeout: 40s
            pipeline.idle: spin
            pipeline: {idle: spin}
            """);
        assertEquals(List.of(
            "f:3:1: metering.active-timeout: is given twice, first in line 2: leave one out",
            "f:5:12: pipeline.idle: is given twice, first in line 4: leave one out"), refusal.errors());
    }

    @Test
    void shouldSayWhereYamlIsBroken() {
        final ConfigurationException refusal = refused("metering:\n  max-flows: [1\nlog: {}\n");
        assertEquals(1, refusal.errors().size());
        assertTrue(refusal.errors().get(0).matches("f:[0-9]+:[0-9]+: is no YAML: .*"), refusal.getMessage());
        assertTrue(refused("a: \"\u0000\"").getMessage().contains("is no YAML"));
        assertTrue(refused("log: {level: info}\n---\nlog: {level: warn}\n").getMessage().contains("second document"));
    }

    @Test
    void shouldSayWhereAndWhyTextIsNoYaml() {
        assertEquals("f:3:1: is no YAML: found character '\\t(TAB)' that cannot start any token. (Do not use \\t(TAB) for " +
            "indentation)", refused("metering:\n  max-flows: 128k\n\tidle-timeout: 5s\n").getMessage());
        assertEquals("f:2:8: is no YAML: expected ',' or ']', but got :",
            refused("capture: {interfaces: [eth0\nthreads: 1\n").getMessage());
    }

    @Test
    void shouldRefuseHostileYamlWithoutFailing() {
        refused("[".repeat(5000));
        refused("{a: ".repeat(5000));
        refused("a: &x [*x, *x]\n");
        refused("!!javax.script.ScriptEngineManager [1]\n");
        refused("? [complex, key]\n: 1\n");
        refused("\t- 1");
    }

    @Test
    void shouldKeepAnErrorOnOneLineWhateverTheValueHas() {
        assertEquals(List.of("f:1:12: threading=a?b?: must be one of pipelined, shared, sharded, invoker"),
            refused("threading: \"a\\nb\\e\"").errors());
    }

    @Test
    void shouldSayHowManyShardsThereAre() {
        final int automatic = Math.max(2, Runtime.getRuntime().availableProcessors() - 1);
        final ExporterConfig config = load("threading: sharded");
        assertEquals(automatic, config.shardCount());
        assertTrue(ConfigReference.effectiveLines(config).stream()
            .anyMatch((line) -> line.matches("pipeline.shards: +" + automatic + " +# default \\(auto: a processor less .*")));
        assertEquals(7, load("{threading: sharded, pipeline: {shards: 7}}").shardCount());
        assertEquals(1, load("threading: pipelined").shardCount());
        final String listening = "segment: {role: receiver}, exchange: {listen: 4740}}";
        assertFalse(load("{threading: sharded, " + listening).reconcile().enabled());
        assertTrue(load("{threading: pipelined, " + listening).reconcile().enabled());
    }

    @Test
    void shouldLowerADefaultThatAGivenValueContradicts() {
        final ExporterConfig config = load("metering: {active-timeout: 500ms}");
        assertEquals(SECOND_NS / 2, config.metering().idleTimeoutNs());
        assertEquals(SECOND_NS / 2, config.metering().tcpEndTimeoutNs());
        assertTrue(ConfigReference.effectiveLines(config).stream()
            .anyMatch((line) -> line.matches("metering.idle-timeout: +500ms +# default \\(as low as .*active-timeout\\)")));
    }

    @Test
    void shouldRaiseTheActiveTimeoutToACut() {
        assertEquals(0, load("metering: {cut: none}").metering().cutNs());
        final ExporterConfig config = load("metering: {cut: 5m}");
        assertEquals(300 * SECOND_NS, config.metering().cutNs());
        assertEquals(300 * SECOND_NS, config.metering().activeTimeoutNs());
        assertEquals(60 * SECOND_NS, load("metering: {cut: 20s}\nsegment: {interval: 7s}").metering().activeTimeoutNs());
    }

    /** Only sketches have records wait, and their memory is taken at the start. */
    @Test
    void shouldReloadACutWhereNoRecordsWait() {
        for (final String point : List.of("", "segment: {ingress: a, egress: b}\nrli: {target: 192.0.2.1}\n")) {
            final ExporterConfig cut = load(point + "metering: {cut: 5m}");
            assertEquals(32 << 10, cut.lds().waitingRecords());
            assertEquals(List.of(), load(point).restartKeys(cut));
        }
        final String sketches = "segment: {ingress: a, egress: b}\nlds: {enabled: on}\n";
        final ExporterConfig cut = load(sketches + "metering: {cut: 5m}");
        assertEquals(128 << 10, cut.lds().waitingRecords());
        assertEquals(List.of("lds.waiting-records"), load(sketches).restartKeys(cut));
        assertEquals(List.of(), cut.restartKeys(load(sketches + "metering: {cut: 1m}")));
        for (final ExporterConfig used : List.of(load(sketches), cut)) {
            final ExporterConfig kept = SeveralSegments.withRecordsOf(used == cut ? load(sketches) : cut, used);
            assertEquals(List.of(), used.restartKeys(kept), "memory stays at a reload");
            assertEquals(used.lds().waitingRecords(), kept.lds().waitingRecords());
        }
        final ExporterConfig given = load(sketches.replace("on}", "on, waiting-records: 64k}"));
        assertEquals(List.of("lds.waiting-records"), load(sketches).restartKeys(
            SeveralSegments.withRecordsOf(given, load(sketches))));
    }

    @Test
    void shouldResolveDestinations() {
        final ExporterConfig config = load("""
            exporting:
              options: auto
              profile: standard
              destinations:
                - udp://192.0.2.1
                - uri: TCP://[2001:db8::1]:2055
                  profile: classic
                  reconnect-interval: 5s
                - file:/tmp/a b.ipfix?options=off&flush-interval=10ms
                - udp://collector.example.net:9995?rate-limit=20m&max-message-size=512&template-refresh-messages=20
            """);
        final List<Destination> destinations = config.exporting().destinations();
        final Destination udp = destinations.get(0);
        assertEquals("udp://192.0.2.1:4739", udp.address().uri());
        assertEquals(4739, udp.address().port());
        assertEquals(1400, udp.maxMessageBytes());
        assertFalse(udp.options());
        assertEquals(0, udp.connection().rateLimitBps());
        assertEquals(4 << 20, udp.connection().sendBufferBytes());
        final Destination tcp = destinations.get(1);
        assertEquals(Transport.TCP, tcp.address().transport());
        assertEquals("2001:db8::1", tcp.address().host());
        assertEquals(ExporterConfig.Profile.CLASSIC, tcp.profile());
        assertTrue(tcp.options());
        assertEquals(16384, tcp.maxMessageBytes());
        assertEquals(5 * SECOND_NS, tcp.connection().reconnectIntervalNs());
        final Destination file = destinations.get(2);
        assertEquals(Path.of("/tmp/a b.ipfix"), file.address().file());
        assertFalse(file.options());
        assertEquals(10_000_000L, file.flushIntervalNs());
        final Destination limited = destinations.get(3);
        assertEquals(20_000_000L, limited.connection().rateLimitBps());
        assertEquals(512, limited.maxMessageBytes());
        assertEquals(20, limited.refresh().messages());
        assertEquals(List.of(), config.warnings());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        collector:4739                 | has no transport: write udp://collector:4739, tcp://
        out/flows.ipfix                | for a file write file:out/flows.ipfix
        upd://host                     | 'upd' is no transport: use udp, tcp, tls or file; did you mean udp?
        sctp://host                    | 'sctp' is no transport
        udp:host                       | needs two slashes: write udp://host
        udp://                         | has no host
        udp://:4739                    | has no host
        udp://::1                      | an IPv6 address needs brackets: write udp://[::1]
        udp://[::1                     | no host
        udp://[localhost]:1            | is no IPv6 address
        udp://host:0                   | port 0 must be 1 to 65535
        udp://host:70000               | port 70000 must be 1 to 65535
        udp://host:ipfix               | ':ipfix' is no port
        udp://user@host                | 'user@host' is no host
        udp://host/path                | 'host/path' is no host
        file:                          | has no path: write file:flows.ipfix
        udp://host?                    | write KEY=VALUE
        udp://host?rate=20m            | is no key of a destination; did you mean rate-limit?
        udp://host?rate-limit=20       | must be 8k to 100g; did you mean 20m?
        udp://host?connect-timeout=5s  | means nothing for a udp destination: leave it out
        tcp://host?template-refresh=5s | means nothing for a tcp destination: leave it out
        file:x?send-buffer=4m          | means nothing for a file destination: leave it out
        udp://host?options=on&options=off | is given twice for udp://host:4739
        udp://host?max-message-size=65535 | no UDP datagram holds that
        tls://host                     | tls needs exporting.tls.certificate
        """)
    void shouldRefuseAWrongDestination(final String uri, final String wanted) {
        final ConfigurationException inFile = refused("exporting: {destinations: [\"" + uri + "\"]}");
        assertTrue(inFile.getMessage().contains(wanted), inFile.getMessage());
        assertTrue(inFile.errors().get(0).startsWith("f:1:28: "), inFile.getMessage());
        final ConfigLoader loader = new ConfigLoader().option("--export", ConfigTable.DESTINATIONS, List.of(uri));
        final ConfigurationException onCommandLine = assertThrows(ConfigurationException.class, loader::conclude);
        assertTrue(onCommandLine.getMessage().startsWith("--export="), onCommandLine.getMessage());
    }

    @Test
    void shouldRefuseTwoUsersOfOneTarget() {
        assertTrue(refused("exporting: {destinations: [udp://a, \"udp://a:4739?options=on\"]}").getMessage()
            .contains("listed twice"));
        assertTrue(refused("exporting: {destinations: [\"file:/tmp/x\"]}\nstats: {file: /tmp/./x}").getMessage()
            .contains("the same file is used by stats.file"));
    }

    @Test
    void shouldLayTheCommandLineOverTheFileAndRememberWhereEachValueCameFrom() {
        final ExporterConfig config = new ConfigLoader()
            .text("f", "metering:\n  active-timeout: 5m\n  max-flows: 1k\nexporting:\n  destinations: [udp://a]\n")
            .option("--active", ConfigTable.ACTIVE_TIMEOUT, List.of("90s"))
            .option("--export", ConfigTable.DESTINATIONS, List.of("udp://b", "file:x"))
            .conclude();
        assertEquals(90 * SECOND_NS, config.metering().activeTimeoutNs());
        assertEquals(List.of("b"), config.exporting().destinations().stream().map((each) -> each.address().host())
            .filter((h) -> h != null).toList());
        final List<String> lines = ConfigReference.effectiveLines(config);
        assertTrue(lines.stream().anyMatch((line) -> line.matches("metering.active-timeout: +90s +# command line --active")));
        assertTrue(lines.stream().anyMatch((line) -> line.matches("metering.max-flows: +1k +# f:3:14")), lines.toString());
        assertTrue(lines.stream().anyMatch((line) -> line.matches("metering.idle-timeout: +15s +# default")));
        assertTrue(lines.stream().anyMatch(
            (line) -> line.matches("exporting.destinations\\[0\\].options: +off +# default \\(auto: on for tcp, .*\\)")),
                lines.toString());
    }

    @Test
    void shouldCallErrorsOfOptionsAloneUsage() {
        final ConfigLoader loader = new ConfigLoader().option("--active", ConfigTable.ACTIVE_TIMEOUT, List.of("60"));
        final ConfigurationException refusal = assertThrows(ConfigurationException.class, loader::conclude);
        assertEquals(ExitCode.USAGE, refusal.exitCode());
        assertEquals("--active=60 (metering.active-timeout): a duration needs a unit: write 60s (units ns, us, ms, s, m, h, d)",
            refusal.getMessage());
    }

    @Test
    void shouldWarnOfTheDocumentationNumberOnlyWhereEnterpriseElementsLeaveTheHost() {
        assertEquals(1, load("exporting: {destinations: [udp://a]}").warnings().size());
        assertEquals(0, load("exporting: {destinations: [udp://a], enterprise-number: 4711}").warnings().size());
        assertEquals(0, load("exporting: {destinations: ['udp://a?profile=standard']}").warnings().size());
        assertEquals(1, load("exporting: {destinations: ['tcp://192.0.2.1', 'file:f']}").warnings().size());
        for (final String here : List.of("file:f", "udp://127.0.0.1", "tcp://localhost", "udp://[::1]:4739")) {
            assertEquals(List.of(), load("exporting: {destinations: ['" + here + "']}").warnings(), here);
        }
    }

    @Test
    void shouldNameWhatAReloadCannotTakeOver() {
        final ExporterConfig before = load("metering: {max-flows: 1k, active-timeout: 5m}");
        final ExporterConfig after = load("metering: {max-flows: 2k, active-timeout: 6m}\nexporting: {destinations: [udp://a]}");
        assertEquals(List.of("metering.max-flows"), before.restartKeys(after));
        assertEquals(List.of(), load("capture: {ring: 64m, promiscuous: on}").restartKeys(
            load("capture: {ring: 65536k, promiscuous: true}")), "the same, written in another way");
    }

    @Test
    void shouldSayThatAFileIsMissingUnreadableOrNoText() throws IOException {
        assertEquals(ExitCode.NO_INPUT, refusedFile(directory.resolve("missing.yaml")).exitCode());
        assertEquals(ExitCode.NO_INPUT, refusedFile(directory).exitCode());
        final Path binary = Files.write(directory.resolve("binary.yaml"),
            "log: {level: \u00e9}".getBytes(StandardCharsets.ISO_8859_1));
        final ConfigurationException refusal = refusedFile(binary);
        assertEquals(ExitCode.CONFIGURATION, refusal.exitCode());
        assertTrue(refusal.getMessage().contains("is not UTF-8"));
    }

    @Test
    void shouldRefuseSecretsThatOthersMayReadAndFilesThatAreNotThere() throws IOException {
        final Path key = Files.writeString(directory.resolve("digest.key"), "0123456789abcdef");
        final String yaml = "decode: {digest-key-file: " + key + "}";
        Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-r--r--"));
        assertTrue(refused(yaml).getMessage().contains("chmod 600 " + key));
        Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-rw----"));
        assertTrue(refused(yaml).getMessage().contains("chmod 600 " + key));
        Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-r-----"));
        assertEquals(key, load(yaml).decode().digestKeyFile());
        Files.delete(key);
        assertTrue(refused(yaml).getMessage().contains("no such file: check the path"));
    }

    @Test
    void shouldRefuseSecretsOfAnotherUser() throws IOException {
        final Path key = Files.writeString(directory.resolve("digest.key"), "0123456789abcdef");
        Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-------"));
        final String yaml = "decode: {digest-key-file: " + key + "}";
        load(yaml);
        try {
            Files.setAttribute(key, "unix:uid", (int)Files.getAttribute(Path.of("/proc/self"), "unix:uid") + 4711);
        } catch (final IOException ex) {
            assumeTrue(false, "only root may give files away");
        }
        assertTrue(Files.isReadable(key) ? refused(yaml).getMessage().contains("belongs to another user, who may replace it") :
            refused(yaml).getMessage().contains("may not be read"));
    }

    @Test
    void shouldLookAtTheKeyFileOfASenderAsAtAnyOther() throws IOException {
        final Path key = Files.writeString(directory.resolve("sender.key"), "0123456789abcdef");
        final String yaml = "{segment: {role: receiver}, rli: {senders: ['7@192.0.2.1?key-file=" + key + "']}}";
        Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-r--r--"));
        assertTrue(refused(yaml).getMessage().contains("session 7: " + key + " holds a secret that others may read"));
        Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-r-----"));
        assertEquals(key, load(yaml).rli().references().senders().get(0).keyFile());
        Files.delete(key);
        assertTrue(refused(yaml).getMessage().contains("session 7: " + key + " no such file: check the path"));
        assertTrue(refused("rli: {senders: [\"7@192.0.2.1?key-file=a\\0b\"]}").getMessage().contains("is no path: "));
    }

    @Test
    void shouldConcludeOnce() {
        final ConfigLoader loader = new ConfigLoader();
        loader.conclude();
        assertThrows(IllegalStateException.class, loader::conclude);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        clock: {source: fixed, error: 1us} | f:1:9: clock.source: is no key any longer: give clock.error or clock.file;
        expert: {decode: {digest: on}} | decode.digest: is no key any longer: it follows from segment.role and
        exchange: {send-buffer: 1m} | exchange.send-buffer: is no key any longer: it is 256k: leave it out
        exchange: {tls: {enabled: off}} | exchange.tls.enabled: is no key any longer: exchange.tls.certificate, key and trust
        """)
    void shouldSayWhatReplacesAKeyOfEarlierVersions(final String yaml, final String wanted) {
        final ConfigurationException refusal = refused(yaml);
        assertEquals(1, refusal.errors().size(), refusal.getMessage());
        assertTrue(refusal.getMessage().contains(wanted), refusal.getMessage());
    }

    @Test
    void shouldTakeTheLimitsOfTheExchangeAndNameWhatContradictsThem() {
        final String receiver = "segment: {role: receiver}\nlds: {enabled: on}\nexchange: {listen: 8621";
        assertEquals(
            new ExporterConfig.ExchangeLimits(64, 10 * SECOND_NS, 10 * SECOND_NS, 30 * SECOND_NS),
            load(receiver + "}").exchange().limits());
        assertEquals(
            new ExporterConfig.ExchangeLimits(5, 2 * SECOND_NS, 3 * SECOND_NS, 4 * SECOND_NS),
            load(receiver + ", max-connections: 5, handshake-timeout: 2s, message-timeout: 3s, idle-timeout: 4s}")
                .exchange().limits());
        assertEquals("f:3:58: exchange.message-timeout=40s: exchange.message-timeout must not be above exchange.idle-timeout: " +
            "a message that takes longer is silence", refused(receiver + ",                message-timeout: 40s}").getMessage());
        assertTrue(refused("exchange: {idle-timeout: 5s}").getMessage().contains(
            "exchange.idle-timeout=5s: needs exchange.listen or exchange.connect: give one, or leave this out"));
        assertTrue(refused("segment: {role: sender}\nexchange: {connect: \"a:1\", max-connections: 2}").getMessage().contains(
            "exchange.max-connections=2: is for segment.role receiver: leave this out"));
    }

    private static ExporterConfig load(final String yaml) {
        return new ConfigLoader().text("f", yaml).conclude();
    }

    private static ConfigurationException refused(final String yaml) {
        return assertThrows(ConfigurationException.class, () -> load(yaml), yaml);
    }

    private static ConfigurationException refusedFile(final Path file) {
        return assertThrows(ConfigurationException.class, () -> new ConfigLoader().file(file).conclude());
    }
}
