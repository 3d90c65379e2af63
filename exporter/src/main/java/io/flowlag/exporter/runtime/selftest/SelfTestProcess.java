package io.flowlag.exporter.runtime.selftest;

import io.flowlag.common.command.ExitCode;
import io.flowlag.exporter.capture.LiveCaptureOptions;
import io.flowlag.exporter.capture.PacketSource;
import io.flowlag.exporter.capture.file.CaptureFiles;
import io.flowlag.exporter.capture.live.LiveCapture;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.ExporterConfig.Role;
import io.flowlag.exporter.delay.ClockError;
import io.flowlag.exporter.delay.DelayWiring;
import io.flowlag.exporter.runtime.ContentCheck;
import io.flowlag.exporter.runtime.MeteringPipeline;
import io.flowlag.exporter.runtime.PipelineRun;
import io.flowlag.exporter.runtime.delay.CaptureSurvey;
import io.flowlag.exporter.runtime.run.LiveSegment;
import io.flowlag.exporter.status.Counters;
import io.flowlag.exporter.status.DelayDistribution;
import io.flowlag.exporter.status.DelayStatistics;
import io.flowlag.exporter.status.StageErrors;
import io.flowlag.exporter.terminal.Signals;
import io.flowlag.exporter.terminal.Terminal;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * {@code flowlag run --self-test}: adds a known delay and a known loss to a copy of the input, measures them with the stages of
 * the live process, and reports whether they were found. The input is the first interface, for ten seconds, or captures. Runs
 * once, on the command's thread.
 */
public final class SelfTestProcess {
    private static final long DURATION_NS = TimeUnit.SECONDS.toNanos(10);
    private static final double NANOS_PER_MICRO = 1e3;
    /** Allowed error of the interpolated mean, as a share of the added delay. */
    private static final double MEAN_TOLERANCE = 0.05;
    /** Allowed error of the measured share of lost packets. */
    private static final double LOSS_TOLERANCE = 0.005;
    private static final long LEAST_ESTIMATES = 20;

    private SelfTestProcess() {
    }

    /**
     * Runs the test.
     *
     * @param config of the process; its destinations are not served.
     * @param files  captures to test with; empty for the first interface.
     * @return {@link ExitCode#DONE} if delay and loss were found, {@link ExitCode#NO_INPUT} if there was too little traffic,
     *     {@link ExitCode#DAMAGED_INPUT} if something else was measured or a capture is damaged.
     * @throws io.flowlag.exporter.capture.CaptureException if the input cannot be opened.
     */
    public static ExitCode run(final ExporterConfig config, final List<String> files, final Terminal terminal) {
        final boolean isLive = files.isEmpty();
        ContentCheck.requireOneFlowCache(config);
        final ExporterConfig whole = config.with(config.segment().withoutSelector());
        final PacketSource source = open(config, files, terminal);
        final SelfTestInput input = new SelfTestInput(source);
        final DelayWiring wiring = new DelayWiring(
            Role.BOTH, DelayWiring.References.MARKED, ClockError.NONE, true, true, false, false)
            .withCaptures(CaptureSurvey.cutOf(whole, files));
        final Signals signals = Signals.install(Signals.HangUp.STOPS);
        final long deadlineNs = System.nanoTime() + DURATION_NS;
        final StageErrors errors = new StageErrors();
        final MeteringPipeline pipeline = new MeteringPipeline(
            whole, List.of(input.sender(), input.receiver()), isLive, wiring, List.of(), new Counters(), errors);
        try (PipelineRun run = new PipelineRun(whole, pipeline, errors, signals, terminal)) {
            run.onHousekeeping(() -> {
                if (isLive && System.nanoTime() - deadlineNs >= 0) {
                    run.requestStop();
                }
            });
            run.run();
            run.writeStatistics();
            final ExitCode exitCode = run.exitCode();
            final ExitCode verdict = tell(input, run.statistics().delay(), terminal);
            final boolean isDamaged = source.damage() != null;
            if (isDamaged) {
                terminal.message("flowlag: " + source.damage() + "; everything before it was measured");
            }
            if (exitCode != ExitCode.DONE) {
                return exitCode;
            }
            return isDamaged && verdict != ExitCode.INTERNAL ? ExitCode.DAMAGED_INPUT : verdict;
        }
    }

