package io.flowlag.exporter.runtime.doctor;

import io.flowlag.exporter.reference.CardRing;
import io.flowlag.exporter.reference.ClockState;
import io.flowlag.exporter.reference.OffloadState;
import io.flowlag.exporter.reference.QueueCapacity;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Looks at a host and its interfaces: what would spoil a measurement, and how to mend it. It changes nothing and needs no rights.
 * One thread, once.
 */
public final class HostExamination {
    private static final String INTERFACES = "/sys/class/net/";
    private static final int CAP_NET_RAW = 13;
    private static final Pattern CAPABILITIES = Pattern.compile("CapEff:\\s*([0-9a-f]{1,16})");
    private static final Pattern AVAILABLE = Pattern.compile("MemAvailable:\\s*([0-9]{1,15}) kB");
    private static final Pattern FILES = Pattern.compile("Max open files\\s+([0-9]{1,9}|unlimited)");
    private static final Pattern ANY_PROCESSOR = Pattern.compile("[1-9a-f]");
    private static final long LEAST_MEMORY_MIB = 512;
    private static final int LEAST_FILES = 256;
    private static final int LEAST_BACKLOG = 10_000;
    private static final long KIB_PER_MIB = 1024;
    private static final int MBPS_PER_GBPS = 1000;
    private static final double NS_PER_US = 1e3;
    /** Clocks of the kernel that a process reads without a system call. */
    private static final Set<String> FAST_CLOCKS = Set.of("tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page");

    private final Host host;
    private final List<Finding> findings = new ArrayList<>();

    private HostExamination(final Host host) {
        this.host = host;
    }

    /**
     * Looks at this host.
     *
     * @param interfaces names; empty for all that are up, loopback apart.
     */
    public static List<Finding> ofThisHost(final List<String> interfaces) {
        return of(Host.THIS, interfaces);
    }

    static List<Finding> of(final Host host, final List<String> interfaces) {
        final HostExamination examination = new HostExamination(host);
        examination.examineHost();
        final List<String> chosen = interfaces.isEmpty() ? host.interfaces().stream()
            .filter((name) -> !"lo".equals(name) && examination.isUp(name)).toList() : interfaces;
        if (chosen.isEmpty()) {
            examination.findings.add(Finding.note(
                "interfaces", "none is up but loopback", "name one: flowlag doctor INTERFACE"));
        }
        chosen.forEach(examination::examine);
        return examination.findings;
    }

    /** {@return what is known of an interface of this host, in a line: MTU, speed, queue, offloads that join or split packets} */
    public static String interfaceText(final String name) {
        final HostExamination examination = new HostExamination(Host.THIS);
        final OffloadState offloads = Host.THIS.offloads(name);
        final QueueCapacity queue = Host.THIS.queue(name);
        final String kind = queue.rateBps() > 0 ? "" : queue.kind();
        final List<String> names = new ArrayList<>(offloads.on());
        names.addAll(offloads.fixed());
        return examination.link(name) + (kind.isEmpty() ? "" : ", queue " + kind) + ", offloads " +
            (!offloads.unreadable().isEmpty() ? "unknown" : names.isEmpty() ? "off" : String.join(" ", names));
    }

    private void examineHost() {
        final String kernel = host.text("/proc/sys/kernel/osrelease");
        findings.add(kernel.isEmpty() ? Finding.bad("kernel", "this is not Linux: only run --source pcap captures here", "") :
            Finding.ok("kernel", "Linux " + kernel));
        examineRights();
        examineClock();
        examineLimits();
    }

    private void examineRights() {
        final Matcher effective = CAPABILITIES.matcher(host.text("/proc/self/status"));
        final boolean mayCapture =
            effective.find() && (Long.parseUnsignedLong(effective.group(1), 16) >>> CAP_NET_RAW & 1) != 0;
        findings.add(mayCapture ? Finding.ok("rights", "this user may capture (CAP_NET_RAW)") : Finding.bad("rights",
            "this user may not capture: CAP_NET_RAW is missing", "sudo flowlag run ..., or the service of the package"));
    }

    private void examineClock() {
        final ClockState.Reading clock = host.clock();
        findings.add(clock.isSynchronized() ? Finding.ok("clock", String.format(
            Locale.ROOT, "it is synchronised, off by %.0f us at most", clock.errorNs() / NS_PER_US)) :
            Finding.note("clock", "nothing synchronises it: with two hosts, delays have an unknown offset; on one host it " +
                "does not matter", "apt-get install chrony"));
        final String source = host.text("/sys/devices/system/clocksource/clocksource0/current_clocksource");
        if (!source.isEmpty() && !FAST_CLOCKS.contains(source)) {
            findings.add(Finding.note("clock", "the kernel's clock source is " + source + ": each timestamp takes a system call",
                "echo tsc >/sys/devices/system/clocksource/clocksource0/current_clocksource"));
        }
    }

