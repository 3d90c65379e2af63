package io.flowlag.exporter.config;

import io.flowlag.common.config.Origin;
import io.flowlag.common.config.Prefix;
import io.flowlag.common.config.Problems;
import io.flowlag.exporter.config.ExporterConfig.Policy;
import io.flowlag.exporter.config.ExporterConfig.Role;
import io.flowlag.exporter.config.ExporterConfig.Sender;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import static io.flowlag.exporter.config.ConfigTable.*;

/** Checks relations between the entries of the list of segments. */
final class SegmentRelations {
    private static final String SECTION = "segment";

    private final Map<ConfigKey<?>, Setting> common;
    private final List<SegmentEntry> entries;
    private final Problems problems;

    /** One segment as it sees the configuration, with networks of IPv4 and of IPv6. */
    private record View(
        Origin origin, Map<ConfigKey<?>, Setting> settings, List<Set<Prefix>> sources, List<Set<Prefix>> destinations) {
        private static View of(final Origin origin, final Map<ConfigKey<?>, Setting> settings) {
            final List<Prefix> ofSenders = SENDERS.cast(settings.get(SENDERS).value()).stream()
                .flatMap((each) -> each.sources().stream()).toList();
            final List<Prefix> own = SEGMENT_SOURCE.cast(settings.get(SEGMENT_SOURCE).value());
            return new View(origin, settings, ofFamilies(ofSenders.isEmpty() ? own : ofSenders),
                ofFamilies(SEGMENT_DESTINATION.cast(settings.get(SEGMENT_DESTINATION).value())));
        }

        private static List<Set<Prefix>> ofFamilies(final List<Prefix> prefixes) {
            return Stream.of(false, true).map((isIpv6) -> networks(prefixes, isIpv6).collect(Collectors.toSet())).toList();
        }

        <T> T value(final ConfigKey<T> key) {
            return key.cast(settings.get(key).value());
        }

        boolean isDefault(final ConfigKey<?> key) {
            return settings.get(key).origin().isDefault();
        }

        /** {@return number of ids, one for each sender} */
        int idCount() {
            return Math.max(1, value(SENDERS).size());
        }

        /** Whether both have a point of the same kind in one role. */
        boolean hasRoleOf(final View other) {
            final Role role = value(ROLE);
            final Role otherRole = other.value(ROLE);
            return role.isSender() && otherRole.isSender() || role.isReceiver() && otherRole.isReceiver();
        }
    }

    SegmentRelations(final Map<ConfigKey<?>, Setting> common, final List<SegmentEntry> entries, final Problems problems) {
        this.common = common;
        this.entries = entries;
        this.problems = problems;
    }

    /** Checks the settings that each entry of the list has, its own and those of the process. */
    void check(final List<Map<ConfigKey<?>, Setting>> settings) {
        final Setting interfaces = settings.get(0).get(INTERFACES);
        if (!interfaces.origin().isDefault() && settings.stream().allMatch((each) -> each.get(ROLE).value() == Role.BOTH)) {
            problems.add(interfaces.origin(), INTERFACES.path(), interfaces.text(),
                "role both captures from segment.ingress and segment.egress: leave this out");
        }
        if (entries.isEmpty()) {
            return;
        }
        common.forEach((key, setting) -> {
            if (key.section().equals(SECTION) && !setting.origin().isDefault()) {
                problems.add(setting.origin(), key.path(), setting.text(),
                    "stands next to the list segments: put it into an entry of the list, or leave it or the list out");
            }
        });
        final List<View> views = new ArrayList<>();
        for (int i = 0; i < entries.size(); i++) {
            final View view = View.of(entries.get(i).origin(), settings.get(i));
            if (view.value(ROLE) == Role.NONE) {
                problem(view, ROLE, "an entry of segments has a role: give sender, receiver or both, or leave the entry out");
            }
            views.add(view);
        }
        final Setting threading = settings.get(0).get(THREADING);
        if (views.size() > 1 && threading.value() == ExporterConfig.Threading.SHARDED) {
            problems.add(threading.origin(), THREADING.path(), threading.text(),
                "measures one segment: set it to pipelined or shared, or leave one entry in the list segments");
        }
        ports(views);
        for (int i = 0; i < views.size(); i++) {
            for (final View other : views.subList(0, i)) {
                check(views.get(i), other);
            }
        }
    }

    private void check(final View view, final View other) {
        if (view.hasRoleOf(other)) {
            ids(view, other);
            selectors(view, other);
        }
        if (view.value(ROLE) == other.value(ROLE) && view.value(ROLE) != Role.BOTH) {
            sessions(view, other);
        }
        listening(view, other);
        if (view.value(CLOCK_REFLECTOR) != null && other.value(CLOCK_REFLECTOR) != null) {
            problem(view, CLOCK_REFLECTOR, "is the clock of one sender, and the segment" + place(other) + " has another");
        }
    }

