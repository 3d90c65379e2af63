package io.flowlag.exporter.capture.route;

import io.flowlag.common.config.Prefix;
import io.flowlag.common.memory.CheckedBuffer;
import io.flowlag.exporter.fuzz.GuardedMemory;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Messages as Linux 6.18 sent them, and others. */
class RouteReaderTest {
    private static final String ADD =
        "4400000018000006390d086be97a000002100000fe0300010000000008000f00fe000000080001000a0500000800060007000000" +
        "080005000a0000090800040003000000";
    private static final String REPLACE =
        "4400000018000001390d086bea7a000002100000fe0300010000000008000f00fe000000080001000a0500000800060007000000" +
        "080005000a0001090800040002000000";
    private static final String MULTIPATH =
        "5000000018000006390d086beb7a000002100000fe0300010000000008000f00fe000000080001000a0600002400090010000000" +
        "03000000080005000a0000091000000202000000080005000a000109";
    private static final String DELETE =
        "3c00000019000000390d086bec7a000002100000fe0300010000000008000f00fe000000080001000a050000080005000a000109" +
        "0800040002000000";
    private static final String MULTIPATH_6 =
        "a800000018000004390d086bed7a00000a300000fe0300010000000008000f00fe0000001400010020010db80005000000000000" +
        "0000000008000600000400003c0009001c000000030000001400050020010db80000000000000000000000091c00000002000000" +
        "14000500fe80000000000000000000000000000124000c0000000000000000000000000000000000000000000000000000000000" +
        "000000000500140000000000";
    private static final String UNREACHABLE_6 =
        "7400000018000006390d086bee7a00000a300000fe0300070000000008000f00fe0000001400010020010db80006000000000000" +
        "000000000800060000040000080004000100000024000c0000000000000000000000000000000000000000000000000000000000" +
        "000000000500140000000000";
    private static final String TABLE_1000 =
        "3c00000018000006390d086bef7a000002100000fc0300010000000008000f00e8030000080001000a4d0000080005000a000009" +
        "0800040003000000";
    private static final String TOS =
        "3c00000018000006390d086bf07a000002100010fe0300010000000008000f00fe000000080001000a4e0000080005000a000009" +
        "0800040003000000";
    private static final String ENCAPSULATED =
        "7c00000018000006390d086bf17a000002100000fe0300010000000008000f00fe000000080001000a4f0000080005000a000009" +
        "0800040003000000380016000c0001000000000000000003080002000a0000070800030000000000050005000000000005000400" +
        "0000000006000600000000000600150002000000";
    private static final String RULE_LOCAL =
        "340000002000020001000000625881fc02000000ff0000010000000008000f00ff00000008000e00ffffffff0500150002000000";
    private static final String RULE_MAIN_6 =
        "3c0000002000020001000000625881fc0a000000fe0000010000000008000f00fe00000008000e00ffffffff0500150002000000" +
        "08000600fe7f0000";
    private static final String DONE =
        "140000000300020001000000625881fc00000000";
    private static final List<String> ALL = List.of(ADD, REPLACE, MULTIPATH, DELETE, MULTIPATH_6, UNREACHABLE_6, TABLE_1000, TOS,
        ENCAPSULATED, RULE_LOCAL, RULE_MAIN_6, DONE);
    private static final int MAX_BYTES = 4096;

    private final GuardedMemory memory = new GuardedMemory(MAX_BYTES);
    private final CheckedBuffer buffer = new CheckedBuffer(0, 0);
    private final List<String> found = new ArrayList<>();
    private final List<Route> routes = new ArrayList<>();
    private final RouteReader reader = new RouteReader(new RouteHandler() {
        @Override
        public void onRoute(final Route route, final Change change) {
            routes.add(route);
            found.add(change.name());
        }

        @Override
        public void onRule(final boolean isIpv6, final int table) {
            found.add("rule " + (isIpv6 ? 6 : 4) + " " + table);
        }

        @Override
        public void onDumpEnd(final boolean isSuccess) {
            found.add(isSuccess ? "done" : "failed");
        }

        @Override
        public void onDoubt() {
            found.add("doubt");
        }
    });

    private void read(final byte[] octets) {
        found.clear();
        routes.clear();
        memory.wrap(buffer, octets, 0, octets.length);
        reader.read(buffer, octets.length);
    }

    private void read(final String... messages) {
        read(HexFormat.of().parseHex(String.join("", messages)));
    }

