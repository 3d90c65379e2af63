package io.flowlag.exporter.runtime.size;

import io.flowlag.common.command.ExitCode;
import io.flowlag.common.command.ExitException;
import io.flowlag.exporter.config.MemorySize;
import io.flowlag.exporter.delay.interval.repair.ReconcilePrice;
import io.flowlag.exporter.exchange.wire.ExchangePrice;
import io.flowlag.exporter.exchange.wire.ExchangeSettings;
import io.flowlag.exporter.terminal.Terminal;
import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.lds.LdsSizing;
import io.flowlag.sketch.lds.ParetoFit;
import io.flowlag.sketch.reconcile.PacketCache;

import java.io.PrintStream;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * {@code flowlag size}: says what a receiver needs for a load and a target, then why: size of a sketch (LDS paper, section 3),
 * its cost in memory and on the wire, and the cost of the exchange's other mode. Runs once, on the command's thread.
 */
public final class SizeProcess {
    private static final double NS_PER_SECOND = 1e9;
    private static final String ROW = "  %-24s %s%n";
    private static final String PRICE = "  %-24s %,18d %18s%n";

    private final SizeOptions options;
    private final PrintStream out;
    private long flows;
    private long packets;
    private ParetoFit fit;
    private String fitSource;
    private boolean isDamaged;

    private SizeProcess(final SizeOptions options, final PrintStream out) {
        this.options = options;
        this.out = out;
    }

    /**
     * Sizes and prints.
     *
     * @param options  flows and packets above 0 unless there are captures.
     * @param terminal for the table and messages.
     * @return {@link ExitCode#DAMAGED_INPUT} if a capture is damaged: what is before the damage was counted.
     * @throws ExitException if no sketch can meet the target; the message says why.
     * @throws io.flowlag.exporter.capture.CaptureException if no capture can be read.
     */
    public static ExitCode run(final SizeOptions options, final Terminal terminal) {
        final SizeProcess process = new SizeProcess(options, terminal.out());
        process.measureLoad(terminal);
        process.print();
        terminal.out().flush();
        return process.isDamaged ? ExitCode.DAMAGED_INPUT : ExitCode.DONE;
    }

    private void measureLoad(final Terminal terminal) {
        final double tolerablePackets = options.error() * options.flowPackets();
        if (options.files().isEmpty()) {
            flows = options.flows();
            packets = options.packets();
            fit = meanFit();
            fitSource = "fitted to the mean (-r FILE fits better)";
        } else {
            final FlowSizeCensus census = FlowSizeCensus.of(options.files(), options.intervalNs(), terminal);
            isDamaged = census.isDamaged();
            final long[] sizes = census.busiest();
            flows = options.flows() > 0 ? options.flows() : sizes.length;
            packets = options.packets() > 0 ? options.packets() : Arrays.stream(sizes).sum();
            fit = fit(sizes, tolerablePackets);
            fitSource = "fitted to the busiest of " + census.intervals() + " interval" + (census.intervals() == 1 ? "" : "s");
            if (fit == null) {
                fit = meanFit();
                fitSource = "fitted to the mean, since all flows of the captures have the same size";
            }
        }
        if (fit == null) {
            throw new ExitException(ExitCode.USAGE, "size: " + packets + " packets of " + flows +
                " flows fit no distribution of sizes: say more of them by --packets");
        }
    }

    private ParetoFit meanFit() {
        return packets > flows ? ParetoFit.ofMean(packets / (double)flows) : null;
    }

    /**
     * Uses the exact sizes around the target size if there are flows on both sides of it; else maximum likelihood, if sizes
     * differ.
     */
    private static ParetoFit fit(final long[] sizes, final double tolerablePackets) {
        final long above = Arrays.stream(sizes).filter(size -> size > tolerablePackets).count();
        if (above > 0 && above < sizes.length && tolerablePackets > 1) {
            return ParetoFit.throughTail(tolerablePackets, above / (double)sizes.length);
        }
        return Arrays.stream(sizes).distinct().count() > 1 ? ParetoFit.ofFlows(sizes) : null;
    }

