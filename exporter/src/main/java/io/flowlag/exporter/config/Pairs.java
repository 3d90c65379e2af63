package io.flowlag.exporter.config;

import java.util.List;
import java.util.stream.Stream;

/** Several segments between interfaces of this host, all with role both; empty where the process has one segment. */
public record Pairs(List<ExporterConfig.Segment> segments) {
    /** {@return the interfaces, each once} */
    public List<String> interfaces() {
        return segments.stream().flatMap((it) -> Stream.of(it.points().ingress(), it.points().egress())).distinct().toList();
    }

    /** {@return whether prefixes or VLANs tell the packets of the segments; else the points alone do} */
    public boolean areSelected() {
        return segments.stream().anyMatch((each) -> !each.selector().selectsAll());
    }
}
