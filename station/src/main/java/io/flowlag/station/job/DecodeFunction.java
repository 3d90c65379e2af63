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
import io.flowlag.ipfix.message.SetHeader;
import io.flowlag.station.job.state.FlowPart;
import io.flowlag.station.job.state.NetworkVersion;
import io.flowlag.station.job.state.SegmentInterval;
import io.flowlag.station.job.state.SegmentPart;
import io.flowlag.station.schema.FlowMessage;
import io.flowlag.station.schema.RawMessage;
import io.flowlag.station.wire.MessageType;
import org.agrona.ExpandableArrayBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.streaming.api.functions.co.KeyedBroadcastProcessFunction;
import org.apache.flink.util.Collector;
import org.apache.flink.util.OutputTag;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Decodes the messages of sessions. What is wrong with a message is counted and never ends the job. The messages' templates are
 * state: behind a restart or another parallelism a session goes on where it was.
 */
final class DecodeFunction extends KeyedBroadcastProcessFunction<String, RawMessage, NetworkVersion, SegmentPart> {
    /** Flow records of segments. */
    static final OutputTag<FlowPart> FLOWS = new OutputTag<>("flows", MessageType.forMessage(FlowPart.class));

    /** Flow records whole, for other programs. */
    static final OutputTag<FlowMessage> RECORDS = new OutputTag<>("records", MessageType.forMessage(FlowMessage.class));

    private static final long serialVersionUID = 1;
    /** Messages with templates that are kept of a session; those of a refresh are the same octets. */
    private static final int MOST_TEMPLATE_MESSAGES = 256;
    /** Over UDP a session that was silent for so long is forgotten: its templates have expired (RFC 7011, 8.4). */
    private static final long SILENT_MS = 1_800_000;
    private static final int IPV4_BYTES = 4;
    /** Of messages that were refused. */
    private static final long NO_DOMAIN = -1;

    private final JobSettings settings;
    private final boolean isWhole;

    private transient CounterSet<CollectorCounter> counters;
    private transient JobCounters total;
    private transient CollectingProcess process;
    private transient Map<String, TransportSession> sessions;
    private transient ListState<byte[]> templates;
    private transient IntervalReader reader;
    private transient UnsafeBuffer payload;
    private transient ExpandableArrayBuffer templateMessage;
    private transient Networks networks;
    private transient FlowReader flows;
    private transient FlowMessageReader whole;
    private transient long receivedNs;
    private transient Collector<SegmentPart> out;
    private transient ReadOnlyContext context;
    private transient ValueState<Long> lastMs;

