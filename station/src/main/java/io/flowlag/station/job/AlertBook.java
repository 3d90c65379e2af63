package io.flowlag.station.job;

import io.flowlag.station.job.state.OpenAlert;
import io.flowlag.station.schema.Alert;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/**
 * The alerts of a class that are on. With each window those that are said again go out with the id and begin that they had, and
 * others once more with their end. One is said again if it is of the same kind and shares a subject. One thread.
 */
final class AlertBook {
    private final String name;
    private final Consumer<Alert> out;
    private final List<OpenAlert> open;

    /**
     * Goes on.
     *
     * @param name of network and class; ids begin with it.
     * @param open those that are on.
     * @param out  takes alerts.
     */
    AlertBook(final String name, final Collection<OpenAlert> open, final Consumer<Alert> out) {
        this.name = name;
        this.open = new ArrayList<>(open);
        this.out = out;
    }

    /**
     * What somebody should look at in a window.
     *
     * @param alert    without id; with its begin, if it is new.
     * @param subjects what it is about; the first is in its id, if it is new.
     */
    record Said(Alert.Builder alert, List<String> subjects) {
    }

    /** Takes all that is said of a window; what is on and not said ends with its begin, ns. */
    void onWindow(final long startNs, final List<Said> said) {
        final List<OpenAlert> before = new ArrayList<>(open);
        open.clear();
        final Set<String> ids = new HashSet<>();
        for (final Said each : said) {
            final OpenAlert same = same(each, before);
            if (same != null) {
                before.remove(same);
                ids.add(same.getAlert().getId());
            }
            tell(each, same, same == null ? unused(each, ids, before) : same.getAlert().getId());
        }
        for (final OpenAlert each : before) {
            out.accept(each.getAlert().toBuilder().setEndsNs(Math.max(startNs, each.getAlert().getStartsNs())).build());
        }
    }

    /** Adds one that is not on, from outside of the newest window. */
    void add(final Said said) {
        if (same(said, open) == null) {
            tell(said, null, id(said));
        }
    }

    /** {@return those that are on} */
    List<OpenAlert> open() {
        return List.copyOf(open);
    }

    private void tell(final Said said, final OpenAlert same, final String id) {
        said.alert.setId(id);
        if (same != null) {
            said.alert.setStartsNs(same.getAlert().getStartsNs());
        }
        final Alert alert = said.alert.build();
        open.add(OpenAlert.newBuilder().setAlert(alert).addAllSubjects(said.subjects).build());
        out.accept(alert);
    }

    /** The one with the same first subject, else one that shares any. */
    private static OpenAlert same(final Said said, final List<OpenAlert> open) {
        final List<OpenAlert> ofKind =
            open.stream().filter((each) -> each.getAlert().getKind() == said.alert.getKind()).toList();
        return ofKind.stream().filter((each) -> each.getSubjects(0).equals(said.subjects.get(0))).findFirst().orElseGet(() ->
            ofKind.stream().filter((each) -> !Collections.disjoint(each.getSubjectsList(), said.subjects)).findFirst()
                .orElse(null));
    }

    private String id(final Said said) {
        return name + '/' + said.alert.getKind() + '/' + said.subjects.get(0);
    }

    private String unused(final Said said, final Set<String> ids, final List<OpenAlert> before) {
        String id = id(said);
        before.forEach((each) -> ids.add(each.getAlert().getId()));
        while (!ids.add(id)) {
            id += '+';
        }
        return id;
    }
}
