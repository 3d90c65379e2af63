package io.flowlag.exporter.runtime.delay;

import io.flowlag.exporter.capture.CapturedPacket;
import io.flowlag.exporter.capture.FilterSupplier;
import io.flowlag.exporter.capture.PacketHandler;
import io.flowlag.exporter.capture.PacketSource;
import io.flowlag.exporter.capture.file.CaptureFileSource;
import io.flowlag.exporter.capture.file.CaptureFiles;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.decode.PacketDecoder;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.delay.CaptureFacts;
import io.flowlag.exporter.delay.DelayWiring;
import io.flowlag.exporter.delay.PacketSides;
import io.flowlag.exporter.delay.SegmentSelector;
import io.flowlag.exporter.delay.SegmentPairs;
import io.flowlag.exporter.delay.exact.DigestKey;
import io.flowlag.exporter.pipeline.ReferenceRecognizer;
import io.flowlag.exporter.runtime.MeteringPipeline;
import io.flowlag.exporter.runtime.ReferenceSessions;
import io.flowlag.exporter.runtime.size.FlowCountEstimate;
import io.flowlag.exporter.status.Counters;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

import java.util.ArrayList;
import java.util.List;

/**
 * Surveys both captures before they are measured: number of packets and flows, delays, direction, and truncation. It uses digests
 * that occur once at each point; in large captures a sample of them. Used once, on the command's thread. Allocates as captures
 * need, within a limit.
 */
public final class CaptureSurvey implements PacketHandler {
    private static final int POLL_LIMIT = 4096;
    /** Packets per batch, whose memory is prefetched together. */
    private static final int BATCH = 64;
    private static final int REFERENCE_OFFSET = BATCH * PacketDescriptor.LENGTH_BYTES;
    /** Packets of each capture that are checked for truncation, before digests are made. */
    private static final int FIRST_PACKETS = 4096;
    private static final int ETHERNET_PAYLOAD_BYTES = 1500;
    private static final long LEAST_PACKETS = 10;
    private static final double AGREEMENT = 0.9;
    private static final double ANSWERED = 0.5;

    private final PacketDecoder decoder;
    private final SegmentSelector selector;
    private final ReferenceRecognizer recognizer;
    private final FilterSupplier filters;
    /** A batch, followed by room for a reference. */
    private final UnsafeBuffer descriptors = new UnsafeBuffer(new byte[REFERENCE_OFFSET + PacketDescriptor.LENGTH_BYTES]);
    private final SurveyedDigests digests;
    private final FlowCountEstimate flows = new FlowCountEstimate();
    private final PacketTimes times = new PacketTimes();
    private final PacketTimes sentTimes = new PacketTimes();
    private final PacketTimes receivedTimes = new PacketTimes();
    private final PacketSides sidesByTtl = new PacketSides();
    private final PacketSides sidesBySign = new PacketSides();
    private final int digestBytes;
    private int cutBytes = Integer.MAX_VALUE;
    private int waitingBytes;
    private long touched;
    private boolean isSender;
    private long sentPackets;
    private long receivedPackets;
    private long forwardByTtl;
    private long backwardByTtl;
    private long positive;
    private long negative;
    private long references;

    private CaptureSurvey(
        final ExporterConfig config, final FilterSupplier filters, final long memoryBytes, final int digestBytes) {
        this.filters = filters;
        this.digestBytes = digestBytes;
        decoder = MeteringPipeline.decoder(
            config, false, DelayWiring.NONE.withDigestHash(DigestKey.of(null)).withCaptures(CaptureFacts.cutAt(digestBytes)),
            new Counters());
        selector = new SegmentSelector(config.segment());
        digests = new SurveyedDigests(memoryBytes);
        final long maximumDelayNs = config.segment().maximumDelayNs();
        recognizer = new ReferenceRecognizer(
            config.rli().references().port(), ReferenceSessions.of(config.rli()), maximumDelayNs, maximumDelayNs, 1,
            new Counters());
    }

