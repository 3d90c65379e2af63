package io.flowlag.exporter.config;

import io.flowlag.common.config.Origin;
import io.flowlag.common.config.Problems;
import io.flowlag.exporter.config.ExporterConfig.KeyField;
import io.flowlag.exporter.config.ExporterConfig.Role;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Joins the views of several segments to the configuration of one process that measures them all. Stateless. */
public final class SeveralSegments {
    private static final Set<String> SEGMENT_SECTIONS = Set.of("segment", "rli", "exchange", "lds");

    private SeveralSegments() {
    }

    /**
     * A process with the segments of some configurations, which differ in their segments alone. Its own values are those of the
     * first; the values of each segment have a path that begins with {@link ExporterConfig#name}. Adds what one process cannot
     * measure together to the problems.
     *
     * @param origins of the entries of the list; the section of one segment has none.
     */
    static ExporterConfig join(final List<ExporterConfig> views, final List<Origin> origins, final Problems problems) {
        final ExporterConfig first = views.get(0);
        if (views.size() == 1) {
            return first;
        }
        if (!first.pairs().segments().isEmpty() && first.capture().direction() != ExporterConfig.Direction.BOTH) {
            problems.add(origins.get(0), "capture.direction: segments between interfaces of this host need both, and with them " +
                "those to other processes begin where packets leave, and end where they arrive: leave this out");
        }
        for (int i = 0; i < views.size(); i++) {
            for (final ExporterConfig earlier : views.subList(0, i)) {
                check(views.get(i), earlier, origins.get(i), problems);
            }
        }
        ConfigurationException.throwIfAny(problems);
        return new ExporterConfig(first.sections(), values(views),
            views.stream().flatMap((each) -> each.warnings().stream()).distinct().toList(),
            views.stream().map((each) -> each.with(first.capture())).toList());
    }

    static List<EffectiveValue> values(final List<ExporterConfig> views) {
        final List<EffectiveValue> values = new ArrayList<>();
        views.get(0).effectiveValues().stream().filter((each) -> !isOfSegment(each)).forEach(values::add);
        for (final ExporterConfig view : views) {
            view.effectiveValues().stream().filter(SeveralSegments::isOfSegment)
                .map((each) -> new EffectiveValue(
                    view.name() + each.path(), each.text(), each.origin(), each.note(), each.reloadable(), each.value()))
                .forEach(values::add);
        }
        return List.copyOf(values);
    }

    /**
     * A configuration with as many waiting records as one in use, in each segment where neither says how many: a reload keeps the
     * memory. Another number of segments stays as it is.
     */
    public static ExporterConfig withRecordsOf(final ExporterConfig newer, final ExporterConfig used) {
        final List<ExporterConfig> same = new ArrayList<>();
        for (int i = 0; i < newer.segments().size() && newer.segments().size() == used.segments().size(); i++) {
            same.add(withRecordsOfOne(newer.segments().get(i), used.segments().get(i)));
        }
        return same.isEmpty() ? newer : newer.withSegments(same);
    }

    private static ExporterConfig withRecordsOfOne(final ExporterConfig newer, final ExporterConfig used) {
        if (!newer.isDefault(ConfigTable.LDS_WAITING) || !used.isDefault(ConfigTable.LDS_WAITING)) {
            return newer;
        }
        final EffectiveValue records = used.effectiveValue(ConfigTable.LDS_WAITING);
        final ExporterConfig.Lds lds = newer.lds();
        final ExporterConfig same = newer.with(lds.withSizes(
            lds.shape().columns(), lds.shape().vldaLength(), lds.inFlightPackets(), used.lds().waitingRecords(),
            lds.witnessPpm()));
        return new ExporterConfig(same.sections(), newer.effectiveValues().stream()
            .map((value) -> value.path().equals(records.path()) ? records : value).toList(), newer.warnings());
    }

    /** References of a sender and of another segment, which pass the same points. */
    private static void sessions(
        final ExporterConfig view, final ExporterConfig earlier, final Origin origin, final Problems problems) {
        if (!view.segment().role().isSender() && !earlier.segment().role().isSender()) {
            return;
        }
        final ExporterConfig.References sent = (view.segment().role().isSender() ? view : earlier).rli().references();
        final ExporterConfig receiver = view.segment().role().isSender() ? earlier : view;
        final ExporterConfig.References received = receiver.rli().references();
        final int classCount = Math.max(view.rli().classCount(), earlier.rli().classCount());
        final boolean isAnyAddress = received.senders().stream().anyMatch((each) -> each.address() == null);
        final boolean isLike = received.senders().isEmpty() ? Math.abs(received.session() - sent.session()) < classCount :
            isAnyAddress &&
            received.senders().stream().anyMatch((each) -> Math.abs(each.session() - sent.session()) < classCount);
        final boolean haveReferences =
            sent.target() != null && (receiver.segment().role().isReceiver() || received.target() != null);
        if (isLike && haveReferences && sent.port() == received.port() &&
            receiver.rli().injection().policy() != ExporterConfig.Policy.PASSIVE) {
            problems.add(origin, "rli.session=" + view.rli().references().session() + ": the segment with id " +
                earlier.segment().id() + " has references of this session on the same port: give another session, or another " +
                "rli.port");
        }
    }

    private static boolean isOfSegment(final EffectiveValue value) {
        final int dot = value.path().indexOf('.');
        return dot > 0 && SEGMENT_SECTIONS.contains(value.path().substring(0, dot));
    }

    private static void check(
        final ExporterConfig view, final ExporterConfig earlier, final Origin origin, final Problems problems) {
        if (earlier.segment().role() == Role.BOTH) {
            return;
        }
        final String name = "the segment with id " + earlier.segment().id();
        if (view.segment().id() == earlier.segment().id()) {
            problems.add(origin, "segment.id=" + view.segment().id() + ": another segment of the process has this number too, " +
                "which names it in every output: give another");
        }
        sessions(view, earlier, origin, problems);
        if (view.segment().role().isReceiver() && earlier.segment().role().isReceiver() && view.lds().enabled() &&
            earlier.lds().enabled() && view.segment().intervalNs() != earlier.segment().intervalNs()) {
            problems.add(origin, "segment.interval: " + name + " has intervals of another length: records end with the " +
                "intervals of sketches, so give all receivers with lds the same");
        }
        if (view.segment().role().isReceiver() && view.segment().selector().vlanId() >= 0 &&
            !view.metering().extraKeyFields().contains(KeyField.VLAN)) {
            problems.add(origin, "segment.vlan=" + view.segment().selector().vlanId() + ": a flow would have packets of " +
                "several segments: add vlan to metering.flow-key");
        }
    }
}
