package io.flowlag.exporter.config;

import io.flowlag.common.config.BadValueException;
import io.flowlag.common.config.ConfigNode;
import io.flowlag.common.config.Names;
import io.flowlag.common.config.Origin;
import io.flowlag.common.config.Problems;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Reads the list of destinations: addresses, maps of an address and keys, and keys after an address. Used by one thread. */
final class DestinationReader {
    private static final String PATH = ConfigTable.DESTINATIONS.path();
    private static final String URI_NAME = "uri";

    private final Problems problems;

    DestinationReader(final Problems problems) {
        this.problems = problems;
    }

    /** The valid destinations of a file; faults are added to the problems. */
    List<DestinationSpec> read(final ConfigNode node) {
        final List<ConfigNode> items = node instanceof ConfigNode.Sequence sequence ? sequence.items() : List.of(node);
        final List<DestinationSpec> specs = new ArrayList<>();
        for (int i = 0; i < items.size(); i++) {
            final DestinationSpec spec = destination(PATH + "[" + i + "]", items.get(i));
            if (spec != null) {
                specs.add(spec);
            }
        }
        return specs;
    }

    /** A destination of the command line, or null if it is invalid. */
    DestinationSpec read(final Origin origin, final String uri) {
        return address(PATH, origin, uri);
    }

    private DestinationSpec destination(final String path, final ConfigNode node) {
        if (node instanceof ConfigNode.Scalar scalar && scalar.text() != null) {
            return address(path, scalar.origin(), scalar.text());
        }
        if (node instanceof ConfigNode.Mapping mapping) {
            return fromMap(path, mapping);
        }
        problems.add(node.origin(), path + ": is no destination: write a URI such as udp://192.0.2.1:4739, or a map with a uri");
        return null;
    }

    private DestinationSpec fromMap(final String path, final ConfigNode.Mapping mapping) {
        DestinationSpec spec = null;
        for (final ConfigNode.Entry entry : mapping.entries()) {
            if (URI_NAME.equals(entry.name()) && entry.value() instanceof ConfigNode.Scalar scalar && scalar.text() != null) {
                spec = address(path + ".uri", scalar.origin(), scalar.text());
                if (spec == null) {
                    return null;
                }
            }
        }
        if (spec == null) {
            problems.add(mapping.origin(), path + ": a destination needs a uri, such as 'uri: udp://192.0.2.1:4739'");
            return null;
        }
        for (final ConfigNode.Entry entry : mapping.entries()) {
            if (!URI_NAME.equals(entry.name())) {
                overrideFromMap(spec, path, entry);
            }
        }
        return spec;
    }

    private void overrideFromMap(final DestinationSpec spec, final String path, final ConfigNode.Entry entry) {
        if (entry.value() instanceof ConfigNode.Scalar scalar && scalar.text() != null) {
            override(spec, path, entry.origin(), scalar.origin(), entry.name(), scalar.text());
        } else {
            problems.add(entry.value().origin(), path + "." + entry.name() + ": write one value after the colon");
        }
    }

    private DestinationSpec address(final String path, final Origin origin, final String text) {
        try {
            final DestinationUri uri = DestinationUri.parse(text);
            final DestinationSpec spec = new DestinationSpec(origin, uri);
            for (final Map.Entry<String, String> parameter : uri.query()) {
                override(spec, path, origin, origin, parameter.getKey(), parameter.getValue());
            }
            return spec;
        } catch (final BadValueException ex) {
            problems.add(origin, path, text, ex.getMessage());
            return null;
        }
    }

    private void override(final DestinationSpec spec, final String path, final Origin nameOrigin, final Origin origin,
        final String name, final String text) {
        final ConfigKey<?> key = ConfigTable.key("exporting." + name);
        final String transport = ValueTypes.name(spec.uri().transport());
        if (key == null || !key.isPerDestination()) {
            final List<String> known = ConfigTable.destinationKeys().stream().map(ConfigKey::name).toList();
            problems.add(nameOrigin, path, name, "is no key of a destination" + knownNames(name, known));
        } else if (!key.transports().contains(spec.uri().transport())) {
            problems.add(nameOrigin, path, name, "means nothing for a " + transport + " destination: leave it out");
        } else {
            final Setting setting = setting(path + "." + name, key, origin, text);
            if (setting != null && spec.overrides().putIfAbsent(key, setting) != null) {
                problems.add(nameOrigin, path, name, "is given twice for " + spec.uri().text() + ": leave one out");
            }
        }
    }

    private Setting setting(final String path, final ConfigKey<?> key, final Origin origin, final String text) {
        try {
            return new Setting(key.type().parse(text), text, origin);
        } catch (final BadValueException ex) {
            problems.add(origin, path, text, ex.getMessage());
            return null;
        }
    }

    private static String knownNames(final String name, final List<String> known) {
        final String nearest = Names.didYouMean(name, known);
        return nearest.isEmpty() ? ": it may have " + String.join(", ", known) : nearest;
    }
}
