package io.flowlag.exporter.config;

import io.flowlag.exporter.config.ExporterConfig.Destination;
import io.flowlag.exporter.config.ExporterConfig.OptionsMode;
import io.flowlag.exporter.config.ExporterConfig.Profile;
import io.flowlag.exporter.config.ExporterConfig.Transport;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Turns checked settings into records, with every default and every "auto" resolved. */
final class Conclusion {
    private static final int UDP_MESSAGE_BYTES = 1400;
    private static final int STREAM_MESSAGE_BYTES = 16 * 1024;
    private static final int LEAST_SHARDS = 2;
    private static final int DEFAULT_PACKETS = 1 << 20;
    private static final String LOCALHOST = "localhost";
    private static final double PARTS_IN_A_MILLION = 1e6;

    private final Map<ConfigKey<?>, Setting> settings;
    private final List<DestinationSpec> specs;

    Conclusion(final Map<ConfigKey<?>, Setting> settings, final List<DestinationSpec> specs) {
        this.settings = settings;
        this.specs = specs;
    }

    ExporterConfig config() {
        final List<Destination> destinations = specs.stream().map(this::destination).toList();
        return new ExporterConfig(
            value(ConfigTable.OBSERVATION_DOMAIN),
            value(ConfigTable.THREADING),
            new ExporterConfig.Capture(value(ConfigTable.INTERFACES), value(ConfigTable.SOURCE), value(ConfigTable.DIRECTION),
                value(ConfigTable.PROMISCUOUS), value(ConfigTable.FILTER), intValue(ConfigTable.SNAP_LENGTH),
                value(ConfigTable.RING), value(ConfigTable.HARDWARE_TIMESTAMPS)),
            new ExporterConfig.Decode(value(ConfigTable.TUNNELS), value(ConfigTable.FRAGMENTS),
                intValue(ConfigTable.FRAGMENT_TABLE), value(ConfigTable.FRAGMENT_TIMEOUT), value(ConfigTable.DIGEST),
                value(ConfigTable.DIGEST_KEY_FILE)),
            new ExporterConfig.Metering(Set.copyOf(value(ConfigTable.FLOW_KEY)), intValue(ConfigTable.MAX_FLOWS),
                value(ConfigTable.ACTIVE_TIMEOUT), value(ConfigTable.IDLE_TIMEOUT), value(ConfigTable.TCP_END_TIMEOUT)),
            new ExporterConfig.Checkpoint(value(ConfigTable.CHECKPOINT_FILE), value(ConfigTable.CHECKPOINT_INTERVAL)),
            segment(), new ExporterConfig.Clock(value(ConfigTable.CLOCK_SOURCE), value(ConfigTable.CLOCK_ERROR),
                value(ConfigTable.CLOCK_FILE)), rli(), lds(), joint(), reconcile(),
            new ExporterConfig.Quantiles(value(ConfigTable.QUANTILES_MEMORY), intValue(ConfigTable.QUANTILES_FROM)), exchange(),
            new ExporterConfig.Pipeline(intValue(ConfigTable.PACKET_RING), intValue(ConfigTable.RECORD_RING),
                value(ConfigTable.SHARDS) == null ? automaticShards() : intValue(ConfigTable.SHARDS),
                value(ConfigTable.IDLE)),
            new ExporterConfig.Exporting(destinations, value(ConfigTable.ENTERPRISE_NUMBER),
                new ExporterConfig.Tls(value(ConfigTable.TLS_CERTIFICATE), value(ConfigTable.TLS_KEY),
                    value(ConfigTable.TLS_TRUST), value(ConfigTable.TLS_PEERS))),
            new ExporterConfig.Log(value(ConfigTable.LOG_LEVEL), value(ConfigTable.LOG_FILE)),
            new ExporterConfig.Stats(value(ConfigTable.STATS_FILE), orZero(value(ConfigTable.STATS_INTERVAL))),
            new ExporterConfig.Status(value(ConfigTable.STATUS_ENABLED), value(ConfigTable.STATUS_FILE),
                value(ConfigTable.STATUS_INTERVAL), intValue(ConfigTable.STATUS_FLOWS)),
            new ExporterConfig.Metrics(value(ConfigTable.METRICS_LISTEN), intValue(ConfigTable.METRICS_CONNECTIONS)),
            effectiveValues(), warnings(destinations));
    }

    private ExporterConfig.Segment segment() {
        final Long vlanId = value(ConfigTable.SEGMENT_VLAN);
        return new ExporterConfig.Segment(value(ConfigTable.ROLE), value(ConfigTable.SEGMENT_ID), value(ConfigTable.INGRESS),
            value(ConfigTable.EGRESS), value(ConfigTable.SEGMENT_SOURCE), value(ConfigTable.SEGMENT_DESTINATION),
            vlanId == null ? -1 : vlanId.intValue(), value(ConfigTable.MAXIMUM_DELAY), value(ConfigTable.SEGMENT_INTERVAL),
            value(ConfigTable.OFFLOAD), value(ConfigTable.EXACT), exactPackets(),
            value(ConfigTable.SENDER_RECORDS));
    }

