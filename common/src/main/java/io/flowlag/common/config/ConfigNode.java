package io.flowlag.common.config;

import java.util.List;

/** A node of a configuration file with its position, made by {@link YamlReader}. Immutable. */
public sealed interface ConfigNode {
    /** Where it begins. */
    Origin origin();

    /** A text; null if the file has nothing after the colon. */
    record Scalar(Origin origin, String text) implements ConfigNode {
    }

    /** Values in sequence. */
    record Sequence(Origin origin, List<ConfigNode> items) implements ConfigNode {
    }

    /** Named values in the order of the file; names are unique. */
    record Mapping(Origin origin, List<Entry> entries) implements ConfigNode {
    }

    /** A name with its place, and its value. */
    record Entry(String name, Origin origin, ConfigNode value) {
    }
}
