package io.flowlag.exporter.config;

import io.flowlag.common.config.Origin;
import io.flowlag.common.config.Problems;
import io.flowlag.exporter.config.ExporterConfig.Policy;
import io.flowlag.exporter.config.ExporterConfig.Role;
import io.flowlag.exporter.config.ExporterConfig.Segment;
import io.flowlag.exporter.config.ExporterConfig.SourceKind;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;

import static io.flowlag.exporter.config.ConfigTable.*;

/** Makes the segments between interfaces of this host, and one configuration of several of them. */
final class LocalSegments {
    /** The number of a segment from the i-th to the j-th interface is this times i, and j. */
    private static final long NUMBERS_OF_INTERFACE = 1000;
    private static final int MOST_SEGMENTS = 250;
    private static final int MOST_POINTS = 128;
    private static final int MOST_STREAMS = 256;
    private static final List<ConfigKey<?>> OWN = List.of(SEGMENT_ID, INGRESS, EGRESS, SEGMENT_SOURCE, SEGMENT_DESTINATION,
        SEGMENT_VLAN);

    private final List<SegmentEntry> entries;
    private final Problems problems;

    /** The entries of the list, which {@link #addAll} fills. */
    LocalSegments(final List<SegmentEntry> entries, final Problems problems) {
        this.entries = entries;
        this.problems = problems;
    }

    /** Adds an entry of each ordered pair of interfaces; its other settings are those of a common entry. */
    void addAll(final SegmentEntry common, final List<String> names) {
        for (final ConfigKey<?> key : List.of(ROLE, SEGMENT_ID, INGRESS, EGRESS)) {
            final Setting given = common.settings().get(key);
            if (!given.origin().isDefault()) {
                problems.add(given.origin(), key.path(), given.text(), "segments.auto gives each segment one: leave this out");
            }
        }
        if (names.size() < 2 || names.contains(null) || new HashSet<>(names).size() < names.size()) {
            problems.add(common.origin(), ConfigLoader.SEGMENTS + ".auto: is a list of two or more different interfaces");
            return;
        }
        for (int i = 0; i < names.size(); i++) {
            for (int j = 0; j < names.size(); j++) {
                if (i != j) {
                    entries.add(entry(common, NUMBERS_OF_INTERFACE * (i + 1) + j + 1, names.get(i), names.get(j)));
                }
            }
        }
    }

    private static SegmentEntry entry(
        final SegmentEntry common, final long number, final String ingress, final String egress) {
        final Map<ConfigKey<?>, Setting> settings = new HashMap<>(common.settings());
        settings.put(ROLE, new Setting(Role.BOTH, "both", common.origin()));
        settings.put(SEGMENT_ID, new Setting(number, Long.toString(number), common.origin()));
        settings.put(INGRESS, new Setting(ingress, ingress, common.origin()));
        settings.put(EGRESS, new Setting(egress, egress, common.origin()));
        return new SegmentEntry(common.origin(), settings);
    }

    /** Returns the configuration of a process with several segments; throws a {@link ConfigurationException} if it cannot be. */
    ExporterConfig conclude(final List<ExporterConfig> views) {
        final ExporterConfig first = views.get(0);
        final Pairs pairs = new Pairs(views.stream().map(ExporterConfig::segment).toList());
        final long streams = (long)pairs.interfaces().size() * first.rli().classCount();
        if (views.size() > MOST_SEGMENTS || pairs.interfaces().size() > MOST_POINTS || streams > MOST_STREAMS) {
            problems.add(entries.get(0).origin(), ConfigLoader.SEGMENTS + ": has " + views.size() + " segments between " +
                pairs.interfaces().size() + " interfaces: at most " + MOST_SEGMENTS + " segments, " + MOST_POINTS +
                " interfaces, and " + MOST_STREAMS + " classes (rli.classes) of all interfaces can be");
        }
        for (int i = 0; i < views.size(); i++) {
            final Origin origin = entries.get(i).origin();
            sameKeys(views.get(i), first, origin);
            matchedOnly(views.get(i), origin);
            if (pairs.areSelected()) {
                selectors(pairs, i);
            }
        }
        ConfigurationException.throwIfAny(problems);
        final List<String> interfaces = Stream.concat(pairs.interfaces().stream(), first.capture().interfaces().stream())
            .distinct().toList();
        return new ExporterConfig(
            first.with(first.segment().withoutSelector()).with(pairs).with(first.capture().withInterfaces(interfaces)).sections(),
            values(views), first.warnings());
    }

