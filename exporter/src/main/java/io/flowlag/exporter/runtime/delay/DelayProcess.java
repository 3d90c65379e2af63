package io.flowlag.exporter.runtime.delay;

import io.flowlag.common.command.ExitCode;
import io.flowlag.exporter.capture.FilterSupplier;
import io.flowlag.exporter.capture.PacketSource;
import io.flowlag.exporter.capture.file.CaptureFiles;
import io.flowlag.exporter.config.ConfigTable;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.ExporterConfig.Role;
import io.flowlag.exporter.delay.CaptureFacts;
import io.flowlag.exporter.delay.DelayWiring;
import io.flowlag.exporter.delay.ReferenceMode;
import io.flowlag.exporter.delay.exact.MatchCounter;
import io.flowlag.exporter.delay.exact.MatchCounters;
import io.flowlag.exporter.delay.exact.TruthWriter;
import io.flowlag.exporter.export.Destination;
import io.flowlag.exporter.export.DestinationFactory;
import io.flowlag.exporter.listing.RowFormat;
import io.flowlag.exporter.reference.ClockState;
import io.flowlag.exporter.runtime.ContentCheck;
import io.flowlag.exporter.runtime.Destinations;
import io.flowlag.exporter.runtime.MeteringPipeline;
import io.flowlag.exporter.runtime.PipelineRun;
import io.flowlag.exporter.runtime.RecordOutput;
import io.flowlag.exporter.runtime.ReferenceSessions;
import io.flowlag.exporter.runtime.SegmentClock;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import io.flowlag.exporter.status.StageErrors;
import io.flowlag.exporter.terminal.OutputFiles;
import io.flowlag.exporter.terminal.Signals;
import io.flowlag.exporter.terminal.Terminal;
import org.agrona.CloseHelper;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import static io.flowlag.exporter.config.MemorySize.mebibytes;

/**
 * {@code flowlag delay}: measures the delay between two measurement points from two captures of the same traffic, in timestamp
 * order and with the stages of the live process. Without a destination the flows are printed as a table, with a summary of each
 * traffic class. Runs once, on the command's thread; stages on those of the threading mode.
 */
public final class DelayProcess {
    /** A warning needs more than one negative delay in this many matched packets. */
    private static final long NEGATIVE_SHARE = 100;
    /** The survey may use this fraction of the memory. */
    private static final int SURVEY_SHARE = 4;

    private DelayProcess() {
    }

    /**
     * Measures captures to their end.
     *
     * @param config   of the process. Unless its threading is set, capture, metering and export have a thread each; with a single
     *                 processor they share one. Defaults are sized by the captures.
     * @param terminal for the table and messages.
     * @throws io.flowlag.exporter.capture.CaptureException if a capture cannot be read.
     */
    public static ExitCode run(final ExporterConfig config, final DelayOptions given, final Terminal terminal) {
        ContentCheck.requireOneFlowCache(config);
        final List<String> files = new ArrayList<>(given.senderFiles());
        files.addAll(given.receiverFiles());
        CaptureFiles.requireOneStandardInput(files);
        final ClockState clockState = SegmentClock.stateOfCaptures(config);
        if (clockState != null && !clockState.reading().notice().isEmpty()) {
            terminal.message("flowlag: " + clockState.reading().notice() + "; records do not tell of the clocks");
        }
        final long memoryBytes = given.memoryBytes() > 0 ? given.memoryBytes() : DelaySizing.defaultMemoryBytes();
        final FilterSupplier filters = PipelineRun.filters(config, terminal);
        final CaptureSurvey survey = CaptureSurvey.of(config, given, filters, memoryBytes / SURVEY_SHARE);
        final DelayOptions options = options(given, survey, terminal);
        final CaptureFacts facts = facts(survey, options, terminal);
        final ExporterConfig threaded = PipelineRun.threadsOfFiles(config, files, 0);
        final DelayWiring wiring = matching(threaded, survey, wiring(config, options, clockState, facts), memoryBytes, terminal);
        final ExporterConfig sized = DelaySizing.of(threaded, survey, wiring, memoryBytes);
        final Counters counters = new Counters();
        final DestinationFactory factory = new DestinationFactory(true, new boolean[2], Map.of(), counters);
        final List<PacketSource> sources = sources(options, filters);
        final List<Destination> destinations;
        try {
            destinations = new Destinations(
                factory, () -> RecordOutput.destination(
                    factory, sized, options.listing().within(RecordOutput.parts(sized, true)), terminal, false)).of(sized);
        } catch (final RuntimeException ex) {
            CloseHelper.closeAll(sources);
            throw ex;
        }

        final Signals signals = Signals.install(Signals.HangUp.STOPS);
        final StageErrors errors = new StageErrors();
        final MeteringPipeline pipeline =
            new MeteringPipeline(sized, sources, false, wiring, destinations, counters, errors);
        try (PipelineRun run = new PipelineRun(sized, pipeline, errors, signals, terminal)) {
            factory.delay(run.delayStages());
            run.run();
            if (!isOutputTaken(config, options)) {
                DelayTable.print(run.statistics().delay(), terminal.out());
                DelaySizing.print(sized, survey, wiring, memoryBytes, terminal.out());
                DelayTable.printCaptures(sized, facts, run.delayStage().matchedFlows(), terminal.out());
            } else if (config.exporting().destinations().isEmpty() && options.listing().format() == RowFormat.JSON) {
                DelayTable.printJson(run.statistics().delay(), sized, run.delayStage().matchedFlows(), terminal.out());
            }
            run.writeStatistics();
            writeTruth(run, options, terminal);
            run.tellUnsupportedLinkTypes();
            run.tellNothing();
            tellNegativeDelays(run.delayStage().matchCounters(), facts, terminal);
            tellApart(run.delayStage().matchCounters(), terminal);
            tellMissingReferences(run, options, terminal);
            tellFullCache(sized, counters, DelaySizing.neededBytes(threaded, survey, wiring, 1), terminal);
            return exitCode(run, sources, terminal);
        }
    }