    private void print() {
        final LdsSizing sizing;
        try {
            sizing = new LdsSizing(
                new LdsSizing.Load(flows, packets, options.lossRate(), fit),
                new LdsSizing.Target(options.error(), options.confidence(), options.flowPackets()));
        } catch (final IllegalArgumentException ex) {
            throw new ExitException(ExitCode.USAGE, "size: " + ex.getMessage() +
                ": ask for less (--error, --confidence, --flow-packets), or shorten --interval");
        }
        final SketchGeometry geometry = sizing.geometry();
        final long flowBytes = ExchangePrice.flowsBytes(flows);
        final boolean isSketch = options.bandwidthBps() > 0 && bitsPerSecond(flowBytes) > options.bandwidthBps();
        final SizePlan plan = SizePlan.of(options, flows, packets, isSketch ? geometry : null);
        printPlan(plan, isSketch);
        out.println("Load of an interval of " + seconds(options.intervalNs()));
        row("flows", grouped(flows));
        row("packets", grouped(packets));
        row("lost packets", percent(options.lossRate()) + " at most");
        row("flow sizes", String.format(Locale.ROOT, "Pareto of shape %.3g, %s: %s have more than %.0f packets",
            fit.shape(), fitSource, percent(sizing.largeFlowShare()), options.error() * options.flowPackets()));
        out.println("Target");
        row("error", percent(options.error()) + " at most from other flows, for flows of " +
            grouped(options.flowPackets()) + " packets and more");
        row("confidence", percent(options.confidence()) + " of them");
        out.println("Sketch");
        row("rows, columns, k",
            geometry.rows() + " x " + grouped(geometry.columns()) + ", k = " + geometry.vldaLength());
        row("sampling rates", rates(geometry));
        row("cells", grouped((long)geometry.rows() * geometry.columns()) + ", " +
            String.format(Locale.ROOT, "%.2f for each flow", geometry.rows() * (double)geometry.columns() / flows));
        row("reaches the target for", percent(sizing.survival()) + " of flows");
        row("memory of one sketch", grouped(sizing.memoryBytes()) + " octets");
        row("as options of delay", "--rows " + geometry.rows() + " --columns " + geometry.columns() + " --vlda " +
            geometry.vldaLength() + " --rates " + rates(geometry).replace(" ", ""));
        printPrices(
            ExchangePrice.cellsBytes(List.of(new ExchangeSettings.SketchPart(ExchangeSettings.ANY, geometry))),
            ExchangePrice.witnessBytes(ExchangePrice.witnesses(flows)), flowBytes);
        printReconciliation();
        if (plan.memory() != null) {
            out.println("Memory of the receiver");
            plan.memory().parts().stream().filter((each) -> each.bytes() > 0)
                .forEach((each) -> row(each.name(), grouped(MemorySize.mebibytes(each.bytes())) + " MiB"));
        }
    }

    /** What to do; the rest of the output says why. */
    private void printPlan(final SizePlan plan, final boolean isSketch) {
        out.println("Set at the receiver");
        plan.keys().forEach((key) -> out.println("  " + key));
        row(plan.memory() == null ? "" : "memory: " + (plan.memory().bytes() >> 20) + "m",
            plan.memory() == null ? "one process does not hold this load: " + plan.fault() : "or more; the default on a host " +
                "as this is " + (MemorySize.ofRun() >> 20) + "m");
        row("", isSketch ? "sums of all flows do not fit the bandwidth, so sketches are sent" :
            "sums of all flows are sent, which is exact; sketches need no sizes");
    }

