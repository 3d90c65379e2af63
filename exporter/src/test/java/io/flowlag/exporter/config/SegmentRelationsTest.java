package io.flowlag.exporter.config;

import io.flowlag.common.config.Prefix;
import io.flowlag.exporter.config.ExporterConfig.Role;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

class SegmentRelationsTest {
    @TempDir
    private Path directory;

    private static List<ExporterConfig> views(final String yaml) {
        return new ConfigLoader().text("f", yaml.replace(';', '\n')).concludeSegments();
    }

    private static List<String> errors(final String yaml) {
        return assertThrows(ConfigurationException.class, () -> views(yaml), yaml).errors();
    }

    @Test
    void shouldGiveEachSegmentItsOwnValuesAndThoseOfTheProcess() {
        final List<ExporterConfig> views = views("rli: {capacity: 50m, session: 3};lds: {columns: 128};" +
            "segments:;" +
            "- {role: sender, id: 7, destination: [10.1.0.0/16], rli: {target: 192.0.2.1}};" +
            "- {role: receiver, id: 8, source: [10.2.0.0/16], rli: {session: 5}, lds: {columns: 256}," +
            " exchange: {listen: 4800}};" +
            "- {ingress: eth0, egress: eth1, id: 9};");
        assertEquals(List.of(Role.SENDER, Role.RECEIVER, Role.BOTH),
            views.stream().map((each) -> each.segment().role()).toList());
        assertEquals(List.of(7L, 8L, 9L), views.stream().map((each) -> each.segment().id()).toList());
        assertEquals(List.of(3, 5, 3), views.stream().map((each) -> each.rli().references().session()).toList());
        assertEquals(List.of(50_000_000L, 50_000_000L, 50_000_000L),
            views.stream().map((each) -> each.rli().capacityBps()).toList());
        assertEquals(List.of(128, 256, 128), views.stream().map((each) -> each.lds().shape().columns()).toList());
        assertEquals("192.0.2.1", views.get(0).rli().references().target());
        assertEquals(4800, views.get(1).exchange().listen().port());
        assertTrue(views.get(1).lds().enabled(), "exchange.listen of one segment switches sketches of that segment on");
        assertTrue(!views.get(0).lds().enabled() && !views.get(2).lds().enabled());
        assertEquals(List.of(Prefix.of("10.2.0.0/16")), views.get(1).segment().selector().sources());
        assertEquals(List.of(), views.get(2).segment().selector().sources());
    }

    @Test
    void shouldCorrectClocksAtTheReceiversOfAList() {
        final String sender = "- {role: sender, id: 1, source: [10.1.0.0/16], exchange: {connect: \"127.0.0.1:4801\"}};";
        final String receiver = "- {role: receiver, id: 2, source: [10.2.0.0/16], rli: {session: 2}, exchange: {listen: 4800}};";
        final List<ExporterConfig> views =
            views("clock: {correct: on, reflector: \"127.0.0.1:862\"};segments:;" + sender + receiver);
        assertEquals(List.of(false, true), views.stream().map((each) -> each.clock().isCorrected()).toList());
        assertEquals("f:1:18: clock.correct=on: needs exchange.listen: clocks are compared over the exchange, and corrected at " +
            "the receiver", errors("clock: {correct: on};segments:;" + sender).get(0));
        final String another =
            "- {role: receiver, id: 3, source: [10.3.0.0/16], rli: {session: 3}, exchange: {listen: 4802}};";
        assertTrue(errors("clock: {reflector: \"127.0.0.1:862\"};segments:;" + receiver + another).get(0)
            .contains("is the clock of one sender, and the segment in line 3 has another"));
    }

    @Test
    void shouldRefuseShardsOfSeveralSegments() {
        final String one =
            "threading: sharded;segments:;- {role: receiver, id: 2, source: [10.2.0.0/16], rli: {session: 2}};";
        assertEquals(1, views(one).size());
        assertEquals("f:1:12: threading=sharded: measures one segment: set it to pipelined or shared, or leave one entry in " +
            "the list segments",
            errors(one + "- {role: receiver, id: 3, source: [10.3.0.0/16], rli: {session: 3}};").get(0));
    }

