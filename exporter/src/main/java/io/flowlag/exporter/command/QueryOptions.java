package io.flowlag.exporter.command;

import io.flowlag.common.command.ExitCode;
import io.flowlag.common.command.ExitException;
import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ConfigTable;
import io.flowlag.exporter.listing.FlowQuery;
import io.flowlag.exporter.listing.Grouping;
import io.flowlag.exporter.listing.Listing;
import io.flowlag.exporter.listing.RowFilter;
import io.flowlag.exporter.listing.RowFormat;
import io.flowlag.exporter.listing.RowPart;
import io.flowlag.exporter.listing.SortKey;
import io.flowlag.exporter.terminal.Terminal;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParseResult;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;

/** The options that say which flows are shown, in which order and format; the same for each command that shows some. */
final class QueryOptions {
    private static final String FORMAT = "--format";
    private static final String SORT = "--sort";
    private static final String TOP = "--top";
    private static final String GROUP_BY = "--group-by";

    /** A command that has these options. */
    interface Asking {
        /** {@return whether it can write all formats} */
        default boolean hasFormats() {
            return true;
        }

        /** {@return whether it can leave out records; if not, its help has no room for the other options} */
        default boolean hasFilters() {
            return true;
        }
    }

    private QueryOptions() {
    }

    /** Adds the options to a command, after its own. */
    static void addTo(final CommandSpec command, final Asking asking) {
        if (asking.hasFormats()) {
            command.addOption(OptionSpec.builder(FORMAT).paramLabel("FORMAT").type(RowFormat.class).description(
                "One of table, json (an object a line, with ISO 8601 times) and csv (one header). Default: table.").build());
        }
        text(command, "KEY", "Largest first, or smallest first with :a behind it: " + SortKey.labels() + ". Unknown values are " +
            "last. Sorted rows and groups are printed at the end.", SORT);
        text(command, "N", "At most N rows: without --sort the slowest, or those with most packets where no delay is known.",
            TOP, "--limit");
        text(command, "PART,...", "Adds records up by " + Grouping.SYNTAX + ". An IPv6 address without a length of its own is " +
            "cut to 64 bits. A bound or a deviation that a record lacks is absent, as are quantiles of several records.",
            GROUP_BY);
        if (!asking.hasFilters()) {
            for (final OptionSpec each : List.copyOf(command.options())) {
                if (List.of(FORMAT, SORT, TOP, GROUP_BY).contains(each.names()[0])) {
                    command.remove(each);
                    command.addOption(OptionSpec.builder(each).hidden(true).build());
                }
            }
            return;
        }
        condition(command, RowFilter.Condition.SOURCE, "PREFIX", "Flows from these addresses, such as 192.0.2.0/24.");
        condition(command, RowFilter.Condition.DESTINATION, "PREFIX", "Flows to these addresses.");
        condition(command, RowFilter.Condition.PREFIX, "PREFIX", "Flows from or to these addresses.");
        condition(command, RowFilter.Condition.PORT, "N", "Flows from or to this port.");
        condition(command, RowFilter.Condition.SPORT, "N", "Flows from this port.");
        condition(command, RowFilter.Condition.DPORT, "N", "Flows to this port.");
        condition(command, RowFilter.Condition.PROTOCOL, "NAME",
            "Flows of this protocol: tcp, udp, icmp, icmp6, sctp or a number.");
        condition(command, RowFilter.Condition.APP, "NAME",
            "Flows of the port that IANA gives this name, such as https or dns. Of two known ports the smaller counts.");
        condition(command, RowFilter.Condition.DSCP, "N", "Flows with this DSCP.");
        condition(command, RowFilter.Condition.MIN_PACKETS, "N", "Rows with at least so many packets.");
        condition(command, RowFilter.Condition.MIN_DELAY, "DURATION", "Rows with at least this mean delay, such as 5ms.");
        condition(command, RowFilter.Condition.MIN_HANDSHAKE, "DURATION", "Rows with a TCP handshake at least so long.");
        condition(command, RowFilter.Condition.MIN_RTT, "DURATION",
            "Rows with at least this mean round trip of TCP, for which captures are metered with metering.tcp.");
        condition(command, RowFilter.Condition.MIN_RETRANSMITTED, "N", "Rows with so many packets that TCP sent again.");
        condition(command, RowFilter.Condition.MIN_REORDERED, "N", "Rows with so many packets of TCP out of order.");
        condition(command, RowFilter.Condition.MIN_ZERO_WINDOWS, "N", "Rows with so many closed windows of TCP.");
    }

