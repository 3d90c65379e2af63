package io.flowlag.exporter.fuzz;

import io.flowlag.exporter.capture.file.CaptureFileTarget;
import io.flowlag.exporter.capture.filter.FilterTarget;
import io.flowlag.exporter.checkpoint.CheckpointTarget;
import io.flowlag.exporter.decode.PacketTarget;
import io.flowlag.exporter.exchange.link.ExchangeTarget;
import io.flowlag.exporter.export.spool.SpoolTarget;
import io.flowlag.exporter.monitoring.StatusTarget;
import io.flowlag.exporter.runtime.collect.IpfixTarget;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/** All targets, by the names that {@code bin/fuzz} and the corpus know. */
final class FuzzTargets {
    /** Those that run for each packet. */
    static final Set<String> OF_PACKETS = Set.of("decoder", "reference", "filter");

    private FuzzTargets() {
    }

    static Map<String, Supplier<FuzzTarget>> all() {
        final Map<String, Supplier<FuzzTarget>> all = new LinkedHashMap<>();
        all.put("decoder", PacketTarget::new);
        all.put("reference", ReferenceTarget::new);
        all.put("filter", FilterTarget::new);
        all.put("capture", CaptureFileTarget::new);
        all.put("ipfix", IpfixTarget::new);
        all.put("exchange", ExchangeTarget::new);
        all.put("reconciliation", ReconciliationTarget::new);
        all.put("config", ConfigTarget::new);
        all.put("network", NetworkTarget::new);
        all.put("status", StatusTarget::new);
        all.put("checkpoint", CheckpointTarget::new);
        all.put("spool", SpoolTarget::new);
        return all;
    }

    static FuzzTarget of(final String name) {
        final Supplier<FuzzTarget> supplier = all().get(name);
        if (supplier == null) {
            throw new IllegalArgumentException(name + " is no target; there are " + String.join(", ", all().keySet()));
        }
        return supplier.get();
    }
}
