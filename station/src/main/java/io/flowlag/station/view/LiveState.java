package io.flowlag.station.view;

import io.flowlag.station.schema.Alert;
import io.flowlag.station.schema.SegmentWindow;
import io.flowlag.station.schema.Status;
import io.flowlag.station.schema.Verdict;
import io.flowlag.station.view.WindowHistory.Series;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The newest window of each segment and class, the newest state of each alert, and the newest verdict of each fault: one that
 * began at one time, of one kind, about one clock or with one likeliest suspect. What is final is not replaced by what is
 * provisional. One thread adds, any thread reads. At most {@link WindowHistory#MOST_SERIES} windows, {@link #MOST_FAULTS}
 * faults and {@link #MOST_ALERTS} alerts and service levels, some kilobytes each, and {@link RecentPaths#MOST_BYTES} of paths.
 */
final class LiveState {
    /** The oldest go. */
    static final int MOST_FAULTS = 1_000;
    /** Those that are over go first, then the oldest. */
    static final int MOST_ALERTS = 1_000;
    /** Windows that a segment or an alert may miss until it says nothing of now. */
    private static final int MOST_MISSING = 3;

    /** By network, segment and class. */
    static final Comparator<SegmentWindow> IN_ORDER = Comparator.comparing(SegmentWindow::getNetwork)
        .thenComparing(SegmentWindow::getSegment).thenComparingInt(SegmentWindow::getDscp);

    private final Map<Series, SegmentWindow> windows = new ConcurrentHashMap<>();
    private final Map<Fault, Verdict> faults = new ConcurrentHashMap<>();
    /** Ends of the newest windows, and of the newest final ones, by network and class. */
    private final Map<Group, Long> newestNs = new ConcurrentHashMap<>();
    private final Map<Group, Long> newestFinalNs = new ConcurrentHashMap<>();
    /** Of the newest window. */
    private volatile long lengthNs;
    /** Those that have verdicts of windows that are not final. */
    private final Set<Group> provisional = ConcurrentHashMap.newKeySet();
    private final Map<String, HeardAlert> alerts = new ConcurrentHashMap<>();
    /** By network and name. */
    private final Map<String, Status> levels = new ConcurrentHashMap<>();
    private final RecentPaths paths = new RecentPaths(RecentPaths.MOST_BYTES);

    private record Group(String network, int dscp) {
        static Group of(final Verdict verdict) {
            return new Group(verdict.getNetwork(), verdict.hasDscp() ? verdict.getDscp() : -1);
        }
    }

    /**
     * An alert as it was last told.
     *
     * @param heardNs end of the newest window then.
     */
    private record HeardAlert(Alert alert, long heardNs) {
        /** That which goes first if there are too many is the smallest. */
        private static final Comparator<HeardAlert> BY_USE = Comparator
            .comparing((final HeardAlert each) -> !each.alert.hasEndsNs()).thenComparingLong((each) -> each.alert.getStartsNs());
    }

    private record Fault(Group group, Verdict.Kind kind, long sinceNs, String subject) {
        static Fault of(final Verdict verdict) {
            final String subject = verdict.hasClock() || verdict.getSuspectsCount() == 0 ? verdict.getClock() :
                verdict.getSuspects(0).getFrom() + " " + verdict.getSuspects(0).getTo();
            return new Fault(Group.of(verdict), verdict.getKind(), verdict.getSinceNs(), subject);
        }
    }

    /** Adds a window, unless there is one series too many. Returns whether it did. */
    boolean add(final SegmentWindow window) {
        final Series series = Series.of(window);
        final SegmentWindow before = windows.get(series);
        if (before == null && windows.size() >= WindowHistory.MOST_SERIES) {
            return false;
        }
        if (before == null || window.getStartNs() > before.getStartNs() ||
            window.getStartNs() == before.getStartNs() && (window.getFinal() || !before.getFinal())) {
            windows.put(series, window);
        }
        final Group group = new Group(series.network(), series.dscp());
        lengthNs = window.getEndNs() - window.getStartNs();
        newestNs.merge(group, window.getEndNs(), Math::max);
        if (window.getFinal()) {
            newestFinalNs.merge(group, window.getEndNs(), Math::max);
        }
        return true;
    }

    /** Adds a verdict. */
    void add(final Verdict verdict) {
        if (!verdict.getFinal()) {
            provisional.add(Group.of(verdict));
        }
        faults.merge(Fault.of(verdict), verdict, (before, now) -> now.getEndNs() > before.getEndNs() ||
            now.getEndNs() == before.getEndNs() && (now.getFinal() || !before.getFinal()) ? now : before);
        if (faults.size() > MOST_FAULTS) {
            faults.entrySet().stream().min(Map.Entry.comparingByValue(Comparator.comparingLong(Verdict::getEndNs)))
                .ifPresent((oldest) -> faults.remove(oldest.getKey()));
        }
    }

    /** Adds news of an alert. An end is not taken back but by another start. */
    void add(final Alert alert) {
        alerts.merge(alert.getId(), new HeardAlert(alert, newestNs()), (before, now) ->
            alert.getStartsNs() > before.alert.getStartsNs() ||
            alert.getStartsNs() == before.alert.getStartsNs() && (alert.hasEndsNs() || !before.alert.hasEndsNs()) ? now : before);
        while (alerts.size() > MOST_ALERTS) {
            alerts.values().stream().min(HeardAlert.BY_USE).ifPresent((least) -> alerts.remove(least.alert.getId()));
        }
    }

    /** Adds how fast a service level burns. */
    void add(final Status level) {
        final String key = level.getNetwork() + '/' + level.getLevel().getName();
        if (levels.size() < MOST_ALERTS || levels.containsKey(key)) {
            levels.merge(key, level, (before, now) -> now.getLevel().getEndNs() >= before.getLevel().getEndNs() ? now : before);
        }
    }

    /** {@return service levels that were told of in one of the newest windows} */
    List<Status> levels() {
        levels.values().removeIf((each) -> each.getLevel().getEndNs() + MOST_MISSING * lengthNs < newestNs());
        return levels.values().stream().sorted(Comparator.comparing((each) -> each.getLevel().getName())).toList();
    }

    /** {@return the newest state of each alert, the newest first} */
    List<Alert> alerts() {
        return alerts.values().stream().map(HeardAlert::alert)
            .sorted(Comparator.comparingLong(Alert::getStartsNs).reversed().thenComparing(Alert::getId)).toList();
    }

    /** {@return whether an alert is on, and told of in one of the newest windows} */
    boolean isCurrent(final Alert alert) {
        final HeardAlert heard = alerts.get(alert.getId());
        return !alert.hasEndsNs() && heard != null && heard.heardNs + MOST_MISSING * lengthNs >= newestNs();
    }

    /** {@return flows along their paths} */
    RecentPaths paths() {
        return paths;
    }

    /** {@return the newest windows, in order} */
    List<SegmentWindow> windows() {
        return windows.values().stream().sorted(IN_ORDER).toList();
    }

    /** {@return whether a window is not over for long: others have come to at most so many of its lengths behind it} */
    boolean isCurrent(final SegmentWindow window) {
        final long lengthNs = window.getEndNs() - window.getStartNs();
        return window.getEndNs() + MOST_MISSING * lengthNs >= newestNs();
    }

    /**
     * {@return the newest verdict of each fault, the newest first, without what later final windows have taken back: the final
     * verdicts of a window come a moment after it}
     */
    List<Verdict> verdicts() {
        return faults.values().stream()
            .filter((verdict) -> verdict.getFinal() || verdict.getEndNs() >= newestFinalNs.getOrDefault(Group.of(verdict), 0L))
            .sorted(Comparator.comparingLong(Verdict::getEndNs).reversed().thenComparing(Verdict::getId)).toList();
    }

    /**
     * {@return whether the fault is still there: in the newest window that verdicts are made of, or the one before, whose verdict
     * comes later than it}
     */
    boolean isCurrent(final Verdict verdict) {
        final Group group = Group.of(verdict);
        final long lengthNs = verdict.getEndNs() - verdict.getStartNs();
        return verdict.getEndNs() + lengthNs >=
            (provisional.contains(group) ? newestNs : newestFinalNs).getOrDefault(group, verdict.getEndNs());
    }

    /** {@return the end of the newest window, ns since the epoch; 0 without one} */
    long newestNs() {
        return newestNs.values().stream().mapToLong(Long::longValue).max().orElse(0);
    }
}
