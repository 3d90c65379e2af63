package io.flowlag.tests.system;

import io.flowlag.exporter.capture.route.RouteFollower;
import io.flowlag.exporter.capture.route.RouteTable;
import io.flowlag.tests.support.Deadline;
import io.flowlag.tests.support.NetworkNamespace;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** The routes of a real kernel, as they change, against the answers of {@code ip route get}. */
@Tag("topology")
class KernelRoutesTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(20);
    private static final int MAX_ROUTES = 10_000;
    private static final Pattern DEVICE = Pattern.compile("(?:^|.* )dev (\\S+).*");
    private static final Pattern FAILED = Pattern.compile("Command failed -:(\\d+)");
    private static final List<String> ADDRESSES = List.of(
        "10.0.0.1", "10.0.0.2", "10.0.0.255", "10.0.1.0", "10.0.1.77", "10.0.2.5", "10.5.0.0", "10.5.255.255", "10.5.7.8",
        "10.6.0.1", "10.7.0.1", "10.8.0.1", "10.9.0.1", "10.9.9.9", "11.0.0.0",
        "192.0.2.1", "9.255.255.255", "127.0.0.1", "127.1.2.3",
        "2001:db8::1", "2001:db8::2", "2001:db8:0:1::5", "2001:db8:5::1", "2001:db8:6::1", "2001:db8:7::1", "2001:db9::1", "::1");

    private NetworkNamespace namespace;
    private RouteFollower follower;
    private Map<Integer, String> names;

    @BeforeEach
    void makeNamespace() throws Exception {
        NetworkNamespace.assumeAvailable();
        namespace = NetworkNamespace.create("routes", true);
        for (int i = 0; i < 3; i++) {
            namespace.connect("left" + i, namespace, "right" + i);
            namespace.addAddress("left" + i, "10.0." + i + ".1/24");
            namespace.addAddress("left" + i, "2001:db8:0:" + i + "::1/64");
        }
        names = interfaces();
        follower = namespace.call(() -> new RouteFollower(MAX_ROUTES, System.nanoTime()));
    }

    private Map<Integer, String> interfaces() throws IOException {
        final Map<Integer, String> byIndex = new TreeMap<>();
        final Matcher line = Pattern.compile("(?m)^(\\d+): ([^:@]+)").matcher(namespace.ip("-o", "link"));
        while (line.find()) {
            byIndex.put(Integer.parseInt(line.group(1)), line.group(2));
        }
        return byIndex;
    }

    @AfterEach
    void deleteNamespace() throws IOException {
        if (follower != null) {
            follower.close();
        }
        if (namespace != null) {
            namespace.close();
        }
    }

    @Test
    void shouldAnswerAsTheKernelWhileRoutesChange() throws IOException {
        awaitKernelsAnswers("at the beginning");
        for (final String change : List.of(
            "route add 10.5.0.0/16 via 10.0.1.9", "route add 10.5.7.0/24 via 10.0.2.9", "route replace 10.5.0.0/16 via 10.0.0.9",
            "route add 10.5.0.0/16 via 10.0.2.9 metric 5", "route del 10.5.0.0/16 metric 0",
            "route append 10.5.7.0/24 via 10.0.1.9",
            "route prepend 10.5.7.0/24 via 10.0.0.9", "route del 10.5.7.0/24 via 10.0.0.9", "route add unreachable 10.7.0.0/16",
            "route add blackhole 10.8.0.0/16", "route add throw 10.9.0.0/16", "route add default via 10.0.2.1",
            "route add prohibit 192.0.2.0/24", "route change default via 10.0.1.1",
            "route add 2001:db8:5::/48 via 2001:db8:0:1::9", "route replace 2001:db8:5::/48 via 2001:db8:0:2::9",
            "route add 2001:db8:5::/48 via 2001:db8:0:1::9 metric 9", "route del 2001:db8:5::/48 via 2001:db8:0:1::9",
            "route add unreachable 2001:db8:6::/48", "route add default via 2001:db8::9",
            "nexthop add id 7 via 10.0.1.8 dev left1", "route add 10.6.0.0/16 nhid 7",
            "nexthop replace id 7 via 10.0.0.8 dev left0", "nexthop del id 7",
            "address add 10.9.9.9/32 dev left1", "link set left1 down", "link set left1 up", "address del 10.0.2.1/24 dev left2",
            "link del left0", "route flush table main")) {
            namespace.ip(change.split(" "));
            awaitKernelsAnswers(change);
        }
        assertTrue(follower.dumpCount() > 1);
        assertEquals(0, follower.overrunCount());
        assertEquals(List.of(), follower.notices());
    }

    /** The kernel takes one of the interfaces by a hash. */
    @Test
    void shouldKnowAllInterfacesOfAMultipathRoute() throws IOException {
        namespace.ip("route", "add", "10.5.0.0/16", "nexthop", "via", "10.0.0.9", "nexthop", "via", "10.0.1.9");
        namespace.ip("route", "add", "10.6.0.0/16", "nexthop", "via", "10.0.2.8", "nexthop", "via", "10.0.2.9");
        namespace.ip("route", "add", "2001:db8:5::/48", "nexthop", "via", "2001:db8::9", "nexthop", "via", "2001:db8:0:2::9");
        awaitEgress("10.5.0.1", List.of("left0", "left1"));
        awaitEgress("10.6.0.1", List.of("left2"));
        awaitEgress("2001:db8:5::1", List.of("left0", "left2"));
        final List<String> several = IntStream.range(1, 50).mapToObj(i -> "10.5.0." + i).toList();
        final List<String> taken = kernelsAnswers(several);
        for (int i = 0; i < several.size(); i++) {
            assertTrue(egress(several.get(i)).contains(taken.get(i)));
        }
        assertEquals(2, taken.stream().distinct().count());
        namespace.ip("route", "del", "2001:db8:5::/48", "via", "2001:db8::9");
        awaitEgress("2001:db8:5::1", List.of("left2"));
        namespace.ip("link", "set", "left1", "down");
        awaitEgress("10.5.0.1", List.of("left0"));
        awaitEgress("224.0.0.5", List.of("unknown"));
    }

    @Test
    void shouldKnowNothingWhileRulesChooseAndTellItOnce() throws IOException {
        awaitEgress("10.0.1.7", List.of("left1"));
        for (int round = 0; round < 2; round++) {
            namespace.ip("rule", "add", "fwmark", "7", "lookup", "100");
            awaitEgress("10.0.1.7", List.of("unknown"));
            assertEquals(List.of("left1"), egress("2001:db8:0:1::7"));
            assertEquals(round == 0 ? 1 : 0, follower.notices().size());
            namespace.ip("rule", "del", "fwmark", "7", "lookup", "100");
            awaitEgress("10.0.1.7", List.of("left1"));
        }
    }

    /** Far more than the socket's buffer holds, while nothing is taken from it. */
    @Test
    void shouldReadAllAgainAfterAnOverrun() throws IOException {
        awaitEgress("10.0.1.7", List.of("left1"));
        final List<String> added = IntStream.range(0, 9000).mapToObj(i ->
            "route add 100." + (i >> 8) + "." + (i & 255) + ".0/24 via 10.0." + i % 3 + ".9").toList();
        batch(added);
        awaitEgress("100.35.39.1", List.of("left2"));
        assertTrue(follower.overrunCount() > 0);
        final List<String> addresses = IntStream.range(0, 100).mapToObj(i -> "100." + i % 35 + "." + i + ".9").toList();
        Deadline.await(TIMEOUT, () -> poll() && addresses.stream().noneMatch(address -> egress(address).isEmpty()),
            () -> "all routes");
        assertEquals(kernelsAnswers(addresses), addresses.stream().map(address -> egress(address).get(0)).toList());
        assertEquals(0, follower.refusedCount());
        batch(IntStream.range(0, 3000).mapToObj(i ->
            "route add 101." + (i >> 8) + "." + (i & 255) + ".0/24 via 10.0.0.9").toList());
        awaitEgress("10.0.1.7", List.of("unknown"));
        assertTrue(follower.refusedCount() > 0);
        assertEquals(1, follower.notices().size());
    }

    private boolean poll() {
        while (follower.poll(System.nanoTime()) > 0) {
            continue;
        }
        return true;
    }

    private void awaitEgress(final String address, final List<String> expected) {
        Deadline.await(TIMEOUT, () -> poll() && expected.equals(egress(address)), () -> address + " by " + expected + ", not " +
            egress(address));
    }

    private void awaitKernelsAnswers(final String change) throws IOException {
        final List<String> expected = kernelsAnswers(ADDRESSES);
        Deadline.await(TIMEOUT, () -> poll() && expected.equals(answers()), () -> change + ": " + ADDRESSES + " by\n" + expected +
            ", not\n" + answers());
    }

    private List<String> answers() {
        return ADDRESSES.stream().map(address -> String.join(" ", egress(address))).toList();
    }

    private List<String> egress(final String address) {
        final RouteTable table = follower.table();
        final ByteBuffer octets = ByteBuffer.wrap(octets(address));
        final boolean isIpv6 = octets.capacity() > Integer.BYTES;
        final int egress = isIpv6 ? table.egress(true, octets.getLong(0), octets.getLong(8)) :
            table.egress(false, 0, octets.getInt(0) & 0xffff_ffffL);
        return egress == RouteTable.UNKNOWN ? List.of("unknown") :
            names.entrySet().stream().filter(entry -> table.isAmong(egress, entry.getKey())).map(Map.Entry::getValue).toList();
    }

    private static byte[] octets(final String address) {
        try {
            return InetAddress.getByName(address).getAddress();
        } catch (final UnknownHostException ex) {
            throw new AssertionError(ex);
        }
    }

    /** The device of each address, or nothing if it does not leave. */
    private List<String> kernelsAnswers(final List<String> addresses) throws IOException {
        final List<String> answers = new ArrayList<>();
        for (final String line : batch(addresses.stream().map(address -> "route get " + address).toList()).split("\n")) {
            final Matcher failed = FAILED.matcher(line);
            final Matcher device = DEVICE.matcher(line);
            if (failed.matches()) {
                answers.add("");
            } else if (device.matches()) {
                answers.add(line.matches("(local|broadcast|anycast) .*") ? "" : device.group(1));
            }
        }
        assertEquals(addresses.size(), answers.size());
        return answers;
    }

    private String batch(final List<String> commands) throws IOException {
        final Process process = new ProcessBuilder("ip", "-n", namespace.name(), "-o", "-force", "-batch", "-")
            .redirectErrorStream(true).start();
        process.getOutputStream().write((String.join("\n", commands) + "\n").getBytes(StandardCharsets.UTF_8));
        process.getOutputStream().close();
        return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }
}
