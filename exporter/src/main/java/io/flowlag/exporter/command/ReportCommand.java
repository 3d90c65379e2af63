package io.flowlag.exporter.command;

import io.flowlag.common.command.ExitCode;
import io.flowlag.common.command.ExitException;
import io.flowlag.exporter.capture.file.CaptureFiles;
import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ConfigTable;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.listing.FlowQuery;
import io.flowlag.exporter.listing.Grouping;
import io.flowlag.exporter.listing.Listing;
import io.flowlag.exporter.runtime.collect.CollectOptions;
import io.flowlag.exporter.runtime.collect.Collector;
import io.flowlag.exporter.runtime.report.ReportContents;
import io.flowlag.exporter.runtime.report.ReportPage;
import io.flowlag.exporter.terminal.OutputFiles;
import io.flowlag.exporter.terminal.Terminal;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** {@code flowlag report}. */
@Command(name = "report", description = {
    "Writes one page that needs nothing else, to mail or print: delay, loss and rate over time, slowest flows, groups.",
    "Reads captures of two points (as delay), of one (as meter), or IPFIX files (as collect). Lists 200 flows, or as many as " +
        "--top says, and a fourth more of those that lost most: " + ReportPage.BOUNDS + ".",
    "Captures of two points are read twice, for whole flows with their quantiles and for the course of time; standard input " +
        "and what has --active once."})
final class ReportCommand extends TwoPointCommand {
    private static final String GROUPS = "dst/24,dscp";
    private static final int FLOWS = 200;
    private static final String DEFAULT = "1s for the course of time, 1d for the flows of two points";
    private static final String WHOLE = "1d";
    private static final long SECOND_NS = TimeUnit.SECONDS.toNanos(1);

    private static final PrintStream NOWHERE = new PrintStream(OutputStream.nullOutputStream());
    /** Messages and totals are those of the first reading. */
    private static final Terminal SILENT = new Terminal(NOWHERE, NOWHERE, false);

    @Option(names = {"-s", "--sender"}, arity = "1..*", order = FIRST, paramLabel = "FILE",
        description = "Captures of the sender point, where packets pass first; - is standard input.")
    private List<String> senderFiles = new ArrayList<>();

    @Option(names = {"-r", "--receiver"}, arity = "1..*", order = FIRST, paramLabel = "FILE",
        description = "Captures of the receiver point.")
    private List<String> receiverFiles = new ArrayList<>();

    @Parameters(arity = "0..*", paramLabel = "FILE",
        description = "Without -s and -r: captures of one point, or IPFIX files (RFC 5655); plain or gzip.")
    private List<String> files = new ArrayList<>();

    @Option(names = {"-o", "--output"}, order = FIRST, paramLabel = "FILE.html", defaultValue = "report.html",
        description = "The page, replaced as a whole; - is standard output. Default: report.html.")
    private Path page;

    /** The input is IPFIX files. */
    private boolean isIpfix;
    /** Of records: so short that they tell since when a flow is slow; 0 for whole flows. */
    private long stepNs;

    ReportCommand(final ProcessStarter starter, final Terminal terminal) {
        super(starter, terminal, ConfigOptions.ofMetering().ofDelay().usually(DEFAULT, ConfigOption.ACTIVE));
    }

    @Override
    public boolean hasFormats() {
        return false;
    }

    @Override
    boolean hasSeveralSegments() {
        return !isOfTwoPoints();
    }

    @Override
    void layOver(final ConfigLoader loader) {
        super.layOver(loader);
        loader.reads("-s", senderFiles).reads("-r", receiverFiles).reads("FILE", files).writes("-o", page);
        if (line().hasMatchedOption("--active")) {
            return;
        }
        if (isReadAgain()) {
            loader.optionUnlessGiven("report", ConfigTable.ACTIVE_TIMEOUT, WHOLE);
        }
        if (stepNs > 0 || !isReadAgain() && !line().hasMatchedOption("--interval")) {
            loader.optionUnlessGiven("report", ConfigTable.CUT, Math.max(SECOND_NS, stepNs) + "ns");
        }
    }

    /** Records of a second have too few delays for quantiles, which no sum of records has. */
    private boolean isReadAgain() {
        return isOfTwoPoints() && !line().hasMatchedOption("--active") &&
            !senderFiles.contains(CaptureFiles.STANDARD_INPUT) && !receiverFiles.contains(CaptureFiles.STANDARD_INPUT);
    }

    @Override
    ExitCode work(final ExporterConfig given) {
        if (senderFiles.isEmpty() != receiverFiles.isEmpty() || senderFiles.isEmpty() == files.isEmpty()) {
            throw new ExitException(ExitCode.USAGE,
                "report: name -s FILE and -r FILE, or the captures of one point, or IPFIX files");
        }
        isIpfix = !isOfTwoPoints() && Collector.isIpfix(files.get(0));
        OutputFiles.check("the report", page);
        final String groups = line().matchedOptionValue("--group-by", GROUPS);
        final FlowQuery asked = QueryOptions.query(line());
        final ReportContents contents = new ReportContents(
            (line().hasMatchedOption("--top") ? asked : asked.first(FLOWS)).by(Grouping.parse(groups)));
        final ByteArrayOutputStream printed = new ByteArrayOutputStream();
        final List<String> said = new ArrayList<>();
        final Terminal listened = terminal().with(new PrintStream(printed, true, StandardCharsets.UTF_8), said::add);
        try {
            final boolean isOnce = !isReadAgain() || given.metering().cutNs() > 0;
            final ExitCode exitCode = read(given, Listing.to(isOnce ? contents : contents.flows()), listened);
            if (!isOnce) {
                final long intervalNs = given.segment().intervalNs();
                stepNs = (SECOND_NS + intervalNs - 1) / intervalNs * intervalNs;
                read(load(), Listing.to(contents.course()), SILENT);
            }
            write(contents, groups, said, printed);
            return exitCode;
        } catch (final ExitException ex) {
            if (ex.exitCode() == ExitCode.DAMAGED_INPUT) {
                said.add(ex.getMessage());
                write(contents, groups, said, printed);
            }
            throw ex;
        } finally {
            listened.eraseStatus();
        }
    }

    private ExitCode read(final ExporterConfig given, final Listing listing, final Terminal listened) {
        final ExporterConfig config = given.with(new ExporterConfig.Exporting(
            List.of(), given.exporting().enterpriseNumber(), given.exporting().tls()));
        if (isOfTwoPoints()) {
            return measure(config, senderFiles, receiverFiles, null, listing, listened);
        }
        return isIpfix ?
            starter().collect(config, CollectOptions.DEFAULTS.withFiles(files).withListing(listing), listened) :
            starter().meter(config, List.copyOf(files), listing, listened);
    }

    private boolean isOfTwoPoints() {
        return !senderFiles.isEmpty();
    }

    private void write(
        final ReportContents contents, final String groups, final List<String> said, final ByteArrayOutputStream printed) {
        final Map<String, Object> about = new LinkedHashMap<>();
        about.put("title", isOfTwoPoints() ? "Delay between two points" : isIpfix ? "Flow records" : "Flows at one point");
        about.put("inputs", isOfTwoPoints() ? List.of(List.of("sender", senderFiles), List.of("receiver", receiverFiles)) :
            List.of(List.of(isIpfix ? "IPFIX" : "capture", files)));
        about.put("grouped_by", groups);
        about.put("made", Instant.now().truncatedTo(ChronoUnit.SECONDS).toString());
        about.put("said", said);
        about.put("printed", printed.toString(StandardCharsets.UTF_8).strip());
        ReportPage.write(about, contents, page, terminal());
    }
}