    /**
     * Surveys captures.
     *
     * @param options     name the captures; if standard input is among them, only the first packets of the others are read.
     * @param memoryBytes for the survey.
     */
    public static CaptureSurvey of(
        final ExporterConfig config, final DelayOptions options, final FilterSupplier filters, final long memoryBytes) {
        final List<String> files = new ArrayList<>(options.senderFiles());
        files.addAll(options.receiverFiles());
        CaptureSurvey first = lookedAt(config, files, filters);
        boolean isCutFurther = true;
        while (isCutFurther) {
            final CaptureSurvey next =
                new CaptureSurvey(config, filters, memoryBytes, first.cutBytes);
            next.cutBytes = first.cutBytes;
            if (!options.hasStandardInput()) {
                next.readAll(options);
            }
            isCutFurther = next.cutBytes < first.cutBytes;
            first = next;
        }
        return first;
    }

    /** {@return the truncation of the captures, by the first packets of each} */
    public static CaptureFacts cutOf(final ExporterConfig config, final List<String> files) {
        final CaptureSurvey survey = lookedAt(config, files, FilterSupplier.ALL);
        return CaptureFacts.cutAt(survey.cutBytes);
    }

    private static CaptureSurvey lookedAt(
        final ExporterConfig config, final List<String> files, final FilterSupplier filters) {
        final CaptureSurvey survey = new CaptureSurvey(config, filters, 0, Integer.MAX_VALUE);
        for (final String file : files) {
            if (!CaptureFiles.STANDARD_INPUT.equals(file)) {
                survey.read(List.of(file), FIRST_PACKETS);
            }
        }
        return survey;
    }

    private void readAll(final DelayOptions options) {
        isSender = true;
        read(options.senderFiles(), Long.MAX_VALUE);
        isSender = false;
        read(options.receiverFiles(), Long.MAX_VALUE);
        digests.conclude(!selector.selectsAll());
    }

    private void read(final List<String> files, final long packetLimit) {
        try (CaptureFileSource source = CaptureFiles.open(files, filters)) {
            int polled = 0;
            while (source.capturedCount() < packetLimit && polled != PacketSource.END_OF_SOURCE) {
                polled = source.poll(this, POLL_LIMIT);
            }
        }
        surveyBatch();
    }

    @Override
    public void onPacket(final CapturedPacket packet) {
        final int place = waitingBytes;
        if (decoder.decode(packet, descriptors, place) != PacketDecoder.DECODED) {
            return;
        }
        if (!isSender && isReference(packet.buffer(), place)) {
            references++;
        }
        if (selector.selects(descriptors, place)) {
            if (packet.capturedLengthBytes() < packet.wireLengthBytes()) {
                cutBytes = Math.min(cutBytes, decoder.cutBytes(
                    packet.capturedLengthBytes(), PacketDescriptor.ipLengthBytes(descriptors, place)));
            }
            waitingBytes += PacketDescriptor.LENGTH_BYTES;
        }
        if (waitingBytes == REFERENCE_OFFSET) {
            surveyBatch();
        }
    }

    private boolean isReference(final DirectBuffer packet, final int place) {
        PacketDescriptor.copy(descriptors, REFERENCE_OFFSET, descriptors, place);
        return recognizer.recognize(decoder, packet, descriptors, REFERENCE_OFFSET, 0);
    }

    private void surveyBatch() {
        for (int place = 0; place < waitingBytes; place += PacketDescriptor.LENGTH_BYTES) {
            touched += digests.touch(PacketDescriptor.digest(descriptors, place));
        }
        for (int place = 0; place < waitingBytes; place += PacketDescriptor.LENGTH_BYTES) {
            onSelected(place);
        }
        waitingBytes = 0;
    }

