package io.flowlag.exporter.command;

import io.flowlag.exporter.config.ConfigReference;
import io.flowlag.exporter.config.ConfigTable;
import io.flowlag.exporter.config.ConfigurationException;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.WeightRule;
import io.flowlag.exporter.delay.ReferenceMode;
import io.flowlag.exporter.listing.Listing;
import io.flowlag.exporter.listing.RowFilter;
import io.flowlag.exporter.listing.RowFormat;
import io.flowlag.exporter.listing.SortKey;
import io.flowlag.exporter.terminal.Terminal;
import io.flowlag.ipfix.collect.ListenAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

class MainTest extends CommandLines {
    private static final long SECOND_NS = 1_000_000_000L;

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        meter -r IN --export file:IN           | -r
        meter -r other IN --stats IN           | -r
        delay -s other -r IN --export file:IN  | -r
        delay -s IN -r other --truth IN        | -s
        run --self-test -r IN --stats IN       | -r
        collect -r IN --log-file IN            | -r
        run -i lo -c IN --export file:IN       | the configuration itself
        """)
    void shouldNotWriteOverItsOwnInput(final String line, final String user) throws IOException {
        final Path input = Files.writeString(directory.resolve("in"), "{}");
        assertEquals(64, main(line.replace("IN", input.toString()).split(" +")));
        assertTrue(err.toString(StandardCharsets.UTF_8).contains("the same file is used by " + user + ": name another one"),
            err::toString);
        assertEquals("{}", Files.readString(input));
    }

    @Test
    void shouldMatchEveryPacketOfTwoCapturesUnlessToldOtherwise() {
        assertEquals(0, main("delay", "-s", "a.pcap", "-r", "b.pcap", "c.pcap", "--capacity", "10g", "--max-delay", "1s"));
        assertEquals(List.of("a.pcap"), recorder.delayOptions.senderFiles());
        assertEquals(List.of("b.pcap", "c.pcap"), recorder.delayOptions.receiverFiles());
        assertEquals(ReferenceMode.MARKED, recorder.delayOptions.referenceMode());
        assertTrue(recorder.delayOptions.isExact());
        assertFalse(recorder.delayOptions.isInterpolated());
        assertFalse(recorder.delayOptions.isSketched());
        assertFalse(recorder.config.joint().enabled());
        assertEquals(0, recorder.delayOptions.memoryBytes());
        assertEquals(10_000_000_000L, recorder.config.rli().capacityBps());
        assertEquals(ExporterConfig.Policy.ADAPTIVE, recorder.config.rli().injection().policy());
        assertEquals(1_000_000_000L, recorder.config.segment().maximumDelayNs());

        assertEquals(0, main("delay", "-s", "a", "-r", "b", "--compare", "--memory", "3g"));
        assertTrue(recorder.delayOptions.isExact() && recorder.delayOptions.isInterpolated());
        assertTrue(recorder.delayOptions.isSketched() && recorder.config.joint().enabled());
        assertTrue(recorder.config.reconcile().enabled());
        assertEquals(3L << 30, recorder.delayOptions.memoryBytes());
        for (final String[] asked : new String[][] {
            {"--references", "injected"}, {"--references", "marked"}, {"--references", "passive"}, {"--policy", "every-n"},
            {"--rows", "3"}, {"--columns", "4k"}, {"--vlda", "2"}, {"--rates", "1,0.5,0.1,0.01"}}) {
            assertEquals(0, main("delay", "-s", "a", "-r", "b", asked[0], asked[1]), errors());
            assertTrue(recorder.delayOptions.isInterpolated() && recorder.delayOptions.isSketched(), asked[0]);
            assertTrue(recorder.delayOptions.isExact() && recorder.config.joint().enabled(), asked[0]);
        }
        assertEquals(0, main(
            "delay", "-s", "a", "-r", "b", "--references", "marked", "--max-delay", "2s", "--interval", "1s"), errors());
        assertTrue(recorder.delayOptions.isInterpolated() && !recorder.delayOptions.isSketched());
        assertEquals(0, main("delay", "-s", "a", "-r", "b", "--estimators", "joint"));
        assertTrue(recorder.delayOptions.isInterpolated() && recorder.delayOptions.isSketched());
        assertTrue(recorder.config.joint().enabled());
        assertFalse(recorder.delayOptions.isExact());
        assertEquals(0, main("delay", "-s", "a", "-r", "b", "--references", "injected", "--estimators", "rli"));
        assertEquals(ReferenceMode.CAPTURED, recorder.delayOptions.referenceMode());
        assertFalse(recorder.delayOptions.isExact());
        assertEquals(0, main("delay", "-s", "a", "-r", "b", "--estimators", "rli,lds,exact"));
        assertTrue(recorder.delayOptions.isExact());
        assertFalse(recorder.config.joint().enabled());
        assertEquals(64, main("delay", "-s", "a", "-r", "b", "--estimators", "guess"));
        assertEquals(64, main("delay", "-s", "a", "-r", "b", "--estimators", "rli,joint"));
        assertEquals(64, main("delay", "-s", "a", "-r", "b", "--compare", "--estimators", "rli"));
        assertEquals(64, main("delay", "-s", "a", "-r", "b", "--memory", "much"));
        assertEquals(64, main("delay", "-r", "b"));
    }

    @Test
    void shouldTestItselfOnAnInterfaceOrOnCaptures() {
        assertEquals(0, main("run", "--self-test", "-i", "eth0"));
        assertEquals(List.of(), recorder.files);
        assertEquals(0, main("run", "--self-test", "-r", "a.pcap"));
        assertEquals(List.of("a.pcap"), recorder.files);
        assertEquals(64, main("run", "--self-test"));
        assertEquals(64, main("run", "-r", "a.pcap", "-i", "eth0", "--export", "udp://b"));
    }

    @Test
    void shouldMakeAKeyThatOnlyItsOwnerMayReadAndReplaceNone() throws IOException {
        final Path key = directory.resolve("flowlag.key");
        assertEquals(0, main("key", key.toString()));
        final String made = Files.readString(key);
        assertTrue(made.matches("[0-9a-f]{64}\n"), made);
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(key)));
        assertFalse(errors().contains(made.strip()), "a key is not shown");
        err.reset();
        assertRefused(73, "key", key.toString());
        assertEquals(made, Files.readString(key));
        err.reset();
        assertRefused(73, "key", directory.resolve("no/such").toString());
        err.reset();
        assertRefused(64, "key");
        assertEquals(0, main("key", directory.resolve("other").toString()));
        assertNotEquals(made, Files.readString(directory.resolve("other")));
    }

    @Test
    void shouldMeasureEveryPairOfARoutersInterfaces() {
        assertEquals(0, main("run", "--router", "eth0,eth1,eth2", "--export", "udp://192.0.2.9"), errors());
        assertEquals(List.of("eth0 eth1", "eth0 eth2", "eth1 eth0", "eth1 eth2", "eth2 eth0", "eth2 eth1"),
            recorder.config.pairs().segments().stream().map(ExporterConfig.Segment::points)
                .map((each) -> each.ingress() + " " + each.egress()).toList());
        assertRefused(64, "run", "--router", "eth0", "--export", "udp://192.0.2.9");
        err.reset();
        assertRefused(64, "run", "--router", "eth0,eth1", "--receiver", "--export", "udp://192.0.2.9");
    }

    /** The two commands of two hosts: all else follows from them. */
    @Test
    void shouldKnowTwoHostsByTheirKey() throws IOException {
        final String key = directory.resolve("flowlag.key").toString();
        assertEquals(0, main("key", key));
        assertEquals(0, main("run", "--receiver", "-i", "eth0", "--key", key, "--export", "udp://192.0.2.9"));
        final ExporterConfig receiver = recorder.config;
        assertEquals(ExporterConfig.Role.RECEIVER, receiver.segment().role());
        assertEquals(ExporterConfig.Direction.IN, receiver.capture().direction());
        assertEquals("0.0.0.0:8621", receiver.exchange().listen().toString());
        assertEquals(ExporterConfig.ExchangeMode.AUTO, receiver.exchange().mode());
        assertTrue(receiver.lds().enabled() && receiver.joint().enabled() && receiver.reconcile().enabled());
        assertEquals(key, receiver.exchange().keyFile().toString());
        assertEquals(key, receiver.rli().references().keyFile().toString());

        assertEquals(0, main("run", "--sender", "192.0.2.2", "-i", "eth1", "--key", key, "--capacity", "40m"));
        final ExporterConfig sender = recorder.config;
        assertEquals(ExporterConfig.Role.SENDER, sender.segment().role());
        assertEquals(ExporterConfig.Direction.OUT, sender.capture().direction());
        assertEquals("192.0.2.2:8621", sender.exchange().connect().toString());
        assertEquals("192.0.2.2", sender.rli().references().target());
        assertTrue(sender.reconcile().enabled());
        assertEquals(key, sender.exchange().keyFile().toString());
        assertEquals(key, sender.rli().references().keyFile().toString());
    }

    @Test
    void shouldLetWhatIsSaidInFullGoFirst() throws IOException {
        final String key = directory.resolve("flowlag.key").toString();
        final String other = directory.resolve("other.key").toString();
        assertEquals(0, main("key", key));
        assertEquals(0, main("key", other));
        for (final String[] written : new String[][] {
            {"h.example.net:99", "h.example.net", "h.example.net:99"}, {"2001:db8::1", "2001:db8::1", "[2001:db8::1]:8621"},
            {"[2001:db8::1]:99", "2001:db8::1", "[2001:db8::1]:99"}}) {
            assertEquals(0, main("run", "--sender", written[0], "-i", "a", "--key", key, "--set", "rli.key-file=" + other,
                "--direction", "both", "--set", "reconcile.enabled=off"), errors());
            assertEquals(written[2], recorder.config.exchange().connect().toString());
            assertEquals(written[1], recorder.config.rli().references().target());
            assertEquals(other, recorder.config.rli().references().keyFile().toString());
            assertEquals(key, recorder.config.exchange().keyFile().toString());
            assertEquals(ExporterConfig.Direction.BOTH, recorder.config.capture().direction());
            assertFalse(recorder.config.reconcile().enabled());
        }
        final Path file = directory.resolve("f.yaml");
        Files.writeString(file, "capture: {direction: both}\nrli: {target: 192.0.2.77}\n");
        assertEquals(0, main("run", "-c", file.toString(), "--sender", "192.0.2.2", "-i", "a", "--key", key));
        assertEquals(ExporterConfig.Direction.BOTH, recorder.config.capture().direction());
        assertEquals("192.0.2.77", recorder.config.rli().references().target());
        assertEquals(64, main("run", "--sender", "192.0.2.2", "--receiver", "-i", "a", "--key", key));
        assertEquals(64, main("run", "--sender", "x:y:z", "-i", "a", "--key", key));
    }

    @Test
    void shouldListOnlyCommandsThatExist() {
        assertEquals(0, main("--help"));
        for (final String command : List.of(
            "demo", "run", "meter", "delay", "collect", "report", "doctor", "key", "check-config", "size", "plan", "top", "flows",
            "metrics", "lab")) {
            assertTrue(output().contains("\n  " + command + " "), output());
        }
        assertEquals("", errors());
    }

    @Test
    void shouldListMetrics() {
        assertRefused(64, "metrics");
        assertEquals(0, main("metrics", "--list"));
        assertTrue(output().contains("flowlag_captured_packets_total "), output());
        assertEquals(0, main("metrics", "--list", "--json"));
        assertTrue(output().contains("\"name\" : \"flowlag_captured_packets_total\""), output());
    }

    @Test
    void shouldRefuseWrongQuestionsToARunningProcess() {
        assertRefused(66, "top", "--once", "--file", "/no/such/file");
        assertRefused(66, "flows", "--file", "/no/such/file");
        assertRefused(64, "flows", "--file", "/x", "--pid", "1");
        assertRefused(64, "flows", "--source", "example.net");
        assertRefused(64, "flows", "--port", "65536");
        assertRefused(64, "flows", "--protocol", "bogus");
        assertRefused(64, "flows", "--protocol", "256");
        assertRefused(66, "flows", "--protocol", "ICMP6", "--file", "/no/such/file");
        assertRefused(66, "flows", "--protocol", "255", "--file", "/no/such/file");
        assertRefused(64, "flows", "--min-delay", "5");
        assertRefused(64, "flows", "--limit", "-1");
        assertRefused(64, "flows", "--format", "xml");
        for (final String interval : List.of("0", "0.09", "99ms", "61m", "3601", "1 week", "-1s", "")) {
            assertRefused(64, "top", "--interval", interval);
        }
        for (final String interval : List.of("1s", "100ms", "0.1", "1.5s", "2", "1h", "3600")) {
            assertRefused(66, "top", "--interval", interval, "--file", "/no/such/file");
        }
    }

    @Test
    void shouldRefuseWrongPlans() {
        assertRefused(64, "plan", "--points", "1");
        assertRefused(64, "plan", "--network", "n.yaml");
        assertRefused(64, "plan", "--network", "n.yaml", "--points", "-1");
        assertRefused(64, "plan", "--network", "n.yaml", "--points", "2001");
        assertRefused(64, "plan", "--network", "n.yaml", "--points", "1", "--objective", "cost");
        assertRefused(64, "plan", "--network", "n.yaml", "--points", "1", "--max-flows", "many");
        assertRefused(64, "plan", "--network", "n.yaml", "--points", "1", "--export", "http://192.0.2.1");
        assertRefused(66, "plan", "--network", "/no/such/file", "--points", "1");
        assertRefused(66, "plan", "--network", "rocketfuel:/no/such", "--points", "1");
    }

    private void assertRefused(final int exitCode, final String... line) {
        assertEquals(exitCode, main(line), () -> String.join(" ", line));
        assertEquals("", output());
        assertEquals(1, errors().lines().count(), errors());
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "demo", "run", "meter", "delay", "collect", "report", "doctor", "key", "check-config", "size", "plan", "top", "flows",
        "metrics", "lab"})
    void shouldHelpWithEachCommand(final String command) {
        assertEquals(0, main(command, "--help"));
        assertTrue(output().startsWith("Usage: flowlag " + command + " "), output());
        assertFalse(output().lines().anyMatch((line) -> line.length() > 110), output());
        assertEquals("", errors());
        final String withAll = output();
        out.reset();
        assertEquals(0, Main.run(new Terminal(new PrintStream(out, false, StandardCharsets.UTF_8),
            new PrintStream(err, true, StandardCharsets.UTF_8), false), command, "--help"));
        assertEquals(withAll, output(), "a process that knows this command alone");
    }

    /** The experiments are in another jar, which these tests do not have. */
    @Test
    void shouldSayThatThereAreNoExperimentsInThePackage() {
        assertEquals(66, main("lab", "rli-fig6"));
        assertTrue(errors().startsWith("flowlag: lab: the experiments are not part of this package"), errors());
        assertEquals(64, main("lab", "--scale", "large"));
    }

    @Test
    void shouldTakeDescriptionsAndDefaultsOfOptionsFromTheTable() {
        main("run", "--help");
        final String help = output().replaceAll("\\s+", "");
        for (final ConfigOption option : ConfigOption.values()) {
            final String beginning = option.key().description().split("[:;.] ")[0];
            assertTrue(help.contains(beginning.replace(" ", "")), option.name());
            assertTrue(help.contains(option.longName() + "="), option.name());
        }
        assertTrue(help.contains("Default:60s."), help);
        assertTrue(help.contains("(adaptive,every-n,every-interval,combined,passive,orauto)"), help);
    }

    @Test
    void shouldRunWithTheOrderAndTheGroupsOfMeter() {
        assertEquals(0, main("run", "-i", "eth0", "--sort", "loss", "--top", "5", "--group-by", "dst/24",
            "--format", "csv", "--source", "pcap"));
        assertEquals(5, recorder.listing.query().limit());
        assertEquals(SortKey.LOSS, recorder.listing.query().order());
        assertEquals(RowFormat.CSV, recorder.listing.format());
        assertEquals(RowFilter.ALL, recorder.listing.query().filter(), "--source is where packets are read");
        assertEquals(64, main("run", "-i", "eth0", "--sort", "loss", "--export", "udp://127.0.0.1"));
        assertTrue(errors().contains("run: --sort is of what is printed without --export"), errors());
    }

    @Test
    void shouldHelpWithRunOnOneScreenTheMostUsedOptionsFirst() {
        main("run", "--help");
        assertTrue(output().lines().count() <= 50, output());
        int before = 0;
        for (final String option : List.of(
            " -i,", " --ingress=", " --egress=", " --export=", " -c,", " --filter=", " --capacity=", " --stats=", " --rows=",
            " --set=", " --self-test", " -h,")) {
            final int place = output().indexOf(option);
            assertTrue(place > before, option + " is not behind those that are used more: " + output());
            before = place;
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"--truth", "--stats"})
    void shouldSayBeforeItStartsWhyAFileCannotBeWritten(final String option) throws IOException {
        final Path missing = directory.resolve("nowhere").resolve("x.csv");
        assertEquals(73, main("delay", "-s", "x", "-r", "y", option, missing.toString()));
        assertTrue(errors().contains(" to " + missing + ": no such directory"), errors());
        final Path below = Files.writeString(directory.resolve("file"), "").resolve("x.csv");
        assertEquals(73, main("delay", "-s", "x", "-r", "y", option, below.toString()));
        assertTrue(errors().contains(" is not a directory"), errors());
        assertEquals(73, main("delay", "-s", "x", "-r", "y", option, directory.toString()));
        assertTrue(errors().contains(directory + ": is a directory"), errors());
        assertEquals(0, main("delay", "-s", "x", "-r", "y", option, "-"));
    }

    @Test
    void shouldAskInTheSameWayForCapturesAndRecords() {
        assertEquals(0, main("meter", "x", "-", "--group-by", "dst/24,dscp", "--sort", "loss:a", "--top", "5"));
        assertEquals(List.of("x", "-"), recorder.files);
        final Listing listing = recorder.listing;
        assertEquals(RowFormat.TABLE, listing.format());
        assertEquals(SortKey.LOSS, listing.query().order());
        assertTrue(listing.query().isRising());
        assertEquals(5, listing.query().limit());
        assertEquals(0, main("collect", "-r", "x", "--min-packets", "10", "--format", "csv"));
        assertEquals(10L, recorder.collectOptions.listing().query().filter().least().get(SortKey.PACKETS));
        assertEquals(0, main("delay", "-s", "x", "-r", "y", "--port", "53", "--format", "json"));
        assertEquals(53, recorder.delayOptions.listing().query().filter().numbers().get(RowFilter.Condition.PORT));
        assertEquals(RowFormat.JSON, recorder.delayOptions.listing().format());
    }

    @Test
    void shouldFollowTcpWhereThatIsAskedFor() {
        assertEquals(0, main("meter", "x", "--top", "5"));
        assertFalse(recorder.config.metering().tcp());
        for (final String[] asked : List.of(new String[] {"--sort", "rtt:a"}, new String[] {"--min-rtt", "5ms"},
            new String[] {"--min-handshake", "5ms"}, new String[] {"--min-zero-windows", "1"})) {
            assertEquals(0, main("meter", "x", asked[0], asked[1]));
            assertTrue(recorder.config.metering().tcp(), asked[0]);
            assertEquals(0, main("delay", "-s", "x", "-r", "y", asked[0], asked[1]));
            assertTrue(recorder.config.metering().tcp(), asked[0]);
            assertEquals(0, main("meter", "x", asked[0], asked[1], "--set", "metering.tcp=off"));
            assertFalse(recorder.config.metering().tcp(), asked[0]);
        }
    }

    @Test
    void shouldUnderstandHelpAsAWord() {
        assertEquals(0, main("--help"));
        final String all = output();
        assertEquals(0, main("help"));
        assertEquals(all, output().substring(output().length() - all.length()));
        assertEquals(0, main("help", "meter"));
        assertTrue(output().contains("Usage: flowlag meter"), output());
        assertEquals(64, main("help", "metre"));
        assertTrue(errors().contains("did you mean meter?"), errors());
    }

    @Test
    void shouldPointToTheWordThatWasMeant() {
        assertRefused(64, "flows", "--sort", "bytes");
        assertTrue(errors().contains("did you mean octets?"), errors());
        assertRefused(64, "flows", "--dport", "https");
        assertTrue(errors().contains("--app https"), errors());
    }

    @Test
    void shouldPrintFlowsOfARunWithoutDestination() {
        assertEquals(0, main("run", "-i", "eth0"));
        assertEquals(0, main("run", "-i", "a", "--set", "segment.role=sender", "--set", "rli.target=::1", "--set",
            "segment.sender-records=on"));
    }

    @Test
    void shouldNeedNoDestinationForASenderWithoutRecords() {
        assertEquals(0, main("run", "-i", "eth0", "--set", "segment.role=sender", "--set", "rli.target=192.0.2.9"));
        assertTrue(recorder.config.exporting().destinations().isEmpty());
        assertEquals("", errors());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        metr -r x                     | flowlag: 'metr' is no command; did you mean meter?
        meter                         | flowlag: meter: no input: name captures
        meter -r                      | flowlag meter: Missing required parameter for option '--read'
        meter -r x --activ 5s         | flowlag meter: unknown option --activ; did you mean --active?
        --verison                     | flowlag: unknown option --verison; did you mean --version?
        check-config a b              | flowlag check-config: 'b' is neither an option nor belongs to one
        meter -r x --active 5s --active 6s | flowlag meter: option '--active' (DURATION) should be specified only once
        meter -r x --active 60        | --active=60 (metering.active-timeout): a duration needs a unit: write 60s
        meter -r x --export host:1    | --export=host:1 (exporting.destinations): has no transport: write udp://host:1
        meter -r x --profile ful      | --profile=ful (exporting.profile): must be one of classic, standard, full
        meter -r x --set pipelin.idle=spin | flowlag: --set pipelin.idle: unknown key; did you mean pipeline.idle?
        meter -r x --set pipeline.idle | flowlag: --set pipeline.idle: write --set KEY=VALUE
        meter -r x --set pipeline.idle=spun | --set pipeline.idle=spun (pipeline.idle): must be one of backoff, spin, yield
        meter -r x -q -v              | flowlag: -q and -v contradict each other
        run                           | flowlag: run: no interface: name one with -i IFACE
        meter x --export file:y --top 5 | flowlag: meter: --top is of what is printed without --export: leave one out
        meter x --sort size           | flowlag: --sort=size: must be one of mean, bound, sd, p50, p90, p99, max, lost, loss,
        meter x --group-by dst/33     | flowlag: --group-by=dst/33: must have lengths of 0 to 32 for IPv4 and 0 to 128 for IPv6
        collect --group-by dst,host   | flowlag: --group-by=dst,host: must be of src, dst
        collect --min-packets few     | flowlag: --min-packets=few: must be a number
        report                        | flowlag: report: name -s FILE and -r FILE, or the captures of one point, or IPFIX files
        report -s x                   | flowlag: report: name -s FILE and -r FILE, or the captures of one point, or IPFIX files
        report z -s x -r y            | flowlag: report: name -s FILE and -r FILE, or the captures of one point, or IPFIX files
        report x --group-by host      | flowlag: --group-by=host: must be of src, dst
        delay -s x -r y --top -1      | flowlag: --top=-1: must be a number, 0 for all
        delay -s x -r y --references bogus | flowlag: --references bogus: must be marked, injected or passive
        delay -s x -r y --references passive --policy every-n | flowlag: --references passive and --policy contradict
        delay -s x -r y --weights /no/such | --weights=/no/such: no such file
        meter --bogus                 | flowlag meter: unknown option --bogus
        delay --activ 5s              | flowlag delay: unknown option --activ; did you mean --active?; Missing required
        run --self-test -r x -i lo    | flowlag: run --self-test: -r and --interface contradict each other: leave one out
        run --self-test -r x --set segment.ingress=a --egress b | flowlag: run --self-test: -r and --ingress contradict
        delay -s x -r y --policy adaptive --capacity 1 | --capacity=1 (rli.capacity): must be 8k to 1000g; did you mean 1m?
        collect --listen file:x       | flowlag: --listen=file:x is not an address to receive on: write udp://HOST:PORT
        collect --listen udp://h?a=b  | flowlag: --listen=udp://h?a=b is not an address to receive on
        collect --listen tls://h      | needs --tls-certificate
        collect --listen h            | flowlag: --listen=h is not an address to receive on
        collect --listen udp://h --read x | flowlag: collect: --listen and --read contradict each other
        collect --format jsn          | flowlag collect: Invalid value for option '--format'
        check-config                  | flowlag check-config: Missing required parameter: 'FILE'
        size                          | flowlag: size: name the load: --flows N and --packets N, or a capture with -r FILE
        size --flows 9                | flowlag: size: name the load
        size --flows ten --packets 99 | flowlag: --flows=ten: write 146000 or 146k
        size --flows 0 --packets 99   | flowlag: --flows=0: must be 1 to 1000000000000
        size --flows 99 --packets 99  | flowlag: --packets=99: must be more than --flows=99
        size --flows 9 --packets 99 --error 5 | flowlag: --error=5: must be 0.000001 to 0.99
        size --flows 9 --packets 99 --confidence 50% | flowlag: --confidence=50%: must be 64% to 99.9999%
        size --flows 9 --packets 99 --flow-packets 10 | flowlag: --error=5%: of --flow-packets=10 is not more than one packet
        size --flows 9 --packets 99 --interval 1 | flowlag: --interval=1: write 100ms or 1s
        size --flows 9 --packets 99 --bandwidth 10 | flowlag: --bandwidth=10: write 10m (bits/s; k, m or g)
        size --flows 1g --packets 900g --error 0.01% --flow-packets 100k | flowlag: size: target asks for columns=405922260
        """)
    void shouldSayInOneLineWhatIsWrongWithACommandLine(final String line, final String wanted) {
        assertEquals(64, main(line.trim().split(" +")));
        assertTrue(errors().startsWith(wanted) || errors().contains(wanted) && wanted.startsWith("needs"), errors());
        assertEquals(1, errors().lines().count(), errors());
        assertEquals("", output());
    }

    @Test
    void shouldShowTheUsageToWhoSaysNothing() {
        assertEquals(64, main());
        assertTrue(errors().startsWith("Usage: flowlag "), errors());
    }

    @Test
    void shouldHandOptionsOverTheFileToTheProcess() throws IOException {
        final Path file = write("metering: {active-timeout: 5m, max-flows: 1k}\nexporting: {destinations: [udp://a]}\n");
        assertEquals(0, main("meter", "-r", "a.pcap", "b.pcap", "--active", "90s", "--export", "udp://b", "--export", "file:x",
            "-c", file.toString(), "--filter", "ip or ip6", "--set", "exporting.flush-interval=5ms",
            "--set", "metering.flow-key=dscp", "--set", "metering.flow-key=vlan"));
        assertEquals(List.of("a.pcap", "b.pcap"), recorder.files);
        assertEquals(90 * SECOND_NS, recorder.config.metering().activeTimeoutNs());
        assertEquals(1024, recorder.config.metering().maxFlows());
        assertEquals(2, recorder.config.exporting().destinations().size());
        assertEquals("ip or ip6", recorder.config.capture().filter());
        assertEquals(5_000_000L, recorder.config.exporting().destinations().get(0).flushIntervalNs());
        assertEquals(2, recorder.config.metering().extraKeyFields().size());
        assertEquals("", errors());
    }

    @Test
    void shouldReloadTheSameFileUnderTheSameOptions() throws IOException {
        final Path file = write("metering: {idle-timeout: 1s}\n");
        assertEquals(0, main("run", "-c", file.toString(), "-i", "eth0", "-i", "eth1", "--export", "udp://b"));
        assertEquals(List.of("eth0", "eth1"), recorder.config.capture().interfaces());
        write("metering: {idle-timeout: 2s}\n");
        assertEquals(2 * SECOND_NS, recorder.reload.get().metering().idleTimeoutNs());
        assertEquals(List.of("eth0", "eth1"), recorder.reload.get().capture().interfaces());
        write("metering: {idle-timeout: 2}\n");
        assertThrows(ConfigurationException.class, recorder.reload::get);
    }

    @Test
    void shouldBlameTheFileForARunWithoutDestination() throws IOException {
        assertEquals(78, main("run", "-c", write("capture: {interfaces: [eth0]}").toString()));
    }

    @Test
    void shouldCollectOnLoopbackByDefault() {
        assertEquals(0, main("collect"));
        assertEquals(List.of(ListenAddress.DEFAULT), recorder.collectOptions.listen());
        assertEquals(RowFormat.TABLE, recorder.collectOptions.listing().format());
        assertEquals(0, main("collect", "--read", "x", "-", "--format", "json"));
        assertEquals(List.of("x", "-"), recorder.collectOptions.files());
        assertEquals(List.of(), recorder.collectOptions.listen());
        assertEquals(RowFormat.JSON, recorder.collectOptions.listing().format());
    }

    @Test
    void shouldSetTheLogLevelByQuietAndVerbose() {
        main("demo", "-q");
        assertEquals(ExporterConfig.LogLevel.ERROR, recorder.config.log().level());
        main("demo", "-v");
        assertEquals(ExporterConfig.LogLevel.DEBUG, recorder.config.log().level());
        main("demo");
        assertTrue(recorder.config.isDefault(ConfigTable.LOG_LEVEL));
    }

    @Test
    void shouldPrintEffectiveValuesOrEveryError() throws IOException {
        assertEquals(0, main("check-config", write("log: {level: warn}").toString()));
        assertEquals(0, main("check-config", "-c", write("log: {level: warn}").toString()));
        assertTrue(output().lines().anyMatch((line) -> line.matches("log.level: +warn +# .*flowlag.yaml:1:14")), output());
        assertEquals("", errors());
        out.reset();
        assertEquals(78, main("check-config", write("log: {level: wran}\nlgo: 1\n").toString()));
        assertEquals(2, errors().lines().count());
        assertTrue(errors().contains("flowlag.yaml:1:14: log.level=wran: must be one of error, warn, info, debug; did you mean"));
        assertTrue(errors().contains("flowlag.yaml:2:1: lgo: unknown key; did you mean log?"), errors());
        assertEquals("", output());
        assertEquals(66, main("check-config", directory.resolve("missing.yaml").toString()));
    }

    @Test
    void shouldListEveryKeyInsteadOfCheckingAFile() throws IOException {
        assertEquals(0, main("check-config", "--all"));
        assertEquals(ConfigReference.keyLines(), output().lines().toList());
        assertEquals(64, main("check-config", "--all", write("log: {level: warn}").toString()));
        assertTrue(errors().contains("--all checks no file"), errors());
    }

    @Test
    void shouldSayWhatIsWrongInAKeyBeforeARunWouldAndWhoGaveIt() throws IOException {
        final Path key = Files.writeString(directory.resolve("k"), "xx");
        Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-------"));
        final String file = write("decode:\n  digest-key-file: " + key + "\n").toString();
        final String fault = "holds no key: write 32 hexadecimal digits";
        assertEquals(78, main("check-config", file));
        assertTrue(errors().contains("flowlag.yaml:2:20: decode.digest-key-file=" + key + ": " + fault), errors());
        assertEquals("", output());
        err.reset();
        assertEquals(78, main("run", "-c", file, "-i", "lo", "--export", "udp://b"));
        assertTrue(errors().contains("flowlag.yaml:2:20: decode.digest-key-file=" + key + ": " + fault), errors());
        err.reset();
        assertEquals(64, main("meter", "-r", "x", "--set", "decode.digest-key-file=" + key));
        assertTrue(errors().startsWith("--set decode.digest-key-file=" + key + " (decode.digest-key-file): " + fault), errors());
    }

    @Test
    void shouldChoosePassiveReferencesAsThePolicyDoes() {
        assertEquals(0, main("delay", "-s", "a", "-r", "b", "--references", "passive"));
        assertEquals(ExporterConfig.Policy.PASSIVE, recorder.config.rli().injection().policy());
        assertEquals(ReferenceMode.MARKED, recorder.delayOptions.referenceMode(), "which the policy makes passive");
        assertEquals(0, main("delay", "-s", "a", "-r", "b", "--references", "passive", "--policy", "passive"));
    }

    @Test
    void shouldReadWeightsOfAFile() throws IOException {
        final Path file = directory.resolve("w.txt");
        Files.writeString(file, "# voice\n\nproto=udp dport=5004 weight=25 # RTP\n  dst=10.9.0.0/16 weight=5\n");
        assertEquals(0, main("delay", "-s", "a", "-r", "b", "--weights", file.toString()));
        assertEquals(List.of(WeightRule.parse("proto=udp dport=5004 weight=25"), WeightRule.parse("dst=10.9.0.0/16 weight=5")),
            recorder.config.lds().weights());
        Files.writeString(file, "proto=tcp weight=2\nproto=tpc weight=2\nproto=tcp  weight=2\n");
        assertEquals(64, main("delay", "-s", "a", "-r", "b", "--weights", file.toString()));
        final List<String> lines = errors().lines().toList();
        assertTrue(lines.get(0).startsWith("--weights=" + file + ":2: proto=tpc: 'tpc' is unknown"), errors());
        assertTrue(lines.get(1).startsWith("--weights=" + file + ":3: 'proto=tcp  weight=2' is there twice"), errors());
        assertEquals(2, lines.size());
    }
}