    private static PacketSource open(
        final ExporterConfig config, final List<String> files, final Terminal terminal) {
        if (!files.isEmpty()) {
            return CaptureFiles.open(files, PipelineRun.filters(config, terminal));
        }
        LiveSegment.checkInUse(config);
        final ExporterConfig.Capture capture = config.capture();
        return LiveCapture.open(LiveCaptureOptions.of(LiveSegment.interfaces(config).get(0))
            .withKind(LiveCaptureOptions.Kind.valueOf(capture.source().name()))
            .withDirection(LiveSegment.direction(config, 0))
            .withPromiscuous(capture.promiscuous())
            .withSnapLengthBytes(capture.snapLengthBytes())
            .withRing((int)capture.ringBytes(), 0, LiveCaptureOptions.DEFAULT_BLOCK_TIMEOUT_MS)
            .withFilterExpression(capture.filter()));
    }

    private static ExitCode tell(final SelfTestInput input, final DelayStatistics delay, final Terminal terminal) {
        final Map<String, Long> counters = delay.counters();
        final long matched = counters.get("match_matched");
        // Every packet missing from the copy was removed, even a flow's only one.
        final long lost = counters.get("match_lost") + counters.get("match_not_of_segment");
        final DelayDistribution estimates =
            delay.total().isEmpty() ? DelayDistribution.EMPTY : delay.total().get(0).estimates();
        if (estimates.count() < LEAST_ESTIMATES || matched == 0) {
            terminal.message("flowlag: self-test: too little traffic: " + input.packetCount() + " packets, " +
                estimates.count() + " of them with an estimate, needs " + LEAST_ESTIMATES);
            return ExitCode.NO_INPUT;
        }
        final double trueLoss = (double)input.lostCount() / input.packetCount();
        final double measuredLoss = (double)lost / (matched + lost);
        final double meanError = (estimates.meanNs() - input.meanDelayNs()) / input.meanDelayNs();
        final boolean isDelayFound = Math.abs(meanError) <= MEAN_TOLERANCE;
        final boolean isLossFound = Math.abs(measuredLoss - trueLoss) <= LOSS_TOLERANCE;
        terminal.out().printf(Locale.ROOT, "%-10s %14s %14s %10s  %s%n", "self-test", "added", "measured", "tolerance", "");
        terminal.out().printf(Locale.ROOT, "%-10s %11.1f us %11.1f us %10s  %s%n", "mean delay",
            input.meanDelayNs() / NANOS_PER_MICRO, estimates.meanNs() / NANOS_PER_MICRO, "5 %", verdict(isDelayFound));
        terminal.out().printf(Locale.ROOT, "%-10s %12.3f %% %12.3f %% %10s  %s%n", "loss",
            100 * trueLoss, 100 * measuredLoss, "0.5 points", verdict(isLossFound));
        terminal.out().printf(Locale.ROOT, "%d packets, %d matched, %d with an estimate, %d marked as references%n",
            input.packetCount(), matched, counters.get("rli_estimated"), counters.get("references_sent"));
        if (!delay.isAccountedFor()) {
            terminal.message("flowlag: self-test: the counters do not add up; please report it");
            return ExitCode.INTERNAL;
        }
        if (!isDelayFound || !isLossFound) {
            terminal.message("flowlag: self-test: " +
                (isDelayFound ? "the loss" : isLossFound ? "the mean delay" : "mean delay and loss") +
                " measured is outside the tolerance of what was added");
            return ExitCode.DAMAGED_INPUT;
        }
        return ExitCode.DONE;
    }

    private static String verdict(final boolean isFound) {
        return isFound ? "found" : "NOT FOUND";
    }
}
