package io.flowlag.exporter.runtime.doctor;

import io.flowlag.exporter.reference.CardRing;
import io.flowlag.exporter.reference.ClockState;
import io.flowlag.exporter.reference.OffloadState;
import io.flowlag.exporter.reference.QueueCapacity;
import io.flowlag.exporter.runtime.doctor.Finding.Verdict;
import org.junit.jupiter.api.Test;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** A host whose state is the test's; at first nothing is wrong with it. */
class HostExaminationTest {
    private final Map<String, String> files = new HashMap<>(Map.of(
        "/proc/sys/kernel/osrelease", "6.1.0", "/proc/self/status", "Name: java\nCapEff:\t0000000000002000",
        "/proc/meminfo", "MemAvailable:    8000000 kB", "/proc/self/limits", "Max open files  1024  4096  files",
        "/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc", "/sys/class/net/eth0/operstate", "up",
        "/sys/class/net/eth0/mtu", "1500", "/sys/class/net/eth0/speed", "10000",
        "/sys/class/net/eth0/queues/rx-0/rps_cpus", "00", "/proc/sys/net/core/netdev_max_backlog", "1000"));
    private OffloadState offloads = new OffloadState("eth0", List.of(), List.of(), "", List.of());
    private CardRing ring = new CardRing(4096, 4096);
    private ClockState.Reading clock = new ClockState.Reading(20_000, true, "");

    private List<Finding> examine(final String... names) {
        return HostExamination.of(new Host() {
            @Override
            public String text(final String path) {
                return files.getOrDefault(path, "");
            }

            @Override
            public List<String> interfaces() {
                return List.of("lo", "eth0", "eth1");
            }

            @Override
            public OffloadState offloads(final String interfaceName) {
                return offloads;
            }

            @Override
            public CardRing ring(final String interfaceName) {
                return ring;
            }

            @Override
            public QueueCapacity queue(final String interfaceName) {
                return new QueueCapacity("tbf", 40_000_000);
            }

            @Override
            public ClockState.Reading clock() {
                return clock;
            }
        }, List.of(names));
    }

    private void assertOne(final Verdict verdict, final String subject, final String words, final String remedy) {
        final List<Finding> wrong = examine().stream().filter((finding) -> finding.verdict() != Verdict.OK).toList();
        assertEquals(1, wrong.size(), wrong::toString);
        assertEquals(verdict, wrong.get(0).verdict());
        assertEquals(subject, wrong.get(0).subject());
        assertTrue(wrong.get(0).what().contains(words), wrong.get(0).what());
        assertEquals(remedy, wrong.get(0).remedy());
    }

    @Test
    void shouldFindNothingWrongWithASoundHost() {
        final List<Finding> findings = examine();
        assertTrue(findings.stream().allMatch((finding) -> finding.verdict() == Verdict.OK), findings::toString);
        final String link = "MTU 1500, 10 Gbit/s, shaped by tbf to 40000000 bits/s (--capacity 40000000)";
        assertTrue(findings.contains(Finding.ok("eth0", link)), findings::toString);
        assertTrue(findings.stream().noneMatch((finding) -> "lo".equals(finding.subject()) || "eth1".equals(finding.subject())));
    }

    @Test
    void shouldNameOffloadsWithTheLineThatTurnsThemOff() {
        offloads = new OffloadState("eth0", List.of("gro", "tso"), List.of(), "", List.of(0));
        assertOne(Verdict.NOTE, "eth0", "(gro, tso)", "ethtool -K eth0 gro off tso off");
        offloads = new OffloadState("eth0", List.of(), List.of(), "not supported", List.of());
        assertOne(Verdict.NOTE, "eth0", "not supported", "ethtool -k eth0");
    }

    @Test
    void shouldSeeThatTheUserMayNotCapture() {
        files.put("/proc/self/status", "CapEff:\t0000000000001000");
        assertOne(Verdict.BAD, "rights", "CAP_NET_RAW", "sudo flowlag run ..., or the service of the package");
    }

    @Test
    void shouldDoubtTheClock() {
        clock = new ClockState.Reading(16_000_000_000L, false, "unsynchronised");
        assertOne(Verdict.NOTE, "clock", "two hosts", "apt-get install chrony");
        clock = new ClockState.Reading(20_000, true, "");
        files.put("/sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet");
        assertOne(Verdict.NOTE, "clock", "hpet", "echo tsc >/sys/devices/system/clocksource/clocksource0/current_clocksource");
    }

    @Test
    void shouldFindRoomThatIsTooSmall() {
        ring = new CardRing(256, 4096);
        assertOne(Verdict.NOTE, "eth0", "256 of at most 4096", "ethtool -G eth0 rx 4096");
        ring = new CardRing(0, 0);
        files.put("/sys/class/net/eth0/queues/rx-0/rps_cpus", "2");
        assertOne(Verdict.NOTE, "eth0", "1000 places", "sysctl -w net.core.netdev_max_backlog=10000");
        files.put("/proc/sys/net/core/netdev_max_backlog", "10000");
        files.put("/proc/meminfo", "MemAvailable:    100000 kB");
        assertOne(Verdict.NOTE, "memory", "97 MiB", "flowlag check-config prints the bound; lower --max-flows");
        files.put("/proc/meminfo", "MemAvailable:    8000000 kB");
        files.put("/proc/self/limits", "Max open files  64  64  files");
        assertOne(Verdict.NOTE, "limits", "64 files", "ulimit -n 1024");
    }

    @Test
    void shouldReportLossesAndBridges() {
        files.put("/sys/class/net/eth0/statistics/rx_dropped", "3");
        files.put("/sys/class/net/eth0/statistics/rx_missed_errors", "4");
        assertOne(Verdict.NOTE, "eth0", "7 packets were lost", "ip -s link show eth0 shows whether it still happens");
        files.keySet().removeIf((path) -> path.contains("statistics"));
        files.put("/sys/class/net/eth0/master/ifindex", "9");
        assertOne(Verdict.NOTE, "eth0", "bridge", "name only one of them, or use --flow-key interface");
    }

    @Test
    void shouldKnowInterfacesThatAreDownOrMissing() {
        files.put("/sys/class/net/eth1/operstate", "down");
        assertTrue(examine("eth1").stream().anyMatch((finding) -> finding.verdict() == Verdict.BAD &&
            finding.remedy().equals("ip link set eth1 up")));
        assertTrue(examine("eth7").contains(
            Finding.bad("eth7", "there is no such interface", "one of lo, eth0, eth1")));
        files.remove("/sys/class/net/eth0/operstate");
        files.remove("/sys/class/net/eth1/operstate");
        assertOne(Verdict.NOTE, "interfaces", "none is up", "name one: flowlag doctor INTERFACE");
    }
}