    private void ids(final View view, final View other) {
        final long first = view.value(SEGMENT_ID);
        final long otherFirst = other.value(SEGMENT_ID);
        if (first < otherFirst + other.idCount() && otherFirst < first + view.idCount()) {
            problem(view, SEGMENT_ID, "the segment" + place(other) +
                " has this number too (a receiver has one from there on for each of rli.senders): give another");
        }
    }

    /** With role both, other interfaces tell packets apart. */
    private void selectors(final View view, final View other) {
        if (view.value(ROLE) != other.value(ROLE) || !Objects.equals(view.value(INGRESS), other.value(INGRESS)) ||
            !Objects.equals(view.value(EGRESS), other.value(EGRESS)) ||
            !Objects.equals(view.value(SEGMENT_VLAN), other.value(SEGMENT_VLAN))) {
            return;
        }
        for (int family = 0; family < view.sources.size(); family++) {
            if (!Collections.disjoint(view.sources.get(family), other.sources.get(family)) &&
                !Collections.disjoint(view.destinations.get(family), other.destinations.get(family))) {
                problem(view, SEGMENT_DESTINATION, "the segment" + place(other) +
                    " has a pair of source and destination too, so their packets are alike: give one of them longer or other " +
                    "prefixes, or a VLAN");
                return;
            }
        }
    }

    static boolean share(final List<Prefix> prefixes, final List<Prefix> others, final boolean isIpv6) {
        final Set<Prefix> networks = networks(prefixes, isIpv6).collect(Collectors.toSet());
        return networks(others, isIpv6).anyMatch(networks::contains);
    }

    private static Stream<Prefix> networks(final List<Prefix> prefixes, final boolean isIpv6) {
        return prefixes.isEmpty() ? Stream.of(new Prefix(isIpv6, 0, 0, 0)) :
            prefixes.stream().filter((each) -> each.isIpv6() == isIpv6).map(Prefix::network);
    }

    /** References of two segments that neither session nor source nor key tells apart. */
    private void sessions(final View view, final View other) {
        final boolean haveReferences = Stream.of(view, other).allMatch((each) -> each.value(POLICY) != Policy.PASSIVE &&
            (each.value(ROLE) == Role.RECEIVER || each.value(TARGET) != null));
        if (!haveReferences || !view.value(REFERENCE_PORT).equals(other.value(REFERENCE_PORT)) ||
            !Objects.equals(view.value(TARGET), other.value(TARGET))) {
            return;
        }
        final ConfigKey<?> key = view.value(SENDERS).isEmpty() ? SESSION : SENDERS;
        if (senders(view).anyMatch((each) -> senders(other).anyMatch((another) ->
            Math.abs(each.session() - another.session()) < Math.max(1, view.value(CLASSES).size()) &&
                Objects.equals(key(view, each), key(other, another)) &&
                (each.address() == null || another.address() == null || each.address().overlaps(another.address()))))) {
            problem(view, key, "the segment" + place(other) +
                " has references of this session on the same port: give another session, key or rli.port");
        }
    }

    /** The file of the key of references; null where they have none. */
    private static Path key(final View view, final Sender sender) {
        return sender.keyFile() != null ? sender.keyFile() : view.value(REFERENCE_KEY_FILE);
    }

    private static Stream<Sender> senders(final View view) {
        return view.value(SENDERS).isEmpty() ?
            Stream.of(new Sender(view.value(SESSION).intValue(), null, null, List.of())) : view.value(SENDERS).stream();
    }

    /** Each receiver listens by itself: where no port is given, on the next one that is free. */
    private static void ports(final List<View> views) {
        final Set<Integer> taken = views.stream().filter((each) -> each.value(EXCHANGE_LISTEN) != null && !each.isDefault(
            EXCHANGE_LISTEN)).map((each) -> each.value(EXCHANGE_LISTEN).port()).collect(Collectors.toCollection(HashSet::new));
        for (final View view : views) {
            final Setting listen = view.settings.get(EXCHANGE_LISTEN);
            if (listen.value() != null && listen.origin().isDefault()) {
                int port = HostPort.EXCHANGE_PORT;
                while (!taken.add(port)) {
                    port++;
                }
                final HostPort next = new HostPort(HostPort.EVERYWHERE, port);
                view.settings.put(EXCHANGE_LISTEN, new Setting(next, next.toString(), listen.origin(), listen.note()));
            }
        }
    }

    private void listening(final View view, final View other) {
        final HostPort listen = view.value(EXCHANGE_LISTEN);
        if (listen != null && other.value(EXCHANGE_LISTEN) != null && listen.meets(other.value(EXCHANGE_LISTEN))) {
            problem(view, EXCHANGE_LISTEN, "the segment" + place(other) + " listens there too: give each receiver a port of " +
                "its own or, with exchange.key-file or TLS, none, or make one segment of both with rli.senders");
        }
    }

    private static String place(final View view) {
        return " in line " + view.origin.line();
    }

    /** A fault of a value, or of an entry that has it by default. */
    private void problem(final View view, final ConfigKey<?> key, final String message) {
        final Setting setting = view.settings.get(key);
        problems.add(setting.origin().isDefault() ? view.origin : setting.origin(), key.path(), setting.text(), message);
    }
}
