package io.flowlag.exporter.monitoring;

import io.flowlag.exporter.listing.FlowQuery;
import io.flowlag.exporter.listing.Grouping;
import io.flowlag.exporter.listing.RowFilter;
import io.flowlag.exporter.listing.SortKey;

import java.util.List;

/** What the keys of {@code flowlag top} do: the state of its view. One thread. */
public final class TopControl {
    /** What is on the screen. */
    enum Page {
        LIST, FLOW, HELP
    }

    /** What a line is typed for. */
    private enum Prompt {
        NONE, FILTER, GROUPING
    }

    static final List<String> HELP = List.of(
        "up, down, k, j   choose a row", "enter            the row's delays, losses and history; esc goes back",
        "<, >             sort by the next of mean, bound, sd, p50, p90, p99, max,",
        "                 lost, loss, packets, octets, flows, start, duration; of TCP",
        "                 handshake, rtt, retransmitted, reordered, zero-windows",
        "r                the smallest first, or the largest",
        "/                filter: src, dst, prefix, port, proto, app, dscp, min-packets,",
        "                 min-delay, min-rtt, min-handshake, min-retransmitted,",
        "                 min-reordered, min-zero-windows, each with a value;",
        "                 10.0.0.0/8, 443, https or tcp alone is",
        "                 a prefix, a port, and so on; an empty line shows all",
        "g                group by flow, or by src, dst (dst/24), proto, sport, dport,",
        "                 app, dscp, segment with commas between", "h, ?             this page", "q                ends top", "",
        "A row is of the records in the list: of living flows so far, and of flows",
        "that ended in the last minute. A history begins when top does.");

    private static final int ESCAPE = 27;
    private static final int DELETE = 127;
    private static final int BACKSPACE = 8;
    private static final int END_OF_TEXT = 3;
    private static final int LONGEST_LINE = 200;

    private final StringBuilder typed = new StringBuilder();
    private FlowQuery query;
    private String filterText = "";
    private String groupingText = "flow";
    private Prompt prompt = Prompt.NONE;
    private String fault = "";
    private Page page = Page.LIST;
    private int chosen;
    private boolean isAnotherQuestion;

    /** Begins with the rows that the command line asks for; without a grouping, one a flow. */
    public TopControl(final FlowQuery asked) {
        final boolean isGrouped = asked.grouping() != null;
        query = isGrouped ? asked : asked.by(Grouping.ofFlows());
        groupingText = isGrouped ? "as asked" : groupingText;
        filterText = asked.filter().equals(RowFilter.ALL) ? "" : "as asked";
        query = query.order() == null ? query.sorted(SortKey.MEAN, query.isRising()) : query;
    }

    /** Takes octets that were typed. Returns true if top is to end. */
    public boolean onKeys(final byte[] octets, final int length) {
        for (int i = 0; i < length; i++) {
            final int octet = octets[i] & 0xFF;
            if (octet == ESCAPE && i + 2 < length && (octets[i + 1] == '[' || octets[i + 1] == 'O')) {
                onArrow(octets[i + 2]);
                i += 2;
            } else if (octet == END_OF_TEXT || prompt == Prompt.NONE && (octet == 'q' || octet == 'Q')) {
                return true;
            } else if (prompt != Prompt.NONE) {
                onTyped(octet);
            } else {
                onKey(octet);
            }
        }
        return false;
    }

    private void onArrow(final int letter) {
        switch (letter) {
            case 'A' -> chosen = Math.max(0, chosen - 1);
            case 'B' -> chosen++;
            case 'C' -> sortBy(1);
            case 'D' -> sortBy(-1);
            default -> { }
        }
    }

    private void onKey(final int octet) {
        fault = "";
        switch (octet) {
            case 'k' -> onArrow('A');
            case 'j' -> onArrow('B');
            case '>' -> sortBy(1);
            case '<' -> sortBy(-1);
            case 'r' -> query = query.sorted(query.order(), !query.isRising());
            case '/' -> prompt = Prompt.FILTER;
            case 'g' -> prompt = Prompt.GROUPING;
            case 'h', '?' -> page = page == Page.HELP ? Page.LIST : Page.HELP;
            case '\r', '\n' -> page = page == Page.LIST ? Page.FLOW : Page.LIST;
            case ESCAPE -> page = Page.LIST;
            default -> { }
        }
    }

    private void sortBy(final int step) {
        final SortKey[] keys = SortKey.values();
        query = query.sorted(keys[Math.floorMod(query.order().ordinal() + step, keys.length)], query.isRising());
        chosen = 0;
    }

    private void onTyped(final int octet) {
        if (octet == ESCAPE) {
            endPrompt();
        } else if (octet == DELETE || octet == BACKSPACE) {
            typed.setLength(Math.max(0, typed.length() - 1));
        } else if (octet == '\r' || octet == '\n') {
            apply(typed.toString());
        } else if (octet >= ' ' && octet < DELETE && typed.length() < LONGEST_LINE) {
            typed.append((char)octet);
        }
    }

    private void apply(final String text) {
        try {
            if (prompt == Prompt.FILTER) {
                query = query.with(RowFilter.parse(text));
                filterText = text.strip();
            } else {
                query = query.by(text.isBlank() ? Grouping.ofFlows() : Grouping.parse(text.strip()));
                groupingText = text.isBlank() ? "flow" : text.strip();
            }
            isAnotherQuestion = true;
            chosen = 0;
            page = Page.LIST;
            endPrompt();
        } catch (final IllegalArgumentException ex) {
            fault = ex.getMessage();
        }
    }

    private void endPrompt() {
        prompt = Prompt.NONE;
        fault = "";
        typed.setLength(0);
    }

    FlowQuery query() {
        return query;
    }

    Page page() {
        return page;
    }

    /** {@return whether rows are no longer those of before; once} */
    boolean takeAnotherQuestion() {
        final boolean was = isAnotherQuestion;
        isAnotherQuestion = false;
        return was;
    }

    /** {@return the place of the chosen row, from 0, among so many} */
    int chosen(final int rows) {
        chosen = Math.max(0, Math.min(chosen, rows - 1));
        return chosen;
    }

    /** {@return the line for the question: what is typed, and what is wrong with it, or what is shown} */
    String line() {
        final String shown = "sorted by " + query.orderText() + "; group " + groupingText +
            (filterText.isEmpty() ? "" : "; filter " + filterText) + "; h for help";
        return switch (prompt) {
            case NONE -> shown;
            case FILTER -> "filter> " + typed + '_' + (fault.isEmpty() ? "" : "   " + fault);
            case GROUPING -> "group by> " + typed + '_' + (fault.isEmpty() ? "" : "   " + fault);
        };
    }
}
