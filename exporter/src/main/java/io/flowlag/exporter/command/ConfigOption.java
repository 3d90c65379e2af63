package io.flowlag.exporter.command;

import io.flowlag.exporter.config.ConfigKey;
import io.flowlag.exporter.config.ConfigTable;
import picocli.CommandLine.Model.OptionSpec;

import java.util.List;

/**
 * Options that set one key of the configuration each: the names, the key, and a value to show in the help. The most used come
 * first. Default and help are the key's; the help ends at its first colon, semicolon or full stop.
 */
enum ConfigOption {
    INTERFACE(ConfigTable.INTERFACES, "IFACE", "-i", "--interface"),
    DIRECTION(ConfigTable.DIRECTION, "in|out|both", "--direction"),
    INGRESS(ConfigTable.INGRESS, "IFACE", "--ingress"),
    EGRESS(ConfigTable.EGRESS, "IFACE", "--egress"),
    EXPORT(ConfigTable.DESTINATIONS, "URI", "--export"),
    PROFILE(ConfigTable.PROFILE, "PROFILE", "--profile"),
    FILTER(ConfigTable.FILTER, "BPF", "--filter"),
    CAPACITY(ConfigTable.CAPACITY, "RATE", "--capacity"),
    MAXIMUM_DELAY(ConfigTable.MAXIMUM_DELAY, "DURATION", "--max-delay"),
    INTERVAL(ConfigTable.SEGMENT_INTERVAL, "DURATION", "--interval"),
    ACTIVE(ConfigTable.ACTIVE_TIMEOUT, "DURATION", "--active"),
    IDLE(ConfigTable.IDLE_TIMEOUT, "DURATION", "--idle"),
    MAX_FLOWS(ConfigTable.MAX_FLOWS, "COUNT", "--max-flows"),
    FLOW_KEY(ConfigTable.FLOW_KEY, "FIELD", "--flow-key"),
    TUNNELS(ConfigTable.TUNNELS, "outer|inner", "--tunnels"),
    FRAGMENTS(ConfigTable.FRAGMENTS, "on|off", "--fragments"),
    STATS(ConfigTable.STATS_FILE, "FILE", "--stats"),
    METRICS(ConfigTable.METRICS_LISTEN, "[HOST:]PORT", "--metrics"),
    LOG_FILE(ConfigTable.LOG_FILE, "FILE", "--log-file"),
    OPTIONS(ConfigTable.OPTIONS, "auto|on|off", "--options"),
    OBSERVATION_DOMAIN(ConfigTable.OBSERVATION_DOMAIN, "ID", "--observation-domain"),
    ENTERPRISE_NUMBER(ConfigTable.ENTERPRISE_NUMBER, "N", "--enterprise-number"),
    TLS_CERTIFICATE(ConfigTable.TLS_CERTIFICATE, "PEM", "--tls-certificate"),
    TLS_KEY(ConfigTable.TLS_KEY, "PEM", "--tls-key"),
    TLS_TRUST(ConfigTable.TLS_TRUST, "PEM", "--tls-trust"),
    TLS_PEER(ConfigTable.TLS_PEERS, "NAME", "--tls-peer"),
    SOURCE(ConfigTable.SOURCE, "KIND", "--source"),
    THREADING(ConfigTable.THREADING, "MODE", "--threading"),
    POLICY(ConfigTable.POLICY, "POLICY", "--policy"),
    ROWS(ConfigTable.LDS_ROWS, "R", "--rows"),
    SKETCH_COLUMNS(ConfigTable.LDS_COLUMNS, "C", "--columns"),
    VLDA(ConfigTable.LDS_VLDA, "K", "--vlda"),
    RATES(ConfigTable.LDS_RATES, "SHARE,...", "--rates");

    /** Of the option -c in the help: behind {@link #EXPORT}. */
    static final int FILE_ORDER = EXPORT.order() + 1;
    /** Of --set in the help: behind them all. */
    static final int SET_ORDER = RATES.order() + 1;

    private static final String CHOICE = "one of ";
    private static final int FIRST_ORDER = 10;

    private final ConfigKey<?> key;
    private final String label;
    private final String[] names;

    ConfigOption(final ConfigKey<?> key, final String label, final String... names) {
        this.key = key;
        this.label = label;
        this.names = names;
    }

    ConfigKey<?> key() {
        return key;
    }

    /** The name that messages use. */
    String longName() {
        return names[names.length - 1];
    }

    /** The option for the parser: a list where the key is one, else one text; and its default in words. */
    OptionSpec spec(final String usual) {
        final boolean isList = key.defaultValue() instanceof List;
        final OptionSpec.Builder builder = OptionSpec.builder(names).paramLabel(label).arity("1");
        if (isList) {
            builder.type(List.class).auxiliaryTypes(String.class);
        } else {
            builder.type(String.class);
        }
        final boolean isNothing = "[]".equals(key.defaultText()) || "none".equals(key.defaultText());
        return builder.order(order()).description(escaped(brief() + (isList ? " Repeatable." : "") +
            (isNothing ? "" : " Default: " + usual + "."))).build();
    }

    private int order() {
        return FIRST_ORDER + 2 * ordinal();
    }

    /** What the key does, up to the first colon, semicolon or full stop; and the choices, where the label does not have them. */
    private String brief() {
        final String first = key.description().split("[:;.] |\\.$", 2)[0];
        final boolean isChoice = key.syntax().startsWith(CHOICE) && !label.contains("|");
        return first + (isChoice ? " (" + key.syntax().substring(CHOICE.length()) + ")." : ".");
    }

    private static String escaped(final String text) {
        return text.replace("%", "%%").replace("@|", "@ |");
    }
}
