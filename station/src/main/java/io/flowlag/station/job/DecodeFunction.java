package io.flowlag.station.job;

import io.flowlag.common.counter.CounterSet;
import io.flowlag.ipfix.collect.CollectedRecord;
import io.flowlag.ipfix.collect.CollectingProcess;
import io.flowlag.ipfix.collect.CollectorCounter;
import io.flowlag.ipfix.collect.CollectorLimits;
import io.flowlag.ipfix.collect.SessionKind;
import io.flowlag.ipfix.collect.TransportSession;
import io.flowlag.ipfix.element.FlowElements;
import io.flowlag.ipfix.message.MessageHeader;
import io.flowlag.network.window.Windows;
import io.flowlag.station.job.state.FlowPart;
import io.flowlag.station.job.state.MissingRecords;
import io.flowlag.station.job.state.NetworkVersion;
import io.flowlag.station.job.state.SegmentInterval;
import io.flowlag.station.job.state.SegmentPart;
import io.flowlag.station.schema.RawMessage;
import io.flowlag.station.schema.Status;
import io.flowlag.station.wire.MessageType;
import org.agrona.concurrent.UnsafeBuffer;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.streaming.api.functions.co.KeyedBroadcastProcessFunction;
import org.apache.flink.util.Collector;
import org.apache.flink.util.OutputTag;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Decodes the messages of sessions. What is wrong with a message is counted and never ends the job. Templates and sequence
 * numbers are state: behind a restart or another parallelism a session goes on where it was, and what was lost meanwhile is
 * missing. More than {@link #MOST_SESSIONS} sessions are refused, half of them where the network has no segment of the exporter:
 * so memory is bounded by {@link CollectorLimits#DEFAULTS} and {@link SessionState}.
 */
final class DecodeFunction extends KeyedBroadcastProcessFunction<String, RawMessage, NetworkVersion, SegmentPart> {
    /** Flow records of segments. */
    static final OutputTag<FlowPart> FLOWS = new OutputTag<>("flows", MessageType.forMessage(FlowPart.class));

    /** Flow records whole, for other programs: the 5-tuple, and a {@code FlowMessage} as it is written. */
    static final OutputTag<Tuple2<byte[], byte[]>> RECORDS = new OutputTag<>("records", Types.TUPLE(
        PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO, PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO));

    /** What came of exporters, of each message. */
    static final OutputTag<Status.Exporter> EXPORTERS =
        new OutputTag<>("exporters", MessageType.forMessage(Status.Exporter.class));

    private static final long serialVersionUID = 1;
    /** As many as one inlet has. */
    static final int MOST_SESSIONS = CollectorLimits.DEFAULTS.maxUdpSessions() + CollectorLimits.DEFAULTS.maxConnections();
    /** Over UDP a session that was silent for so long is forgotten: its templates have expired (RFC 7011, 8.4). */
    private static final long SILENT_MS = TimeUnit.NANOSECONDS.toMillis(CollectorLimits.DEFAULTS.udpTemplateLifetimeNs());
    /** So is a connection whose end no inlet has told. */
    private static final long SILENT_CONNECTION_MS = TimeUnit.DAYS.toMillis(1);
    private static final int TOUCHES = 256;
    /** How long gaps are gathered. */
    private static final long GATHER_MS = 1_000;
    /** A record whose time is so much after its receipt is counted. */
    private static final long AHEAD_NS = TimeUnit.SECONDS.toNanos(5);
    /** A flow is divided between so many windows, at most: of segments of the network, and of others. */
    private static final int MOST_WINDOWS = 3600;
    private static final int MOST_WINDOWS_UNMAPPED = 16;
    private static final int IPV4_BYTES = 4;
    /** Of messages that were refused. */
    private static final long NO_DOMAIN = -1;

    private final JobSettings settings;
    private final boolean isWhole;

    private transient CounterSet<CollectorCounter> counters;
    private transient CounterSet<JobCounter> read;
    private transient JobCounters total;
    private transient Networks networks;
    private transient CollectingProcess process;
    private transient Map<String, TransportSession> sessions;
    /** Those of exporters of which the network has no segment. */
    private transient int strangers;
    private transient SessionState state;
    private transient ValueState<Long> lastMs;
    private transient IntervalReader reader;
    private transient FlowReader flows;
    private transient FlowMessageReader whole;
    private transient UnsafeBuffer payload;
    private transient Collector<SegmentPart> out;
    private transient ReadOnlyContext context;
    private transient long nowNs;

    /**
     * A decoder.
     *
     * @param isWhole whether flow records go to {@link #RECORDS} and what came of exporters to {@link #EXPORTERS} too.
     */
    DecodeFunction(final JobSettings settings, final boolean isWhole) {
        this.settings = settings;
        this.isWhole = isWhole;
    }

    @Override
    public void open(final OpenContext context) {
        counters = new CounterSet<>(CollectorCounter.class);
        process = new CollectingProcess(
            FlowElements.registry(settings.enterpriseNumber()), CollectorLimits.DEFAULTS, counters, this::onRecord);
        sessions = new HashMap<>();
        networks = new Networks(settings);
        reader = new IntervalReader(networks);
        flows = new FlowReader(networks);
        whole = new FlowMessageReader(settings.name(), networks);
        payload = new UnsafeBuffer();
        state = new SessionState(
            getRuntimeContext(), new Windows(TimeUnit.MILLISECONDS.toNanos(settings.windows().lengthMs())));
        lastMs = getRuntimeContext().getState(
            new ValueStateDescriptor<>("last", Long.class));
        for (final CollectorCounter each : CollectorCounter.values()) {
            getRuntimeContext().getMetricGroup().gauge(each.name(), () -> counters.get(each));
        }
        total = JobCounters.of(settings.name());
        total.add(counters);
        read = total.open(getRuntimeContext().getMetricGroup(), JobCounter.FLOW_RECORDS, JobCounter.INTERVAL_RECORDS,
            JobCounter.STATISTICS_RECORDS, JobCounter.REFUSED_RECORDS, JobCounter.TIME_AHEAD,
            JobCounter.REFUSED_SESSION_MESSAGES);
    }

    @Override
    public void processBroadcastElement(final NetworkVersion version, final Context of, final Collector<SegmentPart> collector)
        throws Exception {
        networks.add(version, of.getBroadcastState(Networks.STATE));
    }

    @Override
    public void processElement(final RawMessage message, final ReadOnlyContext of, final Collector<SegmentPart> collector)
        throws Exception {
        context = of;
        out = collector;
        networks.load(of.getBroadcastState(Networks.STATE));
        final String key = of.getCurrentKey();
        nowNs = message.getTimeReceivedNs();
        networks.tick(nowNs, TimeUnit.MILLISECONDS.toNanos(settings.windows().lateLimitMs()));
        if (message.getPayload().isEmpty()) {
            forget(key);
            return;
        }
        final TransportSession known = sessions.get(key);
        if (known == null && !isRoomFor(address(message.getSourceAddress().toByteArray()).getHostAddress())) {
            read.increment(JobCounter.REFUSED_SESSION_MESSAGES);
            return;
        }
        final TransportSession session = known == null ? open(message) : known;
        if (onMessage(session, message.getPayload().toByteArray())) {
            if (known == null) {
                sessions.put(key, session);
                strangers += isStranger(session) ? 1 : 0;
            }
            touch(session.kind());
        } else if (known == null) {
            process.closeSession(session);
        }
    }

    private boolean isRoomFor(final String exporter) {
        return sessions.size() < MOST_SESSIONS && (networks.isKnown(exporter) || strangers < MOST_SESSIONS / 2);
    }

    private boolean isStranger(final TransportSession session) {
        return !networks.isKnown(session.host());
    }

    private boolean onMessage(final TransportSession session, final byte[] octets) throws Exception {
        payload.wrap(octets);
        final long records = records();
        final long missing = missing();
        final long dropped = counters.get(CollectorCounter.DOMAINS_DROPPED);
        final boolean isAccepted = process.onMessage(session, payload, 0, octets.length, nowNs).isAccepted();
        final String peer = session.host();
        if (!isAccepted) {
            tell(Status.Exporter.newBuilder().setAddress(peer).setDomain(NO_DOMAIN).setRefused(1));
            return false;
        }
        final int domain = MessageHeader.observationDomainId(payload, 0);
        final long gap = missing() - missing;
        tell(Status.Exporter.newBuilder().setAddress(peer).setDomain(Integer.toUnsignedLong(domain))
            .setRecords(records() - records).setMissing(gap));
        state.onMessage(domain, session.sequence(domain), MessageHeader.exportTimeSeconds(payload, 0), gap, nowNs);
        if (gap != 0) {
            context.timerService().registerEventTimeTimer((context.timestamp() / GATHER_MS + 1) * GATHER_MS);
        }
        if (counters.get(CollectorCounter.DOMAINS_DROPPED) != dropped) {
            state.keepDomains(session);
        }
        state.keepTemplates(octets);
        return true;
    }

    private void tell(final Status.Exporter.Builder message) {
        final Status.Exporter exporter = message.setMessages(1).setLastNs(nowNs).build();
        total.add(exporter);
        if (isWhole) {
            context.output(EXPORTERS, exporter);
        }
    }

    private long records() {
        return counters.get(CollectorCounter.RECORDS) + counters.get(CollectorCounter.OPTIONS_RECORDS);
    }

    private long missing() {
        return CollectorCounter.missing(counters);
    }

    private static long silentMs(final SessionKind kind) {
        return kind.isReliable() ? SILENT_CONNECTION_MS : SILENT_MS;
    }

    private void touch(final SessionKind kind) throws Exception {
        final Long before = lastMs.value();
        if (before == null) {
            context.timerService().registerEventTimeTimer(context.timestamp() + silentMs(kind));
        }
        if (before == null || context.timestamp() - before > silentMs(kind) / TOUCHES) {
            lastMs.update(context.timestamp());
        }
    }

    @Override
    public void onTimer(final long timeMs, final OnTimerContext of, final Collector<SegmentPart> collector)
        throws Exception {
        final String[] key = of.getCurrentKey().split("\n");
        final String exporter = address(HexFormat.of().parseHex(key[1])).getHostAddress();
        state.tellGaps((domain, windowNs, records) -> {
            for (final String segment : networks.of(exporter, Integer.toUnsignedLong(domain))) {
                collector.collect(SegmentPart.newBuilder().setMissing(MissingRecords.newBuilder().setSegment(segment)
                    .setWindowNs(windowNs).setRecords(records)).build());
            }
        });
        final long silentMs = silentMs(kind(RawMessage.Transport.forNumber(Integer.parseInt(key[0]))));
        final Long last = lastMs.value();
        if (last == null || last + silentMs <= timeMs) {
            forget(of.getCurrentKey());
        } else {
            of.timerService().registerEventTimeTimer(last + silentMs);
        }
    }

    private void forget(final String key) {
        final TransportSession session = sessions.remove(key);
        if (session != null) {
            process.closeSession(session);
            strangers -= isStranger(session) ? 1 : 0;
        }
        state.clear();
        lastMs.clear();
    }

    /** A session that is known from before goes on where it was. */
    private TransportSession open(final RawMessage message) throws Exception {
        final TransportSession session = process.openSession(kind(message.getTransport()),
            new InetSocketAddress(address(message.getSourceAddress().toByteArray()), message.getPort()));
        state.restore(process, session, nowNs);
        return session;
    }

    private static SessionKind kind(final RawMessage.Transport transport) {
        return switch (transport) {
            case TRANSPORT_TCP -> SessionKind.TCP;
            case TRANSPORT_TLS -> SessionKind.TLS;
            default -> SessionKind.UDP;
        };
    }

    private static InetAddress address(final byte[] octets) throws UnknownHostException {
        final boolean isAddress = octets.length == 4 * IPV4_BYTES || octets.length == IPV4_BYTES;
        return InetAddress.getByAddress(isAddress ? octets : new byte[IPV4_BYTES]);
    }

    private void onRecord(final CollectedRecord record) {
        if (record.isOptions()) {
            final SegmentInterval interval = reader.read(record);
            if (interval == null) {
                read.increment(JobCounter.STATISTICS_RECORDS);
            } else if (isTaken(interval.getSegment(), interval.getEndNs())) {
                read.increment(JobCounter.INTERVAL_RECORDS);
                out.collect(SegmentPart.newBuilder().setInterval(interval).build());
            }
        } else {
            final FlowPart flow = flows.read(record);
            if (flow == null) {
                read.increment(JobCounter.STATISTICS_RECORDS);
            } else if (isTaken(flow.getSegment(), flow.getEndNs())) {
                read.increment(JobCounter.FLOW_RECORDS);
                context.output(FLOWS, limited(flow));
            }
            if (isWhole) {
                context.output(RECORDS, new Tuple2<>(flows.key(record), whole.read(record, nowNs)));
            }
        }
    }

    /** Windows so far ahead would be held for as long. */
    private boolean isTaken(final String segment, final long endNs) {
        if (segment.isEmpty() || endNs > nowNs + TimeUnit.MILLISECONDS.toNanos(settings.windows().lateLimitMs())) {
            read.increment(JobCounter.REFUSED_RECORDS);
            return false;
        }
        if (endNs > nowNs + AHEAD_NS) {
            read.increment(JobCounter.TIME_AHEAD);
        }
        return true;
    }

    private FlowPart limited(final FlowPart flow) {
        final long mostNs = (flow.getIsMapped() ? MOST_WINDOWS : MOST_WINDOWS_UNMAPPED) *
            TimeUnit.MILLISECONDS.toNanos(settings.windows().lengthMs());
        return flow.getStartNs() >= flow.getEndNs() - mostNs ? flow :
            flow.toBuilder().setStartNs(flow.getEndNs() - mostNs).build();
    }
}