    /** Keeps the default if captures are not surveyed first, as from standard input. */
    private int exactPackets() {
        return value(ConfigTable.EXACT_PACKETS) == null ? DEFAULT_PACKETS : intValue(ConfigTable.EXACT_PACKETS);
    }

    private ExporterConfig.Rli rli() {
        return new ExporterConfig.Rli(value(ConfigTable.POLICY), value(ConfigTable.EVERY_N), value(ConfigTable.EVERY_INTERVAL),
            value(ConfigTable.MINIMUM_UTILIZATION), value(ConfigTable.MAXIMUM_UTILIZATION), value(ConfigTable.MINIMUM_RATE),
            value(ConfigTable.MAXIMUM_RATE), value(ConfigTable.MAXIMUM_GAP), value(ConfigTable.SMOOTHING),
            value(ConfigTable.CEILING).bpsAt(orZero(value(ConfigTable.CAPACITY))), orZero(value(ConfigTable.CAPACITY)),
            value(ConfigTable.TARGET), intValue(ConfigTable.REFERENCE_PORT),
            intValue(ConfigTable.SESSION), value(ConfigTable.REFERENCE_KEY_FILE),
            value(ConfigTable.CLASSES).stream().map(Long::intValue).toList(), value(ConfigTable.ESTIMATOR),
            value(ConfigTable.SERIALISATION), intValue(ConfigTable.REFERENCE_BUFFER), value(ConfigTable.SILENT_AFTER),
            value(ConfigTable.DRIFT), value(ConfigTable.SENDERS), partsInAMillion(value(ConfigTable.PASSIVE_SHARE)),
            ConfigTable.INJECTION.stream().anyMatch((key) -> !settings.get(key).origin().isDefault()));
    }

    private static int partsInAMillion(final double share) {
        return (int)Math.round(share * PARTS_IN_A_MILLION);
    }

    private ExporterConfig.Lds lds() {
        return new ExporterConfig.Lds(value(ConfigTable.LDS_ENABLED), intValue(ConfigTable.LDS_ROWS),
            intValue(ConfigTable.LDS_COLUMNS), intValue(ConfigTable.LDS_VLDA),
            value(ConfigTable.LDS_RATES).stream().map((each) -> (int)Math.round(each * PARTS_IN_A_MILLION)).toList(),
            value(ConfigTable.LDS_WEIGHTS), value(ConfigTable.LDS_ALPHA), intValue(ConfigTable.LDS_AGGREGATOR),
            intValue(ConfigTable.LDS_IN_FLIGHT), intValue(ConfigTable.LDS_WAITING),
            partsInAMillion(value(ConfigTable.LDS_WITNESSES)));
    }

    private ExporterConfig.Joint joint() {
        return new ExporterConfig.Joint(value(ConfigTable.JOINT_ENABLED), value(ConfigTable.JOINT_BUDGET),
            value(ConfigTable.JOINT_WAIT), intValue(ConfigTable.JOINT_FLOWS), intValue(ConfigTable.JOINT_PENDING),
            value(ConfigTable.JOINT_CHECK));
    }

    private ExporterConfig.Reconcile reconcile() {
        return new ExporterConfig.Reconcile(value(ConfigTable.RECONCILE_ENABLED), intValue(ConfigTable.RECONCILE_PACKETS),
            intValue(ConfigTable.RECONCILE_CELLS), value(ConfigTable.RECONCILE_WAIT));
    }

    private ExporterConfig.Exchange exchange() {
        return new ExporterConfig.Exchange(value(ConfigTable.EXCHANGE_LISTEN), value(ConfigTable.EXCHANGE_CONNECT),
            value(ConfigTable.EXCHANGE_KEY_FILE), value(ConfigTable.EXCHANGE_DEADLINE), value(ConfigTable.EXCHANGE_MEMORY),
            !value(ConfigTable.EXCHANGE_TLS) ? null : new ExporterConfig.Tls(value(ConfigTable.EXCHANGE_TLS_CERTIFICATE),
                value(ConfigTable.EXCHANGE_TLS_KEY), value(ConfigTable.EXCHANGE_TLS_TRUST),
                value(ConfigTable.EXCHANGE_TLS_PEERS)),
            new ExporterConfig.ExchangeLimits(
                intValue(ConfigTable.EXCHANGE_MAX_CONNECTIONS), value(ConfigTable.EXCHANGE_HANDSHAKE),
                value(ConfigTable.EXCHANGE_MESSAGE_TIMEOUT), value(ConfigTable.EXCHANGE_IDLE),
                intValue(ConfigTable.EXCHANGE_MAX_MESSAGE), intValue(ConfigTable.EXCHANGE_BUFFER)),
            value(ConfigTable.EXCHANGE_MODE), value(ConfigTable.EXCHANGE_BANDWIDTH));
    }

