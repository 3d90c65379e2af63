package io.flowlag.station.config;

import io.flowlag.common.config.BadValueException;
import io.flowlag.common.config.ConfigNode;
import io.flowlag.common.config.Origin;
import io.flowlag.common.config.Problems;
import io.flowlag.common.config.Sections;
import io.flowlag.common.config.UnitValue;
import io.flowlag.common.config.ValueType;
import io.flowlag.network.topology.NetworkMap;
import io.flowlag.network.topology.Topology;
import io.flowlag.station.job.JobSettings.ServiceLevel;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Reads the service levels of a station. Used by one thread. */
final class ServiceLevels {
    private static final String PATH = "slos";
    private static final int MOST = 100;
    private static final ValueType<Long> CLASS = UnitValue.count("0", "63");
    private static final ValueType<Long> BELOW = UnitValue.duration("1us", "10s");
    private static final ValueType<Double> SHARE = ValueType.of("0.5 to 0.99999", ServiceLevels::share);
    private static final String EXAMPLE = "{name: voice, class: 46, from: zrh, to: gva, below: 20ms, share: 0.999}";

    private final Sections sections;
    private final Problems problems;
    private final NetworkMap network;

    ServiceLevels(final Sections sections, final Problems problems, final NetworkMap network) {
        this.sections = sections;
        this.problems = problems;
        this.network = network;
    }

    /** {@return the levels of a list; none without one} */
    List<ServiceLevel> read(final ConfigNode.Entry list) {
        final List<ServiceLevel> levels = new ArrayList<>();
        if (list == null) {
            return levels;
        }
        if (!(list.value() instanceof ConfigNode.Sequence sequence)) {
            problems.add(list.origin(), PATH + ": is a list: write it as [" + EXAMPLE + "]");
            return levels;
        }
        if (sequence.items().size() > MOST) {
            problems.add(list.origin(), PATH + ": has more than " + MOST + " service levels");
            return levels;
        }
        final Set<String> names = new HashSet<>();
        for (final ConfigNode item : sequence.items()) {
            final Map<String, ConfigNode.Entry> keys =
                sections.keys(PATH, item, "name", "class", "from", "to", "below", "share");
            final String name = needed(keys, "name", item.origin());
            final String from = node(keys, "from", item.origin());
            final String to = node(keys, "to", item.origin());
            needed(keys, "below", item.origin());
            needed(keys, "share", item.origin());
            if (!name.isEmpty() && !names.add(name)) {
                problems.add(item.origin(), PATH + ".name=" + name + ": two have it: give each its own");
            }
            if (!from.isEmpty() && from.equals(to)) {
                problems.add(item.origin(), PATH + ".to=" + to + ": is where it begins: name another node");
            }
            levels.add(new ServiceLevel(name, sections.value(PATH, keys.get("class"), CLASS, -1L).intValue(), from, to,
                sections.value(PATH, keys.get("below"), BELOW, 0L), sections.value(PATH, keys.get("share"), SHARE, 0.0)));
        }
        return List.copyOf(levels);
    }

    private String needed(final Map<String, ConfigNode.Entry> keys, final String key, final Origin origin) {
        if (!keys.containsKey(key)) {
            problems.add(origin, PATH + "." + key + ": is missing: write such as " + EXAMPLE);
        }
        return sections.text(PATH, keys.get(key), "");
    }

    private String node(final Map<String, ConfigNode.Entry> keys, final String key, final Origin origin) {
        final String name = needed(keys, key, origin);
        if (!name.isEmpty() && network.topology().node(name) == Topology.NONE) {
            problems.add(keys.get(key).origin(), PATH + "." + key, name, "is no node of the network");
        }
        return name;
    }

    private static Double share(final String text) throws BadValueException {
        if (!text.matches("0\\.[5-9][0-9]{0,4}")) {
            throw new BadValueException("must be 0.5 to 0.99999");
        }
        return Double.parseDouble(text);
    }
}