    private static void condition(
        final CommandSpec command, final RowFilter.Condition condition, final String label, final String description) {
        text(command, label, description, name(condition));
    }

    private static void text(
        final CommandSpec command, final String label, final String description, final String... names) {
        command.addOption(
            OptionSpec.builder(names).paramLabel(label).type(String.class).arity("1").description(description).build());
    }

    private static List<RowFilter.Condition> conditions(final ParseResult line) {
        return line.commandSpec().userObject() instanceof Asking asking && asking.hasFilters() ?
            List.of(RowFilter.Condition.values()) : List.of();
    }

    private static String name(final RowFilter.Condition condition) {
        return "--" + condition.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** {@return what a command line asks for} Throws an {@link ExitException} if it is wrong. */
    static Listing read(final ParseResult line, final Terminal terminal) {
        final RowFormat format = line.hasMatchedOption(FORMAT) ? line.matchedOptionValue(FORMAT, RowFormat.TABLE) :
            RowFormat.TABLE;
        return new Listing(format, query(line), format == RowFormat.TABLE && terminal.isColoured())
            .with(terminal.isOutTerminal() ? null : EnumSet.complementOf(EnumSet.of(RowPart.SPELL))).fitting(terminal.width());
    }

    /** {@return which rows a command line asks for} */
    static FlowQuery query(final ParseResult line) {
        RowFilter filter = RowFilter.ALL;
        for (final RowFilter.Condition condition : conditions(line)) {
            final String value = line.matchedOptionValue(name(condition), null);
            if (value != null) {
                try {
                    filter = filter.with(condition, value);
                } catch (final IllegalArgumentException ex) {
                    throw refusal(name(condition), value, ex);
                }
            }
        }
        FlowQuery query = FlowQuery.ALL.with(filter);
        final String order = line.matchedOptionValue(SORT, null);
        final String grouping = line.matchedOptionValue(GROUP_BY, null);
        final String limit = line.matchedOptionValue(TOP, null);
        try {
            query = order == null ? query : query.sorted(order);
        } catch (final IllegalArgumentException ex) {
            throw refusal(SORT, order, ex);
        }
        try {
            query = grouping == null ? query : query.by(Grouping.parse(grouping));
        } catch (final IllegalArgumentException ex) {
            throw refusal(GROUP_BY, grouping, ex);
        }
        if (limit != null && !limit.matches("[0-9]{1,9}")) {
            throw new ExitException(ExitCode.USAGE, TOP + "=" + limit + ": must be a number, 0 for all");
        }
        return limit == null ? query : query.first(Integer.parseInt(limit));
    }

    /** Has TCP followed, unless that was decided, if the command line asks for what only this tells. */
    static void layOver(final ParseResult line, final ConfigLoader loader) {
        if (query(line).keys().stream().anyMatch(SortKey::isOfTcp)) {
            loader.optionUnlessGiven("what is asked of TCP", ConfigTable.FOLLOW_TCP, "on");
        }
    }

    private static ExitException refusal(final String option, final String value, final IllegalArgumentException ex) {
        return new ExitException(ExitCode.USAGE, option + "=" + value + ": " + ex.getMessage());
    }

    /** Refuses options that have no effect, because records go elsewhere. */
    static void requireNone(final ParseResult line, final String command) {
        final List<String> names = new ArrayList<>(List.of(FORMAT, SORT, TOP, GROUP_BY));
        for (final RowFilter.Condition condition : conditions(line)) {
            names.add(name(condition));
        }
        for (final String name : names) {
            if (line.hasMatchedOption(name)) {
                throw new ExitException(ExitCode.USAGE, command + ": " + name + " is of what is printed without --export: " +
                    "leave one out, or ask collect -r");
            }
        }
    }
}
