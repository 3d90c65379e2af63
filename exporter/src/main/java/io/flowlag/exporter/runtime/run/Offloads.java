package io.flowlag.exporter.runtime.run;

import io.flowlag.common.command.ExitCode;
import io.flowlag.common.command.ExitException;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.ExporterConfig.Offload;
import io.flowlag.exporter.config.ExporterConfig.Role;
import io.flowlag.exporter.reference.OffloadState;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Keeps the offloads of the segments' interfaces off that join or split packets, and switches them on again when it is closed.
 * Used by one thread.
 */
public final class Offloads implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Offloads.class);
    /** Something else may switch them on: another process that ends, or a driver that starts anew. */
    private static final long CHECK_NS = 5_000_000_000L;

    private final Offload mode;
    /** Empty if no delay is measured. */
    private final List<String> names;
    /** What was on, by interface, where something was. */
    private final Map<String, OffloadState> before = new LinkedHashMap<>();
    private long nextCheckNs;

    /**
     * Switches them off, or refuses them, as {@code segment.offload} says; of several segments the first of off, refuse, allow.
     *
     * @param nowNs of a clock that never steps.
     * @throws ExitException if one that is on is refused, or cannot be switched off; the message says what to do.
     */
    public Offloads(final ExporterConfig config, final long nowNs) {
        mode = config.segments().stream().map((each) -> each.segment().offload()).min(Comparator.naturalOrder()).orElseThrow();
        names = config.segments().stream().allMatch((each) -> each.segment().role() == Role.NONE) ? List.of() :
            LiveSegment.interfaces(config).stream().distinct().toList();
        nextCheckNs = nowNs + CHECK_NS;
        try {
            final String fault = mode == Offload.OFF ? off() : "";
            if (mode != Offload.ALLOW) {
                refuse(fault);
            }
        } catch (final ExitException ex) {
            close();
            throw ex;
        }
    }

    /** Returns why the kernel refuses, or "". */
    private String off() {
        String fault = "";
        for (final String name : names) {
            final OffloadState found = OffloadState.of(name);
            final String refusal = found.turn(false);
            if (!refusal.isEmpty()) {
                fault = refusal;
            } else if (!found.on().isEmpty() && before.putIfAbsent(name, found) == null) {
                LOG.info("{}: offloads that join or split packets are off while this process runs: {} (killed, it leaves them " +
                    "so: {})", name, String.join(" ", found.on()), found.line(true));
            } else if (!found.on().isEmpty()) {
                LOG.warn("{}: offloads came on and were switched off again: {}", name, String.join(" ", found.on()));
            }
        }
        return fault;
    }

    private void refuse(final String fault) {
        final List<String> lines = new ArrayList<>();
        final List<String> found = new ArrayList<>();
        for (final OffloadState each : names.stream().map(OffloadState::of).filter(OffloadState::isOn).toList()) {
            found.add(each.interfaceName() + " (" + text(each) + ")");
            if (!each.on().isEmpty()) {
                lines.add(each.line(false));
            }
        }
        if (!found.isEmpty()) {
            throw new ExitException(ExitCode.CONFIGURATION, "offloads join and split packets at " + String.join(" and ", found) +
                ", so the two points would see different ones" + (fault.isEmpty() ? ": " :
                ", and they cannot be switched off here (" + fault + "): run flowlag as root, or ") +
                (lines.isEmpty() ? "" : "run " + String.join(" && ", lines) + ", or ") + "set segment.offload to allow");
        }
    }

    private static String text(final OffloadState offloads) {
        final List<String> texts = new ArrayList<>(offloads.on());
        offloads.fixed().forEach((name) -> texts.add(name + " for ever"));
        return String.join(", ", texts);
    }

    /** Logs which interfaces may join packets in spite of all. */
    void tell() {
        for (final OffloadState each : names.stream().map(OffloadState::of).toList()) {
            if (!each.unreadable().isEmpty()) {
                LOG.warn("{}: its offloads cannot be read ({}): make sure that GRO, LRO, GSO and TSO are off",
                    each.interfaceName(), each.unreadable());
            } else if (each.isOn()) {
                LOG.warn("{}: offloads are on ({}) and segment.offload allows it: the points may see different packets",
                    each.interfaceName(), text(each));
            }
        }
    }

    /** Switches off, now and then, what came on. */
    public void keepHouse(final long nowNs) {
        if (mode == Offload.OFF && nowNs - nextCheckNs >= 0) {
            nextCheckNs = nowNs + CHECK_NS;
            off();
        }
    }

    @Override
    public void close() {
        before.forEach((name, found) -> {
            final String fault = found.turn(true);
            if (!fault.isEmpty()) {
                LOG.warn("{}: offloads stay off ({}): {}", name, fault, found.line(true));
            }
        });
    }
}
