package io.flowlag.exporter.config;

import io.flowlag.common.config.Origin;
import io.flowlag.common.config.Problems;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import static io.flowlag.exporter.config.ConfigTable.*;
import static io.flowlag.exporter.config.ExporterConfig.*;

/** Turns checked settings into records, with every default and every "auto" resolved. */
final class Conclusion extends SettingsAccess {
    private static final int UDP_MESSAGE_BYTES = 1400;
    private static final int STREAM_MESSAGE_BYTES = 16 * 1024;
    private static final int LEAST_SHARDS = 2;
    private static final int DEFAULT_PACKETS = 1 << 20;
    private static final String LOCALHOST = "localhost";
    private static final double PARTS_IN_A_MILLION = 1e6;

    private final List<DestinationSpec> specs;

    Conclusion(final Map<ConfigKey<?>, Setting> settings, final List<DestinationSpec> specs) {
        super(settings, new Problems());
        this.specs = specs;
    }

    ExporterConfig config() {
        final List<Destination> destinations = specs.stream().map(this::destination).toList();
        return new ExporterConfig(Stream.<Record>of(
            new ExporterConfig.Process(value(OBSERVATION_DOMAIN), value(THREADING)),
            new Memory(value(MEMORY), List.of()),
            new Capture(value(INTERFACES), value(SOURCE), value(DIRECTION), value(PROMISCUOUS), value(FILTER),
                intValue(SNAP_LENGTH), value(RING), value(HARDWARE_TIMESTAMPS), value(IN_USE)),
            new Decode(value(TUNNELS), value(FRAGMENTS), intValue(FRAGMENT_TABLE),
                value(ROLE) != Role.NONE || value(DIGEST_KEY_FILE) != null, value(DIGEST_KEY_FILE)),
            new Metering(Set.copyOf(value(FLOW_KEY)), intValue(MAX_FLOWS), value(ACTIVE_TIMEOUT), value(IDLE_TIMEOUT),
                value(TCP_END_TIMEOUT), orZero(value(CUT)), value(FOLLOW_TCP), value(MAC), value(BIFLOW),
                new Sampling(intValue(SAMPLING), value(SAMPLE_RANDOM), intValue(SAMPLE_FLOWS))),
            new Checkpoint(value(CHECKPOINT_FILE), value(CHECKPOINT_INTERVAL)),
            segment(),
            new Pairs(List.of()),
            clock(),
            rli(),
            lds(),
            new Joint(value(JOINT_ENABLED), value(JOINT_BUDGET), value(JOINT_WAIT), intValue(JOINT_FLOWS),
                intValue(JOINT_PENDING), value(JOINT_CHECK)),
            new Reconcile(value(RECONCILE_ENABLED), intValue(RECONCILE_PACKETS), intValue(RECONCILE_CELLS),
                value(RECONCILE_WAIT)),
            new Quantiles(value(QUANTILES_MEMORY), intValue(QUANTILES_FROM), value(QUANTILES_BANDWIDTH)),
            exchange(),
            new Pipeline(intValue(PACKET_RING), intValue(RECORD_RING),
                value(SHARDS) == null ? automaticShards() : intValue(SHARDS), value(IDLE)),
            new Exporting(destinations, value(ENTERPRISE_NUMBER),
                new Tls(value(TLS_CERTIFICATE), value(TLS_KEY), value(TLS_TRUST), value(TLS_PEERS))),
            new Log(value(LOG_LEVEL), value(LOG_FILE)),
            new Stats(value(STATS_FILE), orZero(value(STATS_INTERVAL))),
            new Status(value(STATUS_ENABLED), value(STATUS_FILE), value(STATUS_INTERVAL), intValue(STATUS_FLOWS)),
            new Metrics(value(METRICS_LISTEN), intValue(METRICS_CONNECTIONS))).collect(
                Collectors.toMap(Record::getClass, (section) -> section)), effectiveValues(), warnings(destinations));
    }

    /** The number of packets keeps its default if captures are not surveyed first, as from standard input. */
    private Segment segment() {
        final Long vlanId = value(SEGMENT_VLAN);
        return new Segment(value(ROLE), value(SEGMENT_ID), new Points(value(INGRESS), value(EGRESS)),
            new Selector(value(SEGMENT_SOURCE), value(SEGMENT_DESTINATION), vlanId == null ? -1 : vlanId.intValue()),
            value(MAXIMUM_DELAY), value(SEGMENT_INTERVAL), value(OFFLOAD), value(EXACT),
            value(EXACT_PACKETS) == null ? DEFAULT_PACKETS : intValue(EXACT_PACKETS), value(SENDER_RECORDS));
    }

