package io.flowlag.tests.support;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A flow record with its delay elements, as {@code flowlag collect} prints it. Absent values are null.
 *
 * @param key                source, destination, protocol and both ports, as in a truth file.
 * @param classOfService     octet of the IP header.
 * @param packets            in the flow.
 * @param endNs              its last packet, ns since 1970.
 * @param estimator          element 12, or 0.
 * @param meanNs             element 5.
 * @param sampleCount        element 1.
 * @param interpolatedMeanNs element 15.
 * @param lostPackets        element 19.
 * @param clockErrorNs       element 21.
 * @param sketchMeanNs       element 16.
 * @param errorBoundNs       element 14.
 * @param lossKind           element 24.
 * @param measuredPackets    element 27.
 * @param segmentId          element 11.
 * @param startMs            of the flow, since 1970.
 */
public record DelayFlow(String key, int classOfService, long packets, long endNs, int estimator, Long meanNs,
    Long sampleCount, Long interpolatedMeanNs, Long lostPackets, Long clockErrorNs, Long sketchMeanNs, Long errorBoundNs,
    Long lossKind, Long measuredPackets, Long segmentId, Long startMs) {
    /** The loss is exact. */
    public static final long LOSS_EXACT = 1;
    /** The loss is an upper bound. */
    public static final long LOSS_BOUND = 2;

    private static final ObjectMapper JSON = new ObjectMapper();

    /**
     * Reads an IPFIX file with the product's own Collecting Process; others have shown that it reads what they read.
     *
     * @param file of flow records.
     * @return all of them.
     */
    public static List<DelayFlow> read(final Path file) {
        return flows(new Flowlag().inThisJvm().run("collect", "--read", file, "--format", "json").orFail().output());
    }

    /**
     * Reads what is whole in an IPFIX file whose writer was killed.
     *
     * @param file of flow records, perhaps cut.
     * @return all that can be read.
     */
    public static List<DelayFlow> readCut(final Path file) {
        return flows(new Flowlag().inThisJvm().run("collect", "--read", file, "--format", "json").output());
    }

    private static List<DelayFlow> flows(final String output) {
        final List<DelayFlow> flows = new ArrayList<>();
        output.lines().forEach(line -> {
            try {
                final JsonNode record = JSON.readTree(line);
                if (record.has("packetDeltaCount") && record.has("sourceIPv4Address")) {
                    flows.add(of(record));
                }
            } catch (final IOException ex) {
                throw new UncheckedIOException(line, ex);
            }
        });
        return flows;
    }

    private static DelayFlow of(final JsonNode record) {
        final String key = String.join(",", record.get("sourceIPv4Address").asText(),
            record.get("destinationIPv4Address").asText(), record.get("protocolIdentifier").asText(),
            record.get("sourceTransportPort").asText(), record.get("destinationTransportPort").asText());
        return new DelayFlow(key, record.get("ipClassOfService").asInt(), record.get("packetDeltaCount").asLong(),
            record.get("flowEndNanoseconds").asLong(), record.path("flowlagDelayEstimator").asInt(),
            number(record, "flowlagDelayMeanNanoseconds"),
            number(record, "flowlagDelaySampleCount"), number(record, "flowlagDelayInterpolatedMeanNanoseconds"),
            number(record, "flowlagLostPacketDeltaCount"), number(record, "flowlagClockErrorBoundNanoseconds"),
            number(record, "flowlagDelaySketchMeanNanoseconds"), number(record, "flowlagDelayErrorBoundNanoseconds"),
            number(record, "flowlagLossKind"), number(record, "flowlagDelayPacketDeltaCount"),
            number(record, "flowlagSegmentId"), number(record, "flowStartMilliseconds"));
    }

    private static Long number(final JsonNode record, final String name) {
        return record.has(name) ? record.get(name).asLong() : null;
    }

    /** One flow of a truth file. */
    public record Truth(String key, long sent, long received, double meanNs) {
    }

    /**
     * Reads a truth file of {@code flowlag delay --truth}.
     *
     * @param file with columns src,dst,proto,sport,dport,sent,received,mean_ns and more.
     * @return its flows that arrived.
     */
    public static List<Truth> readTruth(final Path file) throws IOException {
        final List<Truth> flows = new ArrayList<>();
        for (final String line : Files.readAllLines(file)) {
            final String[] fields = line.split(",", -1);
            if (!"src".equals(fields[0]) && !fields[7].isEmpty()) {
                flows.add(new Truth(String.join(",", List.of(fields).subList(0, 5)), Long.parseLong(fields[5]),
                    Long.parseLong(fields[6]), Double.parseDouble(fields[7])));
            }
        }
        return flows;
    }
}