    @Test
    void shouldTakeAListOfOneAsTheSection() {
        final String keys = "role: receiver, id: 4, source: [10.0.0.0/8]";
        final ExporterConfig ofSection = new ConfigLoader().text("f", "segment: {" + keys + "}\nrli: {session: 5}\n").conclude();
        final ExporterConfig ofList =
            new ConfigLoader().text("f", "segments: [{" + keys + ", rli: {session: 5}}]\n").conclude();
        assertEquals(ofSection.segment(), ofList.segment());
        assertEquals(ofSection.rli(), ofList.rli());
        assertEquals(ofSection.decode(), ofList.decode());
        assertEquals(ofSection.effectiveValues().stream().map((each) -> each.path() + each.text() + each.note()).toList(),
            ofList.effectiveValues().stream().map((each) -> each.path() + each.text() + each.note()).toList());
        assertEquals(List.of(), ofSection.restartKeys(ofList));
        assertEquals(1, views("segment: {" + keys + "}").size());
        assertEquals(Role.NONE, views("").get(0).segment().role());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "segments: | f:1:1: segments: is a list",
        "segments: {role: both} | f:1:1: segments: is a list",
        "segments: []; | f:1:1: segments: is a list",
        "segments: [both] | f:1:12: segments: an entry has keys",
        "segments: [{id: 1}] | f:1:12: segment.role=none: an entry of segments has a role",
        "segments: [{role: none}] | f:1:19: segment.role=none: an entry of segments has a role",
        "segments: [{rol: both}] | f:1:13: segment.rol: unknown key; did you mean segment.role?",
        "segments: [{role: receiver, rli: {sesion: 3}}] | rli.sesion: unknown key; did you mean rli.session?",
        "segments: [{role: receiver, role: sender}] | role",
        "segments: [{role: receiver, rli: 5}] | rli: is a section",
        "segments: [{role: receiver, metering: {max-flows: 5}}] | segment.metering: unknown key",
        "segments: [{role: receiver}];segment: {id: 3} | segment.id=3: stands next to the list segments",
        "segmets: [{role: receiver}] | did you mean segment",
        "segments: [{role: receiver, rli: {min-utilization: 0.9}}] | f:1:52: rli.min-utilization=0.9"})
    void shouldNameTheFaultOfAnEntry(final String yaml, final String error) {
        assertTrue(String.join("\n", errors(yaml)).contains(error), () -> errors(yaml).toString());
    }

    /** Two segments that would do but for the values of a case. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "role: receiver, id: 1, source: [10.0.0.0/8], rli: {session: 1} |" +
            " role: receiver, id: 2, source: [11.0.0.0/8], rli: {session: 2} | ''",
        "role: receiver, source: [10.0.0.0/8], rli: {session: 1} |" +
            " role: receiver, source: [11.0.0.0/8], rli: {session: 2} |" +
            " f:3:3: segment.id=1: the segment in line 2 has this number too",
        "role: receiver, id: 1, rli: {senders: ['1@192.0.2.1?source=10.1.0.0/16', '3@192.0.2.2?source=10.2.0.0/16']} |" +
            " role: receiver, id: 2, source: [11.0.0.0/8], rli: {session: 5} | f:3:24: segment.id=2: the segment in line 2",
        "role: receiver, rli: {session: 1} | role: sender, rli: {target: h} | ''",
        "role: receiver, id: 1, source: [10.0.0.0/8, 11.0.0.0/8], rli: {session: 1} |" +
            " role: receiver, id: 2, source: [11.2.0.0/8], rli: {session: 2} |" +
            " f:3:3: segment.destination=[]: the segment in line 2 has a pair of source and destination too",
        "role: receiver, id: 1, source: [10.0.0.0/8], rli: {session: 1} |" +
            " role: receiver, id: 2, source: [10.0.0.0/8], vlan: 5, rli: {session: 2} | ''",
        "role: receiver, id: 1, source: [10.0.0.0/8], rli: {session: 1} |" +
            " role: receiver, id: 2, source: [10.0.0.0/8], destination: ['::/0'], rli: {session: 2} | ''",
        "role: receiver, id: 1, source: [10.0.0.0/8] | role: receiver, id: 2, source: [11.0.0.0/8] |" +
            " f:3:3: rli.session=1: the segment in line 2 has references of this session",
        "role: receiver, id: 1, source: [10.0.0.0/8], rli: {port: 9000} | role: receiver, id: 2, source: [11.0.0.0/8] | ''",
        "role: sender, id: 1, source: [10.0.0.0/8], rli: {target: h} |" +
            " role: sender, id: 2, source: [11.0.0.0/8], rli: {target: i} | ''",
        "role: sender, id: 1, source: [10.0.0.0/8], rli: {target: h, session: 4} |" +
            " role: sender, id: 2, source: [11.0.0.0/8], rli: {target: h, session: 4} | rli.session=4: the segment in line 2",
        "ingress: a, egress: b, id: 1 | ingress: a, egress: c, id: 2 | ''",
        "ingress: a, egress: b, id: 1 | ingress: a, egress: b, id: 2 | segment.destination=[]: the segment in line 2",
        "role: receiver, id: 1, source: [10.0.0.0/8], exchange: {listen: 4800} |" +
            " role: receiver, id: 2, source: [11.0.0.0/8], rli: {session: 2}, exchange: {listen: 4800} |" +
            " exchange.listen=4800: the segment in line 2 listens there too: give each receiver a port of its own",
        "role: receiver, id: 1, source: [10.0.0.0/8], exchange: {listen: 4800} |" +
            " role: receiver, id: 2, source: [11.0.0.0/8], rli: {session: 2}, exchange: {listen: 'localhost:4800'} |" +
            " exchange.listen=localhost:4800: the segment in line 2 listens there too",
        "role: receiver, id: 1, source: [10.0.0.0/8], exchange: {listen: 4800} |" +
            " role: receiver, id: 2, source: [11.0.0.0/8], rli: {session: 2}, exchange: {listen: '127.0.0.2:4800'} | ''",
        "role: receiver, id: 1, source: [10.0.0.0/8], exchange: {listen: 4800} |" +
            " role: receiver, id: 2, source: [11.0.0.0/8], rli: {session: 2}," +
            " exchange: {listen: 4801, max-connections: 5} | ''"})
    void shouldRefuseSegmentsThatMeet(final String one, final String other, final String error) {
        final String yaml = "segments:;- {" + one + "};- {" + other + "};";
        if (error.isEmpty()) {
            assertEquals(2, views(yaml).size());
        } else {
            final List<String> errors = errors(yaml);
            assertTrue(errors.size() == 1 && errors.get(0).contains(error), errors::toString);
        }
    }

    /** What one process cannot measure together; the first entry is always the same. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "role: receiver, id: 2, source: [11.0.0.0/8], rli: {session: 2}, exchange: {listen: 4801} | ''",
        "role: sender, id: 2, rli: {target: h, session: 9} | ''",
        "role: sender, rli: {target: h, session: 9} | segment.id=1: another segment of the process has this number too",
        "role: sender, id: 2, rli: {target: h} | rli.session=1: the segment with id 1 has references of this session",
        "role: sender, id: 2, rli: {target: h, port: 9000} | ''",
        "role: receiver, id: 2, source: [11.0.0.0/8], interval: 2s, rli: {session: 2}, exchange: {listen: 4801} | " +
            "segment.interval: the segment with id 1 has intervals of another length",
        "role: receiver, id: 2, source: [11.0.0.0/8], interval: 2s, rli: {session: 2} | ''",
        "role: receiver, id: 2, source: [11.0.0.0/8], vlan: 7, rli: {session: 2} | segment.vlan=7: a flow would have packets"})
    void shouldRefuseWhatOneProcessCannotMeasureTogether(final String other, final String error) {
        final ConfigLoader loader = new ConfigLoader().text("f", ("segments:;- {role: receiver, id: 1, source: [10.0.0.0/8]," +
            " exchange: {listen: 4800}};- {" + other + "};").replace(';', '\n'));
        if (error.isEmpty()) {
            final ExporterConfig config = loader.conclude();
            assertEquals(2, config.segments().size());
            assertEquals(List.of("segments[1].segment.role", "segments[2].segment.role"), config.effectiveValues().stream()
                .map(EffectiveValue::path).filter((path) -> path.endsWith("segment.role")).toList());
            assertEquals(List.of(), config.restartKeys(config));
        } else {
            final List<String> errors = assertThrows(ConfigurationException.class, loader::conclude).errors();
            assertTrue(errors.size() == 1 && errors.get(0).startsWith("f:3:3: ") && errors.get(0).contains(error),
                errors::toString);
        }
    }

    @Test
    void shouldGiveEachReceiverAPortOfItsOwn() throws IOException {
        final Path key = Files.createFile(directory.resolve("key"),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        final String yaml = "exchange: {key-file: " + key + "};segments:;" + IntStream.rangeClosed(1, 4).mapToObj((id) ->
            "- {role: receiver, id: " + id + ", source: [10." + id + ".0.0/16], rli: {session: " + id + "}" +
            (id == 3 ? ", exchange: {listen: 8622}" : "") + "};").collect(Collectors.joining());
        assertEquals(List.of("0.0.0.0:8621", "0.0.0.0:8623", "127.0.0.1:8622", "0.0.0.0:8624"),
            views(yaml).stream().map((each) -> each.exchange().listen().toString()).toList());
    }

    @Test
    void shouldNameAFaultOfTheProcessOnce() {
        assertEquals(1, errors("rli: {min-utilization: 0.9};segments: [{role: receiver, id: 1, source: [10.0.0.0/8]}," +
            " {role: receiver, id: 2, source: [11.0.0.0/8], rli: {session: 2}}]").size());
    }

    @Test
    void shouldRefuseOptionsOfTheSegmentNextToTheList() {
        final ConfigLoader loader = new ConfigLoader().text("f", "segments: [{role: receiver}]\n")
            .option("--vlan", ConfigTable.SEGMENT_VLAN, List.of("5"));
        assertEquals(List.of("--vlan=5 (segment.vlan): stands next to the list segments: put it into an entry of the " +
            "list, or leave it or the list out"), assertThrows(ConfigurationException.class, loader::conclude).errors());
    }
}