    /** Whether standard output is for a program. */
    private static boolean isOutputTaken(final ExporterConfig config, final DelayOptions options) {
        return config.exporting().destinations().isEmpty() ? options.listing().format() != RowFormat.TABLE :
            (config.stats().file() != null && config.stats().isStandardOutput() ||
            options.truthFile() != null && OutputFiles.STANDARD_OUTPUT.equals(options.truthFile().toString()));
    }

    /** Orders the captures, and drops estimators that cannot work. */
    private static DelayOptions options(
        final DelayOptions given, final CaptureSurvey survey, final Terminal terminal) {
        DelayOptions options = given;
        if (survey.isSwapped()) {
            terminal.message("flowlag: packets pass the point of -r first, by time to live: -s and -r are taken the other " +
                "way round");
            options = options.swapped();
        }
        return options.isExact() && !options.isInterpolated() && survey.isMatchingFew() ?
            withoutMatching(options, survey, terminal) : options;
    }

    /** Matches as many flows as memory allows, and reports if those are not all. */
    private static DelayWiring matching(
        final ExporterConfig config, final CaptureSurvey survey, final DelayWiring wiring, final long memoryBytes,
        final Terminal terminal) {
        final int oneIn = DelaySizing.matchedOneIn(config, survey, wiring, memoryBytes);
        if (oneIn > 1 && wiring.isExact()) {
            final String others = wiring.isInterpolated() || wiring.isSketched() ? "estimated means" :
                "means interpolated between matched packets";
            final long allBytes = DelaySizing.neededBytes(config, survey, wiring, 1);
            final long moreBytes = DelaySizing.neededBytes(config, survey, wiring, oneIn / 2);
            terminal.message("flowlag: --memory " + mebibytes(memoryBytes) + "m is too little to match every packet: one flow " +
                "in " + oneIn + " is matched, the others have " + others + " and no loss; --memory " + mebibytes(allBytes) +
                "m would match each" + (moreBytes < allBytes ? ", " + mebibytes(moreBytes) + "m one in " + oneIn / 2 : ""));
        }
        return wiring.withCaptures(wiring.captures().matchingOneIn(oneIn));
    }

    /** Packets that differ at the two points; only reference packets in the captures give the delay. */
    private static DelayOptions withoutMatching(
        final DelayOptions options, final CaptureSurvey survey, final Terminal terminal) {
        final String cause = "flowlag: fewer than half of the packets match (address translation, a proxy, an offload or " +
            "captures of other traffic): ";
        if (survey.references() > 0) {
            terminal.message(
                cause + "delays of the others are estimated from the " + survey.references() + " reference packets in -r");
            return options.byInjected();
        }
        terminal.message(cause + "the others have no delay; reference packets would give them one: capture while flowlag run " +
            "sends them (rli.target)");
        return options;
    }

    private static CaptureFacts facts(final CaptureSurvey survey, final DelayOptions options, final Terminal terminal) {
        final CaptureFacts facts = survey.facts();
        if (facts.joinedAboveBytes() != Integer.MAX_VALUE) {
            terminal.message("flowlag: packets longer than 1500 octets are at one point alone: an offload joined or cut them, " +
                "and the loss of their flows is not known; capture with ethtool -K INTERFACE gro off gso off tso off lro off");
        }
        return options.isExact() ? facts : facts.oneWay();
    }