    private void onSelected(final int place) {
        final long timestampNs = PacketDescriptor.timestampNs(descriptors, place);
        sentPackets += isSender ? 1 : 0;
        receivedPackets += isSender ? 0 : 1;
        times.add(timestampNs);
        (isSender ? sentTimes : receivedTimes).add(timestampNs);
        final int flow = flows.add(descriptors, place);
        if ((PacketDescriptor.flags(descriptors, place) & PacketDescriptor.FLAG_DIGEST) != 0) {
            final boolean isLong = PacketDescriptor.ipLengthBytes(descriptors, place) > ETHERNET_PAYLOAD_BYTES;
            final long digest = PacketDescriptor.digest(descriptors, place);
            final int ttl = PacketDescriptor.ttl(descriptors, place);
            if (isSender) {
                digests.onSent(digest, timestampNs, flow, ttl, isLong);
            } else if (digests.onReceived(digest, timestampNs, flow, isLong)) {
                vote(place, digests.sentTtl() - ttl, timestampNs - digests.sentNs());
            }
        }
    }

    /** The upstream point has the higher time to live; without a difference, it has the smaller timestamps. */
    private void vote(final int place, final int hops, final long delayNs) {
        if (hops != 0) {
            forwardByTtl += hops > 0 ? 1 : 0;
            backwardByTtl += hops > 0 ? 0 : 1;
            sidesByTtl.vote(descriptors, place, hops > 0);
        }
        if (delayNs != 0) {
            positive += delayNs > 0 ? 1 : 0;
            negative += delayNs > 0 ? 0 : 1;
            sidesBySign.vote(descriptors, place, delayNs > 0);
        }
    }

    private static boolean areBoth(final long forward, final long backward, final PacketSides sides) {
        final long all = forward + backward;
        return forward >= LEAST_PACKETS && backward >= LEAST_PACKETS && sides.agreement(all, false) >= AGREEMENT &&
            sides.agreement(all, true) >= ANSWERED;
    }

    /** {@return the direction of packets; null if all have the same} */
    private PacketSides sides() {
        if (forwardByTtl + backwardByTtl > (positive + negative) / 2) {
            return areBoth(forwardByTtl, backwardByTtl, sidesByTtl) ? sidesByTtl : null;
        }
        return areBoth(positive, negative, sidesBySign) ? sidesBySign : null;
    }

    /** {@return whether the receiver's capture is the upstream one} */
    boolean isSwapped() {
        return backwardByTtl > LEAST_PACKETS && backwardByTtl > AGREEMENT * (negative + positive) &&
            negative > AGREEMENT * (negative + positive);
    }

    /** {@return whether fewer than half of the packets match, at the point with fewer packets} */
    boolean isMatchingFew() {
        final long packets = digests.matched() + Math.min(digests.lost(), digests.unexpected());
        return packets >= LEAST_PACKETS && 2 * digests.matched() < packets;
    }

    /** {@return verified reference packets at the receiver point} */
    long references() {
        return references;
    }

    /** {@return facts for the measurement} */
    CaptureFacts facts() {
        return new CaptureFacts(
            DelayWiring.DIGEST_PAYLOAD_BYTES, digestBytes,
            digests.areJoined() ? ETHERNET_PAYLOAD_BYTES : Integer.MAX_VALUE, sides(), digests.isWhole(), 1,
            SegmentPairs.NONE);
    }

    /** {@return packets of the sender point; 0 if the captures were not read} */
    long sentPackets() {
        return sentPackets;
    }

    /** {@return packets of the receiver point} */
    long receivedPackets() {
        return receivedPackets;
    }

    /** {@return approximate number of flows of both points} */
    long flowCount() {
        return flows.count();
    }

    /** {@return times of the packets of both points} */
    PacketTimes times() {
        return times;
    }

    /** {@return most packets of one point while the other has none} */
    long mostAlone() {
        return Math.max(sentTimes.mostAlone(receivedTimes), receivedTimes.mostAlone(sentTimes));
    }

    /** {@return the results of the digests} */
    SurveyedDigests digests() {
        return digests;
    }
}
