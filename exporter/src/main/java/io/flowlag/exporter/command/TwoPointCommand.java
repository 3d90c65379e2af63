package io.flowlag.exporter.command;

import io.flowlag.common.command.ExitCode;
import io.flowlag.common.command.ExitException;
import io.flowlag.exporter.config.ConfigKey;
import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ConfigTable;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.MemorySize;
import io.flowlag.exporter.delay.ReferenceMode;
import io.flowlag.exporter.listing.Listing;
import io.flowlag.exporter.runtime.delay.DelayOptions;
import io.flowlag.exporter.terminal.OutputFiles;
import io.flowlag.exporter.terminal.Terminal;
import picocli.CommandLine.Option;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A command that measures the delay between two points from captures: what it is asked for, of delays. */
abstract class TwoPointCommand extends ConfiguredCommand implements QueryOptions.Asking {
    /** Of options that stand before those of delays. */
    static final int FIRST = -2;
    private static final String RLI = "rli";
    private static final String LDS = "lds";
    private static final String JOINT = "joint";
    private static final String EXACT = "exact";
    private static final String MARKED = "marked";
    private static final String INJECTED = "injected";
    private static final String PASSIVE = "passive";
    private static final List<String> REFERENCES = List.of(MARKED, INJECTED, PASSIVE);
    private static final List<String> ESTIMATORS = List.of(RLI, LDS, JOINT, EXACT);
    private static final List<ConfigKey<?>> ESTIMATING = List.of(
        ConfigTable.POLICY, ConfigTable.LDS_ROWS, ConfigTable.LDS_COLUMNS, ConfigTable.LDS_VLDA, ConfigTable.LDS_RATES,
        ConfigTable.LDS_WEIGHTS);

    @Option(names = "--references", paramLabel = "marked|injected|passive",
        description = "Regular packets stand in for reference packets, chosen by the policy (marked); reference packets are in " +
            "the captures (injected); or both points choose the same regular packets by their digests (passive, as --policy " +
            "passive). Default: marked.")
    private String references;

    @Option(names = "--estimators", paramLabel = "rli,lds,joint,exact", split = ",",
        description = "What delays come from: matching of every packet (exact), references (rli), sketches of both points " +
            "(lds), both solved together (joint, which has the two with it). Default: exact.")
    private List<String> estimators;

    @Option(names = "--compare",
        description = "Shows the estimates of references, sketches and both together next to the matched delays; on by default " +
            "with --references, --policy, or the shape of a sketch.")
    private boolean isCompared;

    @Option(names = "--memory", paramLabel = "SIZE",
        description = "Memory that may be taken off the heap, such as 512m or 4g. Default: half of the host's.")
    private String memory;

    @Option(names = "--weights", paramLabel = "FILE",
        description = "Which flows weigh more in the sketch: a rule of lds.weights on each line; blank lines are left out, and " +
            "what follows a #.")
    private Path weightsFile;

    @Option(names = "--reconcile",
        description = "Finds every packet that only one point has, takes it out of the sketches, and says what an exchange " +
            "between two processes would have taken for it.")
    private boolean isReconciled;

    TwoPointCommand(final ProcessStarter starter, final Terminal terminal, final ConfigOptions options) {
        super(starter, terminal, options);
    }

    @Override
    void layOver(final ConfigLoader loader) {
        QueryOptions.layOver(line(), loader);
        if (PASSIVE.equalsIgnoreCase(references)) {
            loader.option("--references", ConfigTable.POLICY, List.of(PASSIVE));
        }
        if (weightsFile != null) {
            loader.reads("--weights", List.of(weightsFile.toString()));
            loader.optionFile("--weights", ConfigTable.LDS_WEIGHTS, weightsFile);
        }
    }

    /** Measures captures of the sender and of the receiver; the file for the truth may be null. */
    final ExitCode measure(
        final ExporterConfig config, final List<String> senderFiles, final List<String> receiverFiles, final Path truthFile,
        final Listing listing, final Terminal terminal) {
        if (references != null && REFERENCES.stream().noneMatch(references::equalsIgnoreCase)) {
            throw new ExitException(ExitCode.USAGE, "--references " + references + ": must be marked, injected or passive");
        }
        if (PASSIVE.equalsIgnoreCase(references) && config.rli().injection().policy() != ExporterConfig.Policy.PASSIVE) {
            throw new ExitException(ExitCode.USAGE, "--references passive and --policy contradict each other: leave one out");
        }
        final List<String> chosen = chosen(config);
        OutputFiles.check("the truth", truthFile);
        final ReferenceMode mode = INJECTED.equalsIgnoreCase(references) ? ReferenceMode.CAPTURED : ReferenceMode.MARKED;
        return starter().delay(
            config.with(chosen.contains(JOINT) ? config.joint().on() : config.joint().off())
                .with(isReconciled || isRepaired(config, chosen) ? config.reconcile().on() : config.reconcile()),
            new DelayOptions(
                List.copyOf(senderFiles), List.copyOf(receiverFiles), mode, chosen.contains(RLI), chosen.contains(LDS),
                chosen.contains(EXACT), truthFile, memoryBytes()).with(listing),
            terminal);
    }

    private long memoryBytes() {
        try {
            return memory == null ? 0 : MemorySize.parse(memory);
        } catch (final IllegalArgumentException ex) {
            throw new ExitException(ExitCode.USAGE, "--memory " + memory + ": " + ex.getMessage());
        }
    }

    private List<String> chosen(final ExporterConfig config) {
        if (isCompared && estimators != null) {
            throw new ExitException(ExitCode.USAGE, "--compare has every estimator: leave --estimators out");
        }
        final boolean isLdsPossible = config.segment().maximumDelayNs() <= config.segment().intervalNs() ||
            config.isDefault(ConfigTable.MAXIMUM_DELAY) || config.isDefault(ConfigTable.SEGMENT_INTERVAL);
        final List<String> chosen = new ArrayList<>(estimators != null ? estimators : isCompared || isReconciled ? ESTIMATORS :
            !asksForEstimates(config) ? List.of(EXACT) : isLdsPossible ? ESTIMATORS : List.of(RLI, EXACT));
        for (final String each : chosen) {
            if (!ESTIMATORS.contains(each)) {
                throw new ExitException(ExitCode.USAGE, "--estimators " + each + ": must be of rli, lds, joint, exact");
            }
        }
        if (chosen.equals(List.of(JOINT))) {
            chosen.addAll(List.of(RLI, LDS));
        }
        if (chosen.contains(LDS) && !isLdsPossible) {
            throw new ExitException(
                ExitCode.USAGE, "--estimators lds: needs a --max-delay that is not above --interval");
        }
        if (chosen.contains(JOINT) && !chosen.contains(LDS)) {
            throw new ExitException(ExitCode.USAGE, "--estimators joint: needs lds too, and better rli as well");
        }
        if (isReconciled && !chosen.contains(LDS)) {
            throw new ExitException(ExitCode.USAGE, "--reconcile: needs --estimators lds");
        }
        return chosen;
    }

    /** Who says how references are chosen, or what sketches look like, wants to see what they tell. */
    private boolean asksForEstimates(final ExporterConfig config) {
        return references != null || !ESTIMATING.stream().allMatch(config::isDefault);
    }

    /** Joint estimation knows which packets were lost, unless reconciliation was switched off. */
    private static boolean isRepaired(final ExporterConfig config, final List<String> chosen) {
        return chosen.contains(JOINT) && config.isDefault(ConfigTable.RECONCILE_ENABLED);
    }
}
