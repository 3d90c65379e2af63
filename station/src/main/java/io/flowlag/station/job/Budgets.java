package io.flowlag.station.job;

import io.flowlag.network.topology.Topology;
import io.flowlag.network.window.BurnRate;
import io.flowlag.network.window.WindowHistogram;
import io.flowlag.station.job.state.Spent;
import io.flowlag.station.schema.Alert;
import io.flowlag.station.schema.SegmentWindow;
import io.flowlag.station.schema.Status;
import org.agrona.concurrent.UnsafeBuffer;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * How fast the service levels of a class use up what they may. Packets are those of the segment from one node to the other, or of
 * the segments between; of these the delays are summed as if they were independent. One thread.
 */
final class Budgets {
    private static final long MINUTE_NS = 60_000_000_000L;
    private static final long HOUR_NS = 60 * MINUTE_NS;
    private static final long LONGEST_NS = 72 * HOUR_NS;
    /** Over which budgets are counted: those that {@link BurnRate.Urgency} asks for. */
    private static final long[] LENGTHS_NS = {5 * MINUTE_NS, 30 * MINUTE_NS, HOUR_NS, 6 * HOUR_NS, LONGEST_NS};
    private static final int NANOSECONDS_PER_MILLISECOND = 1_000_000;

    private final JobSettings settings;
    private final Networks.Held network;
    private final int dscp;
    /** Counts of shorter windows are those of their minute. */
    private final long stepNs;

    /** Those of a class in a network; a class of -1 is that of exporters that do not tell classes apart. */
    Budgets(final JobSettings settings, final Networks.Held network, final int dscp) {
        this.settings = settings;
        this.network = network;
        this.dscp = dscp;
        stepNs = Math.max(MINUTE_NS, TimeUnit.MILLISECONDS.toNanos(settings.windows().lengthMs()));
    }

    private List<JobSettings.ServiceLevel> levels() {
        return settings.levels().stream().filter((level) -> level.dscp() == dscp).toList();
    }

    /** The segments of a level; none if none lead from one node to the other. */
    private List<String> chain(final JobSettings.ServiceLevel level) {
        final Topology topology = network.map().topology();
        final int from = topology.node(level.from());
        final int to = topology.node(level.to());
        return from == Topology.NONE || to == Topology.NONE ? List.of() : network.routes().chain(from, to);
    }

    /** {@return whether histograms of a segment are needed} */
    boolean needs(final String segment) {
        return levels().stream().anyMatch((level) -> chain(level).contains(segment));
    }

    /** Counts the packets of a final window. */
    void count(final Map<String, SegmentWindow> segments, final long startNs, final Map<String, Spent> spent) {
        for (final JobSettings.ServiceLevel level : levels()) {
            final List<WindowHistogram> histograms = new ArrayList<>();
            final List<String> chain = chain(level);
            for (final String name : chain) {
                final SegmentWindow segment = segments.get(name);
                if (segment != null && segment.hasHistogram()) {
                    final byte[] octets = segment.getHistogram().toByteArray();
                    final WindowHistogram histogram = new WindowHistogram();
                    histogram.add(new UnsafeBuffer(octets), 0, octets.length);
                    histograms.add(histogram);
                }
            }
            if (!chain.isEmpty() && histograms.size() == chain.size()) {
                final long packets = histograms.stream().mapToLong(WindowHistogram::count).min().orElseThrow();
                final double above = WindowHistogram.shareAbove(histograms, level.belowNs());
                spent.put(level.name(), plus(spent.get(level.name()), startNs / stepNs * stepNs, packets,
                    Math.round(above * packets)));
            }
        }
    }

    private Spent plus(final Spent before, final long startNs, final long packets, final long above) {
        final Spent.Builder sum = Spent.newBuilder();
        long sumPackets = packets;
        long sumAbove = above;
        for (int i = 0; before != null && i < before.getStartsNsCount(); i++) {
            if (before.getStartsNs(i) == startNs) {
                sumPackets += before.getPackets(i);
                sumAbove += before.getAbove(i);
            } else if (before.getStartsNs(i) > startNs - LONGEST_NS) {
                sum.addStartsNs(before.getStartsNs(i)).addPackets(before.getPackets(i)).addAbove(before.getAbove(i));
            }
        }
        return sum.addStartsNs(startNs).addPackets(sumPackets).addAbove(sumAbove).build();
    }

    /**
     * How fast levels burn at a window.
     *
     * @param told takes all levels of which there are packets.
     * @return what somebody should look at.
     */
    List<AlertBook.Said> burning(final long startNs, final long endNs, final Map<String, Spent> spent,
        final Consumer<Status.ServiceLevel> told) {
        final List<AlertBook.Said> said = new ArrayList<>();
        for (final JobSettings.ServiceLevel level : levels()) {
            final Spent counts = spent.getOrDefault(level.name(), Spent.getDefaultInstance());
            final BurnRate rate = new BurnRate(stepNs, level.share());
            for (int i = 0; i < counts.getStartsNsCount(); i++) {
                rate.add(counts.getStartsNs(i), counts.getPackets(i), counts.getAbove(i));
            }
            final long nowNs = startNs / stepNs * stepNs;
            final Status.ServiceLevel.Builder status = Status.ServiceLevel.newBuilder().setName(level.name()).setEndNs(endNs);
            for (final long lengthNs : LENGTHS_NS) {
                final double ratio = rate.rate(nowNs, lengthNs);
                if (!Double.isNaN(ratio)) {
                    status.addRates(Status.ServiceLevel.Rate.newBuilder().setLengthNs(lengthNs).setRatio(ratio));
                }
            }
            if (status.getRatesCount() > 0) {
                told.accept((dscp < 0 ? status : status.setDscp(dscp)).build());
            }
            final BurnRate.Urgency urgency = rate.urgency(nowNs);
            if (urgency != BurnRate.Urgency.NONE) {
                said.add(said(level, urgency, rate.rate(nowNs, urgency == BurnRate.Urgency.PAGE ? HOUR_NS : 6 * HOUR_NS),
                    startNs));
            }
        }
        return said;
    }

    private AlertBook.Said said(final JobSettings.ServiceLevel level, final BurnRate.Urgency urgency, final double rate,
        final long startNs) {
        final boolean isPage = urgency == BurnRate.Urgency.PAGE;
        final Alert.Builder alert = Alert.newBuilder().setKind(Alert.Kind.BUDGET_BURNS).setSlo(level.name())
            .setSeverity(isPage ? Alert.Severity.PAGE : Alert.Severity.TICKET).setValue(rate).setStartsNs(startNs)
            .setSummary(String.format(Locale.ROOT, "%s: %.3g %% of packets from %s to %s took more than %s ms in the last %s; " +
                "%.3g %% may.", level.name(), 100 * rate * (1 - level.share()), level.from(), level.to(),
                (double)level.belowNs() / NANOSECONDS_PER_MILLISECOND,
                isPage ? "hour" : "6 hours", 100 * (1 - level.share())));
        final List<String> chain = chain(level);
        if (chain.size() == 1) {
            alert.setSegment(chain.get(0));
        }
        return new AlertBook.Said(alert, List.of(level.name()));
    }
}
