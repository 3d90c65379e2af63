package io.flowlag.station.view;

import com.google.protobuf.ByteString;
import io.flowlag.common.config.Problems;
import io.flowlag.network.topology.NetworkFiles;
import io.flowlag.network.topology.NetworkMap;
import io.flowlag.sketch.quantile.LogHistogram;
import io.flowlag.station.schema.Alert;
import io.flowlag.station.schema.PathWindow;
import io.flowlag.station.schema.SegmentWindow;
import io.flowlag.station.schema.Source;
import io.flowlag.station.schema.Status;
import io.flowlag.station.schema.Verdict;
import org.agrona.concurrent.UnsafeBuffer;

import java.time.Duration;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertTrue;

/** Windows, verdicts and a network for tests. */
final class Samples {
    static final long S = Duration.ofSeconds(1).toNanos();
    /** A full hour, ns since the epoch. */
    static final long START_NS = Duration.ofHours(490_000).toNanos();

    private Samples() {
    }

    /** A final window of some length, with every field, in class 0. */
    static SegmentWindow.Builder window(final String segment, final long startNs, final long lengthS) {
        return SegmentWindow.newBuilder().setNetwork("backbone").setSegment(segment).setDscp(0)
            .setStartNs(startNs).setEndNs(startNs + lengthS * S).setFinal(true).setSource(Source.SOURCE_EXACT)
            .setPackets(1000).setSamples(900).setMeanNs(1_250_000).setDeviationNs(40_000).setMinimumNs(1_000_000)
            .setMaximumNs(2_000_000).setBoundNs(5_000).setClockBoundNs(30_000).setFloorNs(1_000_000).setLost(3).setLossKind(1)
            .setHistogram(histogram(2000, 1_250_000)).setIntervals(1).setMissingIntervals(1).setMissingRecords(3)
            .setIsMapped(true);
    }

    static ByteString histogram(final int count, final long delayNs) {
        final LogHistogram histogram = new LogHistogram();
        histogram.add(delayNs, count);
        final UnsafeBuffer octets = new UnsafeBuffer(new byte[4096]);
        return ByteString.copyFrom(octets.byteArray(), 0, histogram.encode(octets, 0, 4096));
    }

    /** A final verdict on a hop of {@link #network}. */
    static Verdict.Builder verdict(final long startNs, final long lengthS, final long sinceNs) {
        return Verdict.newBuilder().setId("backbone/0/" + startNs + "/1").setNetwork("backbone").setDscp(0)
            .setStartNs(startNs).setEndNs(startNs + lengthS * S).setSinceNs(sinceNs).setKind(Verdict.Kind.SLOW_HOP)
            .addSuspects(Verdict.Suspect.newBuilder().setFrom("bern").setTo("gva").setProbability(0.93))
            .addSuspects(Verdict.Suspect.newBuilder().setFrom("gva").setTo("nyon").setProbability(0.04))
            .setEffectNs(700_000).setEffectLowNs(600_000).setEffectHighNs(800_000).setConfidence(0.97)
            .addEvidence("zrh-gva").setIsOneRoute(true).setFinal(true);
    }

    /** A flow from zrh by bern to nyon: a segment, a gap that a longer segment tells, and a segment. */
    static PathWindow.Builder path(final int port, final long startNs, final long lengthS) {
        return PathWindow.newBuilder().setNetwork("backbone").setSrcAddr(address(10, 1, 0, port)).setDstAddr(address(10, 9, 0, 1))
            .setProto(6).setSrcPort(40_000 + port).setDstPort(443).setStartNs(startNs).setEndNs(startNs + lengthS * S)
            .setFinal(true).setShare(0.0625)
            .addStretches(PathWindow.Stretch.newBuilder().setSegment("zrh-bern").setFrom("zrh").setTo("bern")
                .setPackets(100L * port).setMeanNs(600_000 + port).setBoundNs(20_000).setDeviationNs(50_000).setLost(1)
                .setEstimator(2))
            .addStretches(PathWindow.Stretch.newBuilder().setFrom("bern").setTo("gva").setMeanNs(900_000).setBoundNs(40_000))
            .addStretches(PathWindow.Stretch.newBuilder().setSegment("gva-nyon").setFrom("gva").setTo("nyon")
                .setPackets(100L * port - 1).setMeanNs(300_000).setBoundNs(10_000).setDeviationNs(20_000).setLost(0))
            .setMeanNs(1_800_000 + port).setBoundNs(70_000).setClockBoundNs(45_000).setLeastDeviationNs(54_000)
            .setMostDeviationNs(70_000).setIsDivided(true);
    }

    /** The same, but nothing is known of the gap. */
    static PathWindow unknownPath(final int port, final long startNs, final long lengthS) {
        final PathWindow.Builder path = path(port, startNs, lengthS).clearMeanNs().clearBoundNs().clearClockBoundNs();
        path.getStretchesBuilder(1).clearMeanNs().clearBoundNs();
        return path.build();
    }

    /** An alert that is on, with every field, on a segment of {@link #network}. */
    static Alert.Builder alert(final String id, final long startNs) {
        return Alert.newBuilder().setId(id).setNetwork("backbone").setKind(Alert.Kind.DELAY_CHANGED)
            .setSeverity(Alert.Severity.PAGE).setDscp(0).setSegment("zrh-gva").setSlo("voice")
            .setVerdict(verdict(startNs, 10, startNs).getId())
            .setSummary("zrh-gva is 700 µs slower than in this hour of other days")
            .setStartsNs(startNs).setValue(700_000);
    }

    /** A service level of class 46 over the shortest and the longest time. */
    static Status level(final String name, final long endNs, final double ratio) {
        final Status.ServiceLevel.Builder level = Status.ServiceLevel.newBuilder().setName(name).setDscp(46).setEndNs(endNs);
        for (final Duration length : List.of(Duration.ofMinutes(5), Duration.ofDays(3))) {
            level.addRates(Status.ServiceLevel.Rate.newBuilder().setLengthNs(length.toNanos()).setRatio(ratio));
        }
        return Status.newBuilder().setNetwork("backbone").setLevel(level).build();
    }

    static ByteString address(final int... octets) {
        final byte[] address = new byte[octets.length];
        for (int i = 0; i < octets.length; i++) {
            address[i] = (byte)octets[i];
        }
        return ByteString.copyFrom(address);
    }

    /** Four nodes in places, two measured directions, a blind branch. */
    static NetworkMap network() {
        final Problems problems = new Problems();
        final NetworkMap map = NetworkFiles.parse("", "backbone.yaml", """
            nodes: {zrh: {place: [47.4, 8.5]}, bern: {place: [46.9, 7.4]}, gva: {place: [46.2, 6.1]}, nyon: {place: [46.4, 6.2]}}
            links: ['zrh bern weight=10 delay=600us', 'bern gva weight=10 delay=900us', 'gva nyon weight=1']
            points: {zrh-point: {node: zrh, clock: zrh}, gva-point: {node: gva, clock: gva}}
            segments:
              zrh-gva: {from: zrh-point, to: gva-point, exporter: 192.0.2.7, domain: 12, id: 3}
              gva-zrh: {from: gva-point, to: zrh-point, exporter: 192.0.2.7, domain: 12, id: 4}
            """, problems);
        assertTrue(problems.isEmpty(), problems::toString);
        return map;
    }
}