    /** One matcher has the packets of all of them. */
    private void sameKeys(final ExporterConfig view, final ExporterConfig first, final Origin origin) {
        for (final EffectiveValue each : view.effectiveValues()) {
            final ConfigKey<?> key = ConfigTable.key(each.path());
            final EffectiveValue ofFirst = key == null || OWN.contains(key) ? each : first.effectiveValue(key);
            final boolean isGiven = !each.origin().isDefault() || !ofFirst.origin().isDefault();
            if (isGiven && !Objects.equals(each.value(), ofFirst.value())) {
                problem(each, origin, "is one for all segments between interfaces of one host, and the first has " +
                    ofFirst.text() + ": make them equal");
            }
        }
    }

    private void matchedOnly(final ExporterConfig view, final Origin origin) {
        final String remedy = "cannot be with several segments between interfaces of one host, which match every packet: ";
        if (view.rli().injection().policy() == Policy.PASSIVE) {
            problem(view.effectiveValue(POLICY), origin, remedy + "leave this out");
        }
        if (view.rli().references().target() != null) {
            problem(view.effectiveValue(TARGET), origin, remedy + "leave this out");
        }
        if (view.lds().enabled()) {
            problem(view.effectiveValue(LDS_ENABLED), origin, remedy + "set it to off");
        }
        if (!view.segment().exact()) {
            problem(view.effectiveValue(EXACT), origin, remedy + "leave this out");
        }
        if (view.capture().source() == SourceKind.PCAP) {
            problem(view.effectiveValue(SOURCE), origin, remedy + "set it to afpacket, which tells the direction of packets");
        }
    }

    /** Where one segment has a selector, those that begin at one interface need different ones. */
    private void selectors(final Pairs pairs, final int index) {
        final Segment segment = pairs.segments().get(index);
        for (int i = 0; i < index; i++) {
            final Segment other = pairs.segments().get(i);
            final boolean isSameBegin = segment.points().ingress().equals(other.points().ingress()) &&
                !segment.points().egress().equals(other.points().egress()) &&
                segment.selector().vlanId() == other.selector().vlanId();
            if (isSameBegin && (share(segment, other, false) || share(segment, other, true))) {
                problems.add(entries.get(index).origin(), ConfigLoader.SEGMENTS + ": segments " + other.id() + " and " +
                    segment.id() + " begin at " + segment.points().ingress() + " and select the same packets: give each other " +
                    "prefixes (segment.source, segment.destination) or VLAN, or give no segment any, so that the kernel's " +
                    "routes tell");
            }
        }
    }

    private static boolean share(final Segment one, final Segment other, final boolean isIpv6) {
        return SegmentRelations.share(one.selector().sources(), other.selector().sources(), isIpv6) &&
            SegmentRelations.share(one.selector().destinations(), other.selector().destinations(), isIpv6);
    }

    private void problem(final EffectiveValue value, final Origin origin, final String message) {
        problems.add(value.origin().isDefault() ? origin : value.origin(), value.path(), value.text(), message);
    }

    /** The values of the first segment, with those of each segment in the place of its own. */
    private static List<EffectiveValue> values(final List<ExporterConfig> views) {
        final List<EffectiveValue> values = new ArrayList<>();
        for (final EffectiveValue value : views.get(0).effectiveValues()) {
            final ConfigKey<?> key = ConfigTable.key(value.path());
            if (key == SEGMENT_ID) {
                addOwn(values, views);
            }
            if (key == null || !OWN.contains(key)) {
                values.add(value);
            }
        }
        return List.copyOf(values);
    }

    private static void addOwn(final List<EffectiveValue> values, final List<ExporterConfig> views) {
        final List<Long> numbers = views.stream().map((each) -> each.segment().id()).toList();
        values.add(new EffectiveValue(ConfigLoader.SEGMENTS, numbers.toString(),
            views.get(0).effectiveValue(SEGMENT_ID).origin(), "their numbers", false, views.stream().map((each) ->
            List.of(each.segment().id(), each.segment().points())).toList()));
        for (final ExporterConfig view : views) {
            for (final ConfigKey<?> key : OWN.subList(1, OWN.size())) {
                final EffectiveValue own = view.effectiveValue(key);
                if (!own.origin().isDefault()) {
                    values.add(new EffectiveValue(ConfigLoader.SEGMENTS + "[" + view.segment().id() + "]." + key.name(),
                        own.text(), own.origin(), own.note(), own.reloadable(), own.value()));
                }
            }
        }
    }
}