    private Destination destination(final DestinationSpec spec) {
        final DestinationUri uri = spec.uri();
        return new Destination(uri.text(), uri.transport(), uri.host(), uri.port(), uri.file(),
            value(spec, ConfigTable.PROFILE),
            optionsOn(spec),
            value(spec, ConfigTable.OPTIONS_INTERVAL),
            messageBytes(spec),
            value(spec, ConfigTable.TEMPLATE_REFRESH),
            value(spec, ConfigTable.TEMPLATE_REFRESH_MESSAGES).intValue(),
            value(spec, ConfigTable.FLUSH_INTERVAL),
            orZero(value(spec, ConfigTable.RATE_LIMIT)),
            value(spec, ConfigTable.RECONNECT_INTERVAL),
            value(spec, ConfigTable.CONNECT_TIMEOUT),
            value(spec, ConfigTable.SEND_BUFFER).intValue(),
            uri.transport() == Transport.UDP ? null : value(spec, ConfigTable.SPOOL),
            value(spec, ConfigTable.SPOOL_SIZE),
            value(spec, ConfigTable.SPOOL_RATE).intValue());
    }

    private boolean optionsOn(final DestinationSpec spec) {
        final OptionsMode mode = value(spec, ConfigTable.OPTIONS);
        return mode == OptionsMode.ON || mode == OptionsMode.AUTO && spec.uri().transport() != Transport.UDP;
    }

    /** Leaves a processor to another thread, of capture or of exporting. */
    static int automaticShards() {
        return Math.max(LEAST_SHARDS, Runtime.getRuntime().availableProcessors() - 1);
    }

    private int messageBytes(final DestinationSpec spec) {
        final Long given = value(spec, ConfigTable.MAX_MESSAGE_SIZE);
        if (given != null) {
            return given.intValue();
        }
        return spec.uri().transport() == Transport.UDP ? UDP_MESSAGE_BYTES : STREAM_MESSAGE_BYTES;
    }

    private List<EffectiveValue> effectiveValues() {
        final List<EffectiveValue> values = new ArrayList<>();
        for (final ConfigKey<?> key : ConfigTable.keys()) {
            if (key == ConfigTable.DESTINATIONS) {
                destinationValues(values);
            } else {
                final Setting setting = settings.get(key);
                values.add(new EffectiveValue(
                    key.path(), setting.text(), setting.origin(), setting.note(), key.isReloadable(), setting.value()));
            }
        }
        return List.copyOf(values);
    }

    private void destinationValues(final List<EffectiveValue> values) {
        final String path = ConfigTable.DESTINATIONS.path();
        if (specs.isEmpty()) {
            values.add(new EffectiveValue(path, "[]", Origin.DEFAULT, "", true, List.of()));
        }
        for (int i = 0; i < specs.size(); i++) {
            final DestinationSpec spec = specs.get(i);
            final String prefix = path + "[" + i + "].";
            values.add(new EffectiveValue(prefix + "uri", spec.uri().text(), spec.origin(), "", true, spec.uri()));
            for (final ConfigKey<?> key : ConfigTable.destinationKeys()) {
                if (key.transports().contains(spec.uri().transport())) {
                    values.add(destinationValue(prefix, spec, key));
                }
            }
        }
    }

    private EffectiveValue destinationValue(final String prefix, final DestinationSpec spec, final ConfigKey<?> key) {
        final Setting setting = spec.overrides().getOrDefault(key, settings.get(key));
        final boolean isAuto = ValueTypes.AUTO.equals(setting.text());
        final String text = isAuto ? resolvedAuto(spec, key) : setting.text();
        final String note = isAuto ? "auto for " + ValueTypes.name(spec.uri().transport()) : "";
        return new EffectiveValue(prefix + key.name(), text, setting.origin(), note, key.isReloadable(), setting.value());
    }

    private String resolvedAuto(final DestinationSpec spec, final ConfigKey<?> key) {
        if (key == ConfigTable.OPTIONS) {
            return optionsOn(spec) ? "on" : "off";
        }
        return Integer.toString(messageBytes(spec));
    }

    private List<String> warnings(final List<Destination> destinations) {
        final boolean sendsEnterpriseElements = destinations.stream().anyMatch((each) -> each.profile() == Profile.FULL &&
            each.host() != null && HostPort.isAddressBeyondLoopback(each.host(), !LOCALHOST.equalsIgnoreCase(each.host())));
        final long number = value(ConfigTable.ENTERPRISE_NUMBER);
        if (sendsEnterpriseElements && number == ConfigTable.DOCUMENTATION_ENTERPRISE_NUMBER) {
            return List.of("enterprise number 32473 is for documentation (RFC 5612): set exporting.enterprise-number to your " +
                "own, or exporting.profile to standard");
        }
        return List.of();
    }

    private <T> T value(final ConfigKey<T> key) {
        return key.cast(settings.get(key).value());
    }

    private <T> T value(final DestinationSpec spec, final ConfigKey<T> key) {
        return key.cast(spec.overrides().getOrDefault(key, settings.get(key)).value());
    }

    private int intValue(final ConfigKey<Long> key) {
        return Math.toIntExact(value(key));
    }

    private static long orZero(final Long value) {
        return value == null ? 0L : value;
    }
}