    /** A few are clock noise; many have a cause that affects the estimates too. */
    private static void tellNegativeDelays(
        final MatchCounters matched, final CaptureFacts facts, final Terminal terminal) {
        final long negative = matched.get(MatchCounter.NEGATIVE);
        final long all = matched.get(MatchCounter.MATCHED);
        if (negative * NEGATIVE_SHARE > all) {
            final String cause = negative == all ?
                "the captures of sender (-s) and receiver (-r) may be swapped, or their clocks are apart" :
                facts.sides() != null ? "the clocks of the captures are apart" :
                "if the captures hold both directions, name the one to measure by segment.source or segment.destination; else " +
                "their clocks are apart";
            terminal.message("flowlag: " + negative + " of " + all + " matched packets have a negative delay: " + cause);
        }
    }

    /** Captures of different times, whose packets cannot be matched. */
    private static void tellApart(final MatchCounters matched, final Terminal terminal) {
        final long undecided = matched.get(MatchCounter.SENT_UNDECIDED);
        if (undecided > 0 && undecided == matched.get(MatchCounter.SENT) && matched.get(MatchCounter.RECEIVED) > 0) {
            terminal.message("flowlag: the two points do not see the same packets: no packet was sent while the receiver's " +
                "capture goes on; are both of the same time, and their clocks together?");
        }
    }

    private static ExitCode exitCode(
        final PipelineRun run, final List<PacketSource> sources, final Terminal terminal) {
        ExitCode exitCode = run.exitCode();
        for (final PacketSource source : sources) {
            if (source.damage() != null) {
                terminal.message("flowlag: " + source.damage() + "; everything before it was measured");
                exitCode = exitCode == ExitCode.DONE ? ExitCode.DAMAGED_INPUT : exitCode;
            }
        }
        return exitCode;
    }

    private static DelayWiring wiring(
        final ExporterConfig config, final DelayOptions options, final ClockState clockState, final CaptureFacts facts) {
        final boolean isCaptured = options.referenceMode() == ReferenceMode.CAPTURED;
        final boolean isPassive = !isCaptured && config.rli().injection().policy() == ExporterConfig.Policy.PASSIVE;
        return new DelayWiring(
            Role.BOTH,
            new DelayWiring.References(
                isPassive ? ReferenceMode.PASSIVE : options.referenceMode(),
                isCaptured ? ReferenceSessions.of(config.rli()) : List.of()),
            SegmentClock.error(clockState), options.isInterpolated(), true, options.isExact(), options.isSketched())
            .withCaptures(facts);
    }

    private static List<PacketSource> sources(final DelayOptions options, final FilterSupplier filters) {
        final List<PacketSource> sources = new ArrayList<>();
        try {
            sources.add(CaptureFiles.open(options.senderFiles(), filters));
            sources.add(CaptureFiles.open(options.receiverFiles(), filters));
            return sources;
        } catch (final RuntimeException ex) {
            CloseHelper.closeAll(sources);
            throw ex;
        }
    }

    private static void tellMissingReferences(
        final PipelineRun run, final DelayOptions options, final Terminal terminal) {
        if (options.referenceMode() == ReferenceMode.CAPTURED && options.isInterpolated() &&
            run.statistics().delay().counters().getOrDefault("rli_references", 0L) == 0) {
            terminal.message("flowlag: no reference packets were found at the receiver point: check rli.port, rli.session and " +
                "rli.key-file, or use --references marked");
        }
    }

    private static void tellFullCache(
        final ExporterConfig sized, final Counters counters, final long neededBytes, final Terminal terminal) {
        final long cut = counters.get(CounterId.FLOWS_ENDED_LACK_OF_RESOURCES);
        if (cut > 0) {
            terminal.message("flowlag: " + cut + " records were cut, for there is room for " + sized.metering().maxFlows() +
                " flows at once, and some losses have no record: " + (sized.isDefault(ConfigTable.MAX_FLOWS) ?
                "--memory " + mebibytes(neededBytes) + "m would do" : "a larger metering.max-flows would do"));
        }
    }

    private static void writeTruth(final PipelineRun run, final DelayOptions options, final Terminal terminal) {
        if (options.truthFile() == null) {
            return;
        }
        try {
            if (OutputFiles.STANDARD_OUTPUT.equals(options.truthFile().toString())) {
                TruthWriter.write(run.delayStage().matchedFlows(), terminal.out());
                terminal.out().flush();
            } else {
                TruthWriter.write(run.delayStage().matchedFlows(), options.truthFile());
            }
        } catch (final IOException ex) {
            throw OutputFiles.failure("the truth", options.truthFile(), ex);
        }
    }
}