    private void examineLimits() {
        final Matcher memory = AVAILABLE.matcher(host.text("/proc/meminfo"));
        if (memory.find()) {
            final long mib = Long.parseLong(memory.group(1)) / KIB_PER_MIB;
            findings.add(mib >= LEAST_MEMORY_MIB ? Finding.ok("memory", mib + " MiB are available") :
                Finding.note("memory", mib + " MiB are available: the defaults need some 300, with delay more",
                    "flowlag check-config prints the bound; lower --max-flows"));
        }
        final Matcher files = FILES.matcher(host.text("/proc/self/limits"));
        if (files.find() && !"unlimited".equals(files.group(1)) && Integer.parseInt(files.group(1)) < LEAST_FILES) {
            findings.add(Finding.note("limits", "a process may open " + files.group(1) + " files only", "ulimit -n 1024"));
        }
    }

    private boolean isUp(final String name) {
        return Set.of("up", "unknown").contains(host.text(INTERFACES + name + "/operstate"));
    }

    private void examine(final String name) {
        if (!host.interfaces().contains(name)) {
            findings.add(Finding.bad(name, "there is no such interface", "one of " + String.join(", ", host.interfaces())));
            return;
        }
        if (!isUp(name)) {
            final String state = host.text(INTERFACES + name + "/operstate");
            findings.add(Finding.bad(name, "it is " + state, "ip link set " + name + " up"));
        }
        findings.add(Finding.ok(name, link(name)));
        examineOffloads(name);
        examineRing(name);
        examineLosses(name);
        final String master = host.text(INTERFACES + name + "/master/ifindex");
        if (!master.isEmpty()) {
            findings.add(Finding.note(name, "it belongs to a bridge or bond, which sees the same packets",
                "name only one of them, or use --flow-key interface"));
        }
    }

    private String link(final String name) {
        final StringBuilder link = new StringBuilder("MTU ").append(host.text(INTERFACES + name + "/mtu"));
        final String speed = host.text(INTERFACES + name + "/speed");
        if (speed.matches("[1-9][0-9]{0,8}")) {
            final int mbps = Integer.parseInt(speed);
            link.append(mbps % MBPS_PER_GBPS == 0 ? ", " + mbps / MBPS_PER_GBPS + " Gbit/s" : ", " + mbps + " Mbit/s");
        }
        final QueueCapacity queue = host.queue(name);
        if (queue.rateBps() > 0) {
            link.append(", shaped by ").append(queue.kind()).append(" to ").append(queue.rateBps())
                .append(" bits/s (--capacity ").append(queue.rateBps()).append(')');
        }
        return link.toString();
    }

    private void examineOffloads(final String name) {
        final OffloadState offloads = host.offloads(name);
        if (!offloads.unreadable().isEmpty()) {
            findings.add(Finding.note(name, "its offloads cannot be read: " + offloads.unreadable(), "ethtool -k " + name));
        } else if (offloads.isOn()) {
            final List<String> names = new ArrayList<>(offloads.on());
            names.addAll(offloads.fixed());
            findings.add(Finding.note(name, "offloads join and split packets (" + String.join(", ", names) +
                "): a run with delay switches them off; without it, and in captures, packets are too few", offloads.line(false)));
        } else {
            findings.add(Finding.ok(name, "no offload joins or splits packets"));
        }
    }

    private void examineRing(final String name) {
        final CardRing ring = host.ring(name);
        if (ring.packets() > 0 && ring.packets() < ring.mostPackets()) {
            findings.add(Finding.note(name, "the card's ring has " + ring.packets() + " of at most " + ring.mostPackets() +
                " packets: bursts may be lost before anything counts them", "ethtool -G " + name + " rx " + ring.mostPackets()));
        }
        final String backlog = host.text("/proc/sys/net/core/netdev_max_backlog");
        if (ANY_PROCESSOR.matcher(host.text(INTERFACES + name + "/queues/rx-0/rps_cpus")).find() &&
            backlog.matches("[0-9]{1,9}") && Integer.parseInt(backlog) < LEAST_BACKLOG) {
            findings.add(Finding.note(name, "packets are steered to other processors, whose queues have " + backlog + " places",
                "sysctl -w net.core.netdev_max_backlog=" + LEAST_BACKLOG));
        }
    }

    private void examineLosses(final String name) {
        long lost = 0;
        for (final String counter : List.of("rx_dropped", "rx_missed_errors", "rx_fifo_errors")) {
            final String count = host.text(INTERFACES + name + "/statistics/" + counter);
            lost += count.matches("[0-9]{1,18}") ? Long.parseLong(count) : 0;
        }
        if (lost > 0) {
            findings.add(Finding.note(name, lost + " packets were lost in the card or the kernel since it came up; flowlag " +
                "cannot see those", "ip -s link show " + name + " shows whether it still happens"));
        }
    }
}