    private Clock clock() {
        final ClockSource source = value(CLOCK_FILE) != null ? ClockSource.FILE :
            value(CLOCK_ERROR) != null ? ClockSource.FIXED : ClockSource.ADJTIMEX;
        return new Clock(
            source, orZero(value(CLOCK_ERROR)), value(CLOCK_FILE), value(CLOCK_CORRECT), value(CLOCK_REFLECTOR));
    }

    private Rli rli() {
        final long capacityBps = orZero(value(CAPACITY));
        final Injection injection = new Injection(value(POLICY), value(EVERY_N), value(EVERY_INTERVAL),
            value(MINIMUM_UTILIZATION), value(MAXIMUM_UTILIZATION), value(MINIMUM_RATE), value(MAXIMUM_RATE),
            value(MAXIMUM_GAP), value(SMOOTHING), value(CEILING).bpsAt(capacityBps));
        final References references = new References(value(TARGET), intValue(REFERENCE_PORT), intValue(SESSION),
            value(REFERENCE_KEY_FILE), value(CLASSES).stream().map(Long::intValue).toList(), value(SENDERS));
        return new Rli(injection, INJECTION.stream().anyMatch((key) -> !isDefault(key)), references, capacityBps,
            value(ESTIMATOR), value(SERIALISATION), intValue(REFERENCE_BUFFER), value(SILENT_AFTER), value(DRIFT),
            value(POLICY) == Policy.PASSIVE || !isDefault(PASSIVE_SHARE) ? partsInAMillion(value(PASSIVE_SHARE)) : 0);
    }

    private static int partsInAMillion(final double share) {
        return (int)Math.round(share * PARTS_IN_A_MILLION);
    }

    private Lds lds() {
        return new Lds(value(LDS_ENABLED), new Shape(intValue(LDS_ROWS), intValue(LDS_COLUMNS), intValue(LDS_VLDA)),
            value(LDS_RATES).stream().map(Conclusion::partsInAMillion).toList(), value(LDS_WEIGHTS), value(LDS_ALPHA),
            intValue(LDS_AGGREGATOR), 0, intValue(LDS_IN_FLIGHT), intValue(LDS_WAITING), partsInAMillion(value(LDS_WITNESSES)));
    }

    private Exchange exchange() {
        return new Exchange(value(EXCHANGE_LISTEN), value(EXCHANGE_CONNECT), value(EXCHANGE_KEY_FILE),
            value(EXCHANGE_DEADLINE), value(EXCHANGE_MEMORY),
            !hasExchangeTls() ? null : new Tls(value(EXCHANGE_TLS_CERTIFICATE), value(EXCHANGE_TLS_KEY),
                value(EXCHANGE_TLS_TRUST), value(EXCHANGE_TLS_PEERS)),
            new ExchangeLimits(intValue(EXCHANGE_MAX_CONNECTIONS), value(EXCHANGE_HANDSHAKE), value(EXCHANGE_MESSAGE_TIMEOUT),
                value(EXCHANGE_IDLE)),
            value(EXCHANGE_MODE), value(EXCHANGE_BANDWIDTH));
    }

    private Destination destination(final DestinationSpec spec) {
        final DestinationUri uri = spec.uri();
        return new Destination(new Address(uri.text(), uri.transport(), uri.host(), uri.port(), uri.file()),
            value(spec, PROFILE), optionsOn(spec), value(spec, OPTIONS_INTERVAL), messageBytes(spec),
            new Refresh(value(spec, TEMPLATE_REFRESH), value(spec, TEMPLATE_REFRESH_MESSAGES).intValue()),
            value(spec, FLUSH_INTERVAL),
            new Connection(orZero(value(spec, RATE_LIMIT)), value(spec, RECONNECT_INTERVAL), value(spec, CONNECT_TIMEOUT),
                value(spec, SEND_BUFFER).intValue()),
            new Spool(uri.transport() == Transport.UDP ? null : value(spec, SPOOL), value(spec, SPOOL_SIZE),
                value(spec, SPOOL_RATE).intValue()));
    }

