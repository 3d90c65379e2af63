package io.flowlag.exporter.exchange.wire;

import io.flowlag.exporter.exchange.wire.ExchangeSettings.SketchPart;

import java.util.List;

/**
 * The cost of an interval on the wire, in octets of authenticated messages: an upper bound, without TLS, TCP and IP. Stateless,
 * any thread; never allocates.
 */
public final class ExchangePrice {
    private static final long FRAME_BYTES = ExchangeHeader.LENGTH_BYTES + ExchangeHeader.TRAILER_BYTES;
    private static final long LIST_BYTES = FRAME_BYTES + 16;
    private static final long PIECE_BYTES = FRAME_BYTES + 24;
    private static final long BASE_BYTES = 3 * FRAME_BYTES + 48 + 40 + 16;
    /** One in a hundred, and a tenth more because larger flows are chosen more often. */
    private static final double WITNESS_SHARE = 0.011;
    private static final double NS_PER_S = 1e9;

    private ExchangePrice() {
    }

    /** Cost of an interval in mode cells, without compact cells. Returns octets. */
    public static long cellsBytes(final List<SketchPart> sketches) {
        long bytes = BASE_BYTES;
        for (final SketchPart sketch : sketches) {
            final long imageBytes = sketch.geometry().imageLength();
            final long pieces = 1 + pieces(imageBytes - CellsMessage.PREAMBLE_BYTES, ExchangeHeader.MAX_PAYLOAD_BYTES);
            bytes += imageBytes + pieces * PIECE_BYTES;
        }
        return bytes;
    }

    /** Cost of an interval in mode flows. Returns octets. */
    public static long flowsBytes(final long flows) {
        return BASE_BYTES + flows * FlowSum.LENGTH_BYTES + pieces(flows, IntervalListMessage.MAX_FLOWS) * LIST_BYTES;
    }

    /** {@return how many flows of an interval fit a bandwidth in bits per second, at least 1} */
    public static int flowsThatFit(final long intervalNs, final long bandwidthBps) {
        final double bytes = bandwidthBps / 8.0 * intervalNs / NS_PER_S - BASE_BYTES;
        final double flows = bytes / (FlowSum.LENGTH_BYTES + (double)LIST_BYTES / IntervalListMessage.MAX_FLOWS) - 1;
        return (int)Math.max(1, Math.min(Integer.MAX_VALUE, flows));
    }

    /** {@return how many of the flows of an interval are witnesses, unless their share is configured} */
    public static long witnesses(final long flows) {
        return (long)Math.ceil(WITNESS_SHARE * flows);
    }

    /** Cost of witness flows in addition to sketches. Returns octets. */
    public static long witnessBytes(final long witnesses) {
        return witnesses * FlowSum.LENGTH_BYTES + pieces(witnesses, IntervalListMessage.MAX_FLOWS) * LIST_BYTES;
    }

    private static long pieces(final long whole, final long piece) {
        return (whole + piece - 1) / piece;
    }
}