    /**
     * A decoder.
     *
     * @param isWhole whether flow records go to {@link #RECORDS} too.
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
        templateMessage = new ExpandableArrayBuffer();
        templates = getRuntimeContext().getListState(
            new ListStateDescriptor<>("templates", PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO));
        lastMs = getRuntimeContext().getState(
            new ValueStateDescriptor<>("last", Long.class));
        for (final CollectorCounter each : CollectorCounter.values()) {
            getRuntimeContext().getMetricGroup().gauge(each.name(), () -> counters.get(each));
        }
        total = JobCounters.of(settings.name());
        total.add(counters);
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
        networks.load(of.getBroadcastState(Networks.STATE));
        final String key = of.getCurrentKey();
        if (message.getPayload().isEmpty()) {
            forget(key);
            return;
        }
        TransportSession session = sessions.get(key);
        final long nowNs = message.getTimeReceivedNs();
        receivedNs = nowNs;
        if (session == null) {
            session = open(message, nowNs);
            sessions.put(key, session);
        }
        final byte[] octets = message.getPayload().toByteArray();
        payload.wrap(octets);
        out = collector;
        final long records = records();
        final long missing = missing();
        final boolean isAccepted = process.onMessage(session, payload, 0, octets.length, nowNs).isAccepted();
        out = null;
        total.add(new JobCounters.Exporter(session.source().getAddress().getHostAddress(), isAccepted ?
            Integer.toUnsignedLong(MessageHeader.observationDomainId(payload, 0)) : NO_DOMAIN, 1, records() - records,
            missing() - missing, isAccepted ? 0 : 1, nowNs));
        if (isAccepted) {
            keepTemplates(octets);
            touch(of);
        }
    }

    private long records() {
        return counters.get(CollectorCounter.RECORDS) + counters.get(CollectorCounter.OPTIONS_RECORDS);
    }

    private long missing() {
        return counters.get(CollectorCounter.RECORDS_LOST) - counters.get(CollectorCounter.RECORDS_LATE);
    }

    private void touch(final ReadOnlyContext of) throws Exception {
        final Long before = lastMs.value();
        if (before == null) {
            of.timerService().registerEventTimeTimer(of.timestamp() + SILENT_MS);
        }
        if (before == null || of.timestamp() - before > SILENT_MS / MOST_TEMPLATE_MESSAGES) {
            lastMs.update(of.timestamp());
        }
    }

    @Override
    public void onTimer(final long timeMs, final OnTimerContext of, final Collector<SegmentPart> collector)
        throws Exception {
        final Long last = lastMs.value();
        if (last != null && last + SILENT_MS > timeMs) {
            of.timerService().registerEventTimeTimer(last + SILENT_MS);
        } else {
            forget(of.getCurrentKey());
        }
    }

    private void forget(final String key) {
        final TransportSession session = sessions.remove(key);
        if (session != null) {
            process.closeSession(session);
        }
        templates.clear();
        lastMs.clear();
    }

    /** A session that is known from before learns its templates again. */
    private TransportSession open(final RawMessage message, final long nowNs) throws Exception {
        final TransportSession session = process.openSession(kind(message.getTransport()),
            new InetSocketAddress(address(message.getSourceAddress().toByteArray()), message.getPort()));
        for (final byte[] kept : templates.get()) {
            payload.wrap(kept);
            process.restore(session, payload, 0, kept.length, nowNs);
        }
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

    /** Keeps the header and the sets of templates of a message that has any. */
    private void keepTemplates(final byte[] octets) throws Exception {
        int length = MessageHeader.LENGTH_BYTES;
        int offset = MessageHeader.LENGTH_BYTES;
        payload.wrap(octets);
        while (offset + SetHeader.LENGTH_BYTES <= octets.length) {
            final int setLength = SetHeader.setLengthBytes(payload, offset);
            final int setId = SetHeader.setId(payload, offset);
            if (setId == SetHeader.TEMPLATE_SET_ID || setId == SetHeader.OPTIONS_TEMPLATE_SET_ID) {
                templateMessage.putBytes(length, octets, offset, setLength);
                length += setLength;
            }
            offset += setLength;
        }
        if (length > MessageHeader.LENGTH_BYTES) {
            templateMessage.putBytes(0, octets, 0, MessageHeader.LENGTH_BYTES);
            MessageHeader.put(templateMessage, 0, length, 0, 0, MessageHeader.observationDomainId(payload, 0));
            keep(Arrays.copyOf(templateMessage.byteArray(), length));
        }
    }

    private void keep(final byte[] message) throws Exception {
        final List<byte[]> kept = new ArrayList<>();
        for (final byte[] each : templates.get()) {
            if (Arrays.equals(each, message)) {
                return;
            }
            kept.add(each);
        }
        if (kept.size() < MOST_TEMPLATE_MESSAGES) {
            templates.add(message);
        } else {
            kept.remove(0);
            kept.add(message);
            templates.update(kept);
        }
    }

    private void onRecord(final CollectedRecord record) {
        if (record.isOptions()) {
            final SegmentInterval interval = reader.read(record);
            if (interval != null) {
                out.collect(SegmentPart.newBuilder().setInterval(interval).build());
            }
        } else {
            final FlowPart flow = flows.read(record);
            if (flow != null) {
                context.output(FLOWS, flow);
            }
            if (isWhole) {
                context.output(RECORDS, whole.read(record, receivedNs));
            }
        }
    }
}