    private void printPrices(final long sketchBytes, final long witnessBytes, final long flowBytes) {
        final long cellBytes = sketchBytes + witnessBytes;
        out.println("Exchange, at most             octets an interval             bits/s");
        out.printf(Locale.ROOT, PRICE, "mode sketch", cellBytes, scaled(bitsPerSecond(cellBytes)));
        out.printf(Locale.ROOT, PRICE, "  its witness flows", witnessBytes, scaled(bitsPerSecond(witnessBytes)));
        out.printf(Locale.ROOT, PRICE, "mode flows", flowBytes, scaled(bitsPerSecond(flowBytes)));
        if (options.bandwidthBps() == 0) {
            row("mode auto", "flows, which is exact: no --bandwidth limits it");
        } else if (bitsPerSecond(flowBytes) <= options.bandwidthBps()) {
            row("mode auto", "flows, which is exact and fits " + scaled(options.bandwidthBps()));
        } else if (bitsPerSecond(cellBytes) <= options.bandwidthBps()) {
            row("mode auto", "sketch: flows do not fit " + scaled(options.bandwidthBps()));
        } else {
            row("mode auto", "sketch, but neither fits " + scaled(options.bandwidthBps()) +
                ": lower the target or lengthen --interval");
        }
    }

    private void printReconciliation() {
        final long lost = (long)Math.ceil(options.lossRate() * packets);
        out.println("Reconciliation, with that loss");
        if (packets > PacketCache.MAX_CAPACITY) {
            row("packets remembered", "too many: at most " + grouped(PacketCache.MAX_CAPACITY) + ", so of a part of the flows");
        }
        final int remembered = (int)Math.max(PacketCache.MIN_CAPACITY, Math.min(PacketCache.MAX_CAPACITY, packets));
        row("memory of the packets", grouped(PacketCache.memoryBytes(remembered)) + " octets an open interval and point");
        row("cells of an aggregator", grouped(ReconcilePrice.cells(lost)) + " for " + grouped(lost) + " lost packets");
        final long bytes = ReconcilePrice.exchangeBytes(lost);
        out.printf(Locale.ROOT, PRICE, "exchange", bytes, scaled(bitsPerSecond(bytes)));
        final long keyBytes = ReconcilePrice.keyBytes(Math.min(lost, flows));
        out.printf(Locale.ROOT, PRICE, "keys of lost flows", keyBytes, scaled(bitsPerSecond(keyBytes)));
        row("", "at most: as if each lost packet were all of a flow");
        final long classBytes = ReconcilePrice.classBytes();
        out.printf(Locale.ROOT, PRICE, "each traffic class", classBytes, scaled(bitsPerSecond(classBytes)));
        row("", "where rli.classes has more than one, for its delays");
    }

    private double bitsPerSecond(final long bytes) {
        return bytes * (double)Byte.SIZE * NS_PER_SECOND / options.intervalNs();
    }

    private void row(final String name, final String value) {
        out.printf(Locale.ROOT, ROW, name, value);
    }

    static String rates(final SketchGeometry geometry) {
        return IntStream.range(0, geometry.rows())
            .mapToObj(row -> plain(geometry.rate(row) / (double)SketchGeometry.FULL_RATE_PPM))
            .collect(Collectors.joining(", "));
    }

    private static String plain(final double value) {
        return String.format(Locale.ROOT, "%.6f", value).replaceAll("\\.?0+$", "");
    }

    private static String grouped(final long value) {
        return String.format(Locale.ROOT, "%,d", value);
    }

    private static String percent(final double share) {
        return String.format(Locale.ROOT, "%.4g", 100 * share).replaceAll("\\.?0+$", "") + " %";
    }

    private static String seconds(final long ns) {
        return plain(ns / NS_PER_SECOND) + " s";
    }

    private static String scaled(final double bitsPerSecond) {
        final String[] prefixes = {"", "k", "M", "G", "T"};
        double rest = bitsPerSecond;
        int prefix = 0;
        while (rest >= 1_000 && prefix < prefixes.length - 1) {
            rest /= 1_000;
            prefix++;
        }
        return String.format(Locale.ROOT, rest < 10 ? "%.2f %sbit/s" : "%.1f %sbit/s", rest, prefixes[prefix]);
    }
}