    private static Route route(final String prefix, final long metric, final Integer... interfaces) {
        return new Route(Prefix.of(prefix), Route.MAIN, metric, List.of(interfaces), true, false);
    }

    @Test
    void shouldReadChanges() {
        read(ADD, REPLACE, DELETE);
        assertEquals(List.of("ADDED", "REPLACED", "DELETED"), found);
        assertEquals(List.of(route("10.5.0.0/16", 7, 3), route("10.5.0.0/16", 7, 2), route("10.5.0.0/16", 0, 2)), routes);
    }

    @Test
    void shouldReadAllNextHops() {
        read(MULTIPATH, MULTIPATH_6, UNREACHABLE_6);
        assertEquals(List.of(route("10.6.0.0/16", 0, 2, 3), route("2001:db8:5::/48", 1024, 2, 3),
            route("2001:db8:6::/48", 1024)), routes);
    }

    /** Linux sets the flag while the interface is down. */
    @Test
    void shouldLeaveOutDeadNextHops() {
        read(MULTIPATH.replace("10000000030000", "10000100030000"), ADD.replace("fe03000100", "fe03000101"));
        assertEquals(route("10.6.0.0/16", 0, 2), routes.get(0));
        assertEquals(new Route(Prefix.of("10.5.0.0/16"), Route.MAIN, 7, List.of(), true, true), routes.get(1));
    }

    @Test
    void shouldNotKnowWhatDependsOnMoreThanTheDestination() {
        read(TABLE_1000, TOS, ENCAPSULATED);
        assertEquals(List.of(new Route(Prefix.of("10.78.0.0/16"), Route.MAIN, Route.FIRST, List.of(3), false, false),
            new Route(Prefix.of("10.79.0.0/16"), Route.MAIN, 0, List.of(), false, false)), routes);
    }

    /** With the sysctl nexthop_compat_mode at 0 there is the object's id alone. */
    @Test
    void shouldNotKnowTheNextHopOfAnObject() {
        read(ADD.replace("080005000a0000090800040003000000", "08001e00050000000800ff0003000000"));
        assertEquals(List.of(new Route(Prefix.of("10.5.0.0/16"), Route.MAIN, 7, List.of(), false, false)), routes);
    }

    @Test
    void shouldTellDefaultRulesFromOthers() {
        read(RULE_LOCAL, RULE_MAIN_6, RULE_LOCAL.replace("ff00000100", "ff00000102"),
            RULE_MAIN_6.replace("fe7f0000", "fd7f0000"), RULE_MAIN_6.replace("0500150002", "0500110002"), DONE);
        assertEquals(List.of("rule 4 255", "rule 6 254", "rule 4 0", "rule 6 0", "rule 6 0", "done"), found);
    }

    @Test
    void shouldTellFailedAndInterruptedDumps() {
        read(DONE.replace("fc00000000", "fcf0ffffff"), "14000000020000000100000000000000f0ffffff",
            ADD.replace("18000006", "18001200"), "1000000010000000" + "0000000000000000");
        assertEquals(List.of("failed", "failed", "doubt", "DUMPED", "doubt"), found);
    }

    @Property(tries = 2_000)
    void shouldSurviveAnything(@ForAll("damaged") final byte[] octets) {
        read(octets);
        assertTrue(found.size() <= 2 * octets.length / RouteReader.HEADER_LENGTH_BYTES + 1);
        for (final Route route : routes) {
            assertTrue(route.interfaces().stream().allMatch(index -> !route.isKnown() || index > 0), route::toString);
        }
    }

    @Provide
    Arbitrary<byte[]> damaged() {
        final Arbitrary<byte[]> good = Arbitraries.of(ALL).list().ofMinSize(1).ofMaxSize(4)
            .map(messages -> HexFormat.of().parseHex(String.join("", messages)));
        final Arbitrary<byte[]> changed = good.flatMap(octets -> Arbitraries.integers().between(0, octets.length - 1)
            .list().ofMaxSize(3).flatMap(places -> Arbitraries.integers().between(0, octets.length).flatMap(length ->
                Arbitraries.bytes().array(byte[].class).ofSize(places.size()).map(values -> {
                    final byte[] copy = Arrays.copyOf(octets, length);
                    for (int i = 0; i < values.length; i++) {
                        if (places.get(i) < length) {
                            copy[places.get(i)] = values[i];
                        }
                    }
                    return copy;
                }))));
        return Arbitraries.oneOf(changed, Arbitraries.bytes().array(byte[].class).ofMaxSize(100));
    }
}
