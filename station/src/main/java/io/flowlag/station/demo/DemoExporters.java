package io.flowlag.station.demo;

import io.flowlag.ipfix.element.FlowElements;
import io.flowlag.ipfix.message.RecordEncoder;
import io.flowlag.ipfix.message.Values;
import io.flowlag.ipfix.message.VariableLength;
import io.flowlag.ipfix.session.ExportingSession;
import io.flowlag.ipfix.session.SessionSettings;
import io.flowlag.ipfix.template.Template;
import io.flowlag.ipfix.template.TemplateCatalog;
import io.flowlag.ipfix.transport.Endpoint;
import io.flowlag.ipfix.transport.UdpTransport;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** An exporter for each node where segments of a {@link DemoNetwork} end: interval and flow records by UDP. One thread. */
public final class DemoExporters implements AutoCloseable {
    private static final String KIND = "matched";
    private static final double BOUND_NS = 1000;
    private static final long CLOCK_BOUND_NS = 10_000;
    private static final int PACKET_BYTES = 1_000;
    private static final int UDP = 17;
    private static final int SERVER_PORT = 5004;
    /** flowlagDelayEstimator: packets were matched. */
    private static final int MATCHED = 6;
    private static final long MILLISECOND_NS = 1_000_000;

    private final TemplateCatalog catalog =
        new TemplateCatalog(FlowElements.registry(FlowElements.DOCUMENTATION_ENTERPRISE_NUMBER));
    private final Template template = catalog.optionsTemplate(2, "flowlagSegmentId", "selectorName",
        "observationTimeMilliseconds", "observationTimeMilliseconds", "packetDeltaCount", "flowlagDelaySampleCount",
        "flowlagDelayMeanNanoseconds", "flowlagDelayStandardDeviationNanoseconds", "flowlagDelayErrorBoundNanoseconds",
        "flowlagDelayMinimumNanoseconds", "flowlagDelayMaximumNanoseconds", "flowlagClockErrorBoundNanoseconds",
        "flowlagDelayHistogram");
    private final Template flowTemplate = catalog.template("sourceIPv4Address", "destinationIPv4Address", "sourceTransportPort",
        "destinationTransportPort", "protocolIdentifier", "packetDeltaCount", "octetDeltaCount", "flowStartMilliseconds",
        "flowEndMilliseconds", "flowlagDelayMeanNanoseconds", "flowlagDelayStandardDeviationNanoseconds",
        "flowlagDelayErrorBoundNanoseconds", "flowlagDelayEstimator", "flowlagClockErrorBoundNanoseconds",
        "flowlagLostPacketDeltaCount", "flowlagSegmentId");
    private final Map<Integer, ExportingSession> sessions = new LinkedHashMap<>();
    private final RecordEncoder encoder = new RecordEncoder();
    private final List<DemoNetwork.Route> routes;

    /** Exporters that send to a port of this host. */
    public DemoExporters(final DemoNetwork network, final int port) {
        routes = network.routes();
        for (final DemoNetwork.Route route : routes) {
            sessions.computeIfAbsent(route.to(), (node) -> new ExportingSession(new UdpTransport(
                new Endpoint("127.0.0.1", port)), new SessionSettings().observationDomainId(node), catalog));
        }
    }

    /**
     * Sends an interval.
     *
     * @param delays of each segment, in the order of the network's routes.
     */
    public void send(final long startNs, final long endNs, final List<DemoNetwork.Delays> delays) {
        final long nowMs = TimeUnit.NANOSECONDS.toMillis(endNs);
        for (int i = 0; i < delays.size(); i++) {
            final ExportingSession session = sessions.get(routes.get(i).to());
            session.doWork(nowMs);
            final DemoNetwork.Delays each = delays.get(i);
            final int lengthBytes = template.minLengthBytes() + Values.stringLengthBytes(KIND) - 1 +
                VariableLength.encodedLengthBytes(each.histogram().length) - 1;
            final int offset = session.claim(template, lengthBytes, nowMs);
            if (offset >= 0) {
                encoder.wrap(session.buffer(), offset, template);
                encoder.unsigned(i).string(KIND).timeNs(startNs).timeNs(endNs).unsigned(each.packets())
                    .unsigned(each.packets()).signed(Math.round(each.mean())).unsigned(Math.round(each.deviation()))
                    .unsigned(Math.round(BOUND_NS)).signed(Math.round(each.minimum())).signed(Math.round(each.maximum()))
                    .unsigned(CLOCK_BOUND_NS).octets(each.histogram());
                session.commit();
            }
        }
        sessions.values().forEach((session) -> session.flush(nowMs));
    }

    /**
     * Sends the flow records of an interval.
     *
     * @param delays of flows in segments.
     */
    public void sendFlows(final long startNs, final long endNs, final List<DemoNetwork.FlowDelays> delays) {
        final long nowMs = TimeUnit.NANOSECONDS.toMillis(endNs);
        for (final DemoNetwork.FlowDelays each : delays) {
            final ExportingSession session = sessions.get(routes.get(each.segment()).to());
            final int offset = session.claim(flowTemplate, flowTemplate.minLengthBytes(), nowMs);
            if (offset >= 0) {
                encoder.wrap(session.buffer(), offset, flowTemplate);
                encoder.ipv4Address(each.flow().source()).ipv4Address(each.flow().destination())
                    .unsigned(each.flow().sourcePort()).unsigned(SERVER_PORT).unsigned(UDP).unsigned(each.packets())
                    .unsigned(each.packets() * PACKET_BYTES).timeNs(startNs + MILLISECOND_NS).timeNs(endNs - MILLISECOND_NS)
                    .signed(Math.round(each.mean())).unsigned(Math.round(each.deviation())).unsigned(Math.round(BOUND_NS))
                    .unsigned(MATCHED).unsigned(CLOCK_BOUND_NS).unsigned(0).unsigned(each.segment());
                session.commit();
            }
        }
        sessions.values().forEach((session) -> session.flush(nowMs));
    }

    @Override
    public void close() {
        sessions.values().forEach(ExportingSession::close);
    }
}