    private boolean optionsOn(final DestinationSpec spec) {
        final OptionsMode mode = value(spec, OPTIONS);
        return mode == OptionsMode.ON || mode == OptionsMode.AUTO && spec.uri().transport() != Transport.UDP;
    }

    /** Leaves a processor to another thread, of capture or of exporting. */
    static int automaticShards() {
        return Math.max(LEAST_SHARDS, Runtime.getRuntime().availableProcessors() - 1);
    }

    private int messageBytes(final DestinationSpec spec) {
        final Long given = value(spec, MAX_MESSAGE_SIZE);
        if (given != null) {
            return given.intValue();
        }
        return spec.uri().transport() == Transport.UDP ? UDP_MESSAGE_BYTES : STREAM_MESSAGE_BYTES;
    }

    private List<EffectiveValue> effectiveValues() {
        final List<EffectiveValue> values = new ArrayList<>();
        for (final ConfigKey<?> key : keys()) {
            if (key == DESTINATIONS) {
                destinationValues(values);
            } else {
                final Setting setting = setting(key);
                values.add(new EffectiveValue(key.path(), setting.text(), setting.origin(), note(key, setting),
                    key.isReloadable(), setting.value()));
            }
        }
        return List.copyOf(values);
    }

    /** What a derived value was derived from. */
    private static String note(final ConfigKey<?> key, final Setting setting) {
        final boolean isByRule = setting.note().isEmpty() && key.isDerived() &&
            (setting.origin().isDefault() || ValueTypes.AUTO.equals(setting.text()));
        return isByRule ? "auto: " + key.derivation() : setting.note();
    }

    private void destinationValues(final List<EffectiveValue> values) {
        final String path = DESTINATIONS.path();
        if (specs.isEmpty()) {
            values.add(new EffectiveValue(path, "[]", Origin.DEFAULT, "", true, List.of()));
        }
        for (int i = 0; i < specs.size(); i++) {
            final DestinationSpec spec = specs.get(i);
            final String prefix = path + "[" + i + "].";
            values.add(new EffectiveValue(prefix + "uri", spec.uri().text(), spec.origin(), "", true, spec.uri()));
            for (final ConfigKey<?> key : destinationKeys()) {
                if (key.transports().contains(spec.uri().transport())) {
                    values.add(destinationValue(prefix, spec, key));
                }
            }
        }
    }

    private EffectiveValue destinationValue(final String prefix, final DestinationSpec spec, final ConfigKey<?> key) {
        final Setting setting = setting(spec, key);
        final boolean isAuto = ValueTypes.AUTO.equals(setting.text());
        final String text = isAuto ? resolvedAuto(spec, key) : setting.text();
        final String note = isAuto ? "auto: " + key.derivation() : "";
        return new EffectiveValue(prefix + key.name(), text, setting.origin(), note, key.isReloadable(), setting.value());
    }

    private String resolvedAuto(final DestinationSpec spec, final ConfigKey<?> key) {
        if (key == OPTIONS) {
            return optionsOn(spec) ? "on" : "off";
        }
        return Integer.toString(messageBytes(spec));
    }

    private List<String> warnings(final List<Destination> destinations) {
        final boolean sendsEnterpriseElements = destinations.stream().anyMatch((each) -> each.profile() == Profile.FULL &&
            isBeyondThisHost(each.address().host()));
        final long number = value(ENTERPRISE_NUMBER);
        if (sendsEnterpriseElements && number == DOCUMENTATION_ENTERPRISE_NUMBER) {
            return List.of("enterprise number 32473 is for documentation (RFC 5612): set exporting.enterprise-number to your " +
                "own, or exporting.profile to standard");
        }
        return List.of();
    }

    private static boolean isBeyondThisHost(final String host) {
        return host != null && HostPort.isAddressBeyondLoopback(host, !LOCALHOST.equalsIgnoreCase(host));
    }

    private <T> T value(final DestinationSpec spec, final ConfigKey<T> key) {
        return key.cast(setting(spec, key).value());
    }

    private int intValue(final ConfigKey<Long> key) {
        return Math.toIntExact(value(key));
    }

    private static long orZero(final Long value) {
        return value == null ? 0L : value;
    }
}
