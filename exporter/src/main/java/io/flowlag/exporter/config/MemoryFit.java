package io.flowlag.exporter.config;

import io.flowlag.common.config.Origin;
import io.flowlag.common.config.Problems;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;

import static io.flowlag.exporter.config.ConfigTable.*;

/**
 * Fits the tables of {@code run} into its memory. Given sizes are taken as they are. The others have their defaults if all fit;
 * else they shrink by the same factor. Without delay and checkpoint, the flow cache grows instead. Sizes never fall as the memory
 * rises. Used once, by one thread.
 */
final class MemoryFit {
    private static final int STEPS = 64;
    /** Largest factor by which the flow cache grows, and the part of the memory that must be left then. */
    private static final int MOST_GROWTH = 8;
    private static final int SPARE_PART = 2;
    /** Sizes that shrink, with the least that is of use. */
    private static final Map<ConfigKey<Long>, Long> LEAST = new LinkedHashMap<>();

    static {
        LEAST.put(MAX_FLOWS, 4L << 10);
        LEAST.put(RING, 8L << 20);
        LEAST.put(PACKET_RING, 256L << 10);
        LEAST.put(RECORD_RING, 256L << 10);
        LEAST.put(FRAGMENT_TABLE, 256L);
        LEAST.put(REFERENCE_BUFFER, 4L << 10);
        LEAST.put(LDS_COLUMNS, 512L);
        LEAST.put(LDS_IN_FLIGHT, 4L << 10);
        LEAST.put(LDS_WAITING, 1L << 10);
        LEAST.put(JOINT_FLOWS, 1L << 10);
        LEAST.put(JOINT_PENDING, 4L << 10);
        LEAST.put(RECONCILE_PACKETS, 4L << 10);
        LEAST.put(RECONCILE_CELLS, 4L << 10);
        LEAST.put(QUANTILES_MEMORY, 256L << 10);
        LEAST.put(EXCHANGE_MEMORY, 8L << 20);
        LEAST.put(STATUS_FLOWS, 64L);
    }

    private List<Map<ConfigKey<?>, Setting>> views;
    private final Function<List<Map<ConfigKey<?>, Setting>>, ExporterConfig> conclusion;
    private final Function<ExporterConfig, List<Memory.Part>> formula;
    private Setting memory;
    private long bytes;

    /**
     * Of checked settings.
     *
     * @param views      settings as each segment sees them.
     * @param conclusion makes the configuration of such views.
     * @param formula    says what a configuration takes.
     */
    MemoryFit(
        final List<Map<ConfigKey<?>, Setting>> views,
        final Function<List<Map<ConfigKey<?>, Setting>>, ExporterConfig> conclusion,
        final Function<ExporterConfig, List<Memory.Part>> formula) {
        this.views = views;
        this.conclusion = conclusion;
        this.formula = formula;
        memory = views.get(0).get(MEMORY);
        bytes = MEMORY.cast(memory.value());
    }

    /** {@return the configuration with the parts of its memory; adds to the problems if even the least sizes do not fit} */
    ExporterConfig fit(final Problems problems) {
        if (memory.origin().isDefault()) {
            addGiven();
        }
        int step = 0;
        int above = STEPS + 1;
        if (neededBytes(sized(STEPS)) <= bytes) {
            step = STEPS;
        } else if (neededBytes(sized(0)) > bytes) {
            refuse(problems);
        } else {
            while (above - step > 1) {
                final int middle = (step + above) / 2;
                if (neededBytes(sized(middle)) <= bytes) {
                    step = middle;
                } else {
                    above = middle;
                }
            }
        }
        final ExporterConfig config = conclusion.apply(step == STEPS ? grown() : sized(step));
        return config.with(new Memory(bytes, formula.apply(config)));
    }

    /**
     * The configuration of a reload: sizes that follow the memory stay as they are in use. Adds to the problems if given ones do
     * not fit then. Of waiting records {@link SeveralSegments#withRecordsOf} says more where a cut changes.
     */
    ExporterConfig refit(final ExporterConfig used, final Problems problems) {
        final List<ConfigKey<Long>> keys = new ArrayList<>(LEAST.keySet());
        keys.addAll(List.of(MEMORY, EXACT_PACKETS));
        final Long cutNs = CUT.cast(views.get(0).get(CUT).value());
        if (used.metering().cutNs() != (cutNs == null ? 0 : cutNs)) {
            keys.remove(LDS_WAITING);
        }
        final List<Map<ConfigKey<?>, Setting>> kept = with(views, (view) -> keys.forEach((key) -> {
            final ExporterConfig segment = used.segments().stream().filter((each) -> Long.valueOf(each.segment().id()).equals(
                view.get(SEGMENT_ID).value())).findFirst().orElse(used.segments().get(0));
            final EffectiveValue value = segment.effectiveValue(key);
            if (view.get(key).origin().isDefault() && value.origin().isDefault()) {
                view.put(key, new Setting(value.value(), value.text(), Origin.DEFAULT, value.note()));
            }
        }));
        final ExporterConfig config = conclusion.apply(kept);
        final Setting bound = kept.get(0).get(MEMORY);
        final long boundBytes = MEMORY.cast(bound.value());
        final Memory memoryInUse = new Memory(boundBytes, formula.apply(config.with(new Memory(boundBytes, List.of()))));
        if (memoryInUse.takenBytes() > boundBytes) {
            problems.add(bound.origin(), MEMORY.path(), bound.text(), "a reload keeps sizes, and with the new ones they take " +
                MemorySize.mebibytes(memoryInUse.takenBytes()) + " MiB: restart for it");
            ConfigurationException.throwIfAny(problems);
        }
        return config.with(memoryInUse);
    }

    /** Adds to the default bound what given sizes take beyond their defaults, as far as the host has it. */
    private void addGiven() {
        final List<Map<ConfigKey<?>, Setting>> defaults = with(views, (view) -> {
            LEAST.keySet().forEach((key) -> {
                if (!view.get(key).origin().isDefault()) {
                    view.put(key, Setting.defaultOf(key));
                }
            });
            view.put(EXACT_PACKETS, new Setting(DelayRelations.automaticPackets(bytes), "", Origin.DEFAULT));
        });
        final long mebibytes = Math.min(MemorySize.mostOfRun(), bytes + neededBytes(views) - neededBytes(defaults)) >> 20;
        if (mebibytes << 20 > bytes) {
            bytes = mebibytes << 20;
            memory = new Setting(bytes, mebibytes + "m", Origin.DEFAULT, memory.note() + ", and what given sizes take");
            views = with(views, (view) -> view.put(MEMORY, memory));
        }
    }

    private List<Map<ConfigKey<?>, Setting>> sized(final int step) {
        return step == STEPS ? views : with(views, (view) -> LEAST.forEach((key, least) -> {
            final long size = key.cast(view.get(key).value());
            final long part = Math.max(least, size * step / STEPS);
            shrink(view, key, key == PACKET_RING || key == RECORD_RING ? Long.highestOneBit(part) : part);
        }));
    }

    private void shrink(final Map<ConfigKey<?>, Setting> view, final ConfigKey<Long> key, final long size) {
        final Setting setting = view.get(key);
        if (setting.origin().isDefault() && size < key.cast(setting.value())) {
            view.put(key, new Setting(size, Long.toString(size), Origin.DEFAULT, Memory.NOTE + memory.text() + ", else " +
                setting.text()));
        }
    }

    /** The flow cache takes memory as flows come; a delay's tables are cleared at each interval, and a checkpoint is on disk. */
    private List<Map<ConfigKey<?>, Setting>> grown() {
        final boolean mayGrow = views.stream().allMatch((view) -> view.get(MAX_FLOWS).origin().isDefault() &&
            view.get(ROLE).value() == ExporterConfig.Role.NONE && view.get(CHECKPOINT_FILE).value() == null);
        for (int factor = MOST_GROWTH; mayGrow && factor > 1; factor /= 2) {
            final long flows = factor * MAX_FLOWS.defaultValue();
            final List<Map<ConfigKey<?>, Setting>> larger = with(views, (view) -> view.put(MAX_FLOWS,
                new Setting(flows, Long.toString(flows), Origin.DEFAULT, Memory.NOTE + memory.text())));
            if (neededBytes(larger) <= bytes / SPARE_PART) {
                return larger;
            }
        }
        return views;
    }

    private static List<Map<ConfigKey<?>, Setting>> with(
        final List<Map<ConfigKey<?>, Setting>> views, final Consumer<Map<ConfigKey<?>, Setting>> change) {
        final List<Map<ConfigKey<?>, Setting>> changed = new ArrayList<>();
        for (final Map<ConfigKey<?>, Setting> view : views) {
            final Map<ConfigKey<?>, Setting> copy = new HashMap<>(view);
            change.accept(copy);
            changed.add(copy);
        }
        return changed;
    }

    private long neededBytes(final List<Map<ConfigKey<?>, Setting>> sizes) {
        return neededBytes(sizes, bytes);
    }

    /**
     * Octets of sizes with a bound. Packets of matching that follow the memory count as their share of it, so that what is left
     * for the others rises with the memory too.
     */
    private long neededBytes(final List<Map<ConfigKey<?>, Setting>> sizes, final long boundBytes) {
        final boolean isShared = sizes.stream().anyMatch((view) -> view.get(ROLE).value() == ExporterConfig.Role.BOTH &&
            view.get(EXACT_PACKETS).origin().isDefault());
        final List<Map<ConfigKey<?>, Setting>> counted = !isShared ? sizes : with(sizes, (view) -> view.put(EXACT_PACKETS,
            new Setting(DelayRelations.LEAST_PACKETS, "", Origin.DEFAULT)));
        final Memory bound = new Memory(boundBytes, List.of());
        return (isShared ? boundBytes / DelayRelations.PACKETS_SHARE : 0) + formula.apply(conclusion.apply(counted).with(bound))
            .stream().mapToLong(Memory.Part::bytes).sum();
    }

    /** Blames the given size that takes most. */
    private void refuse(final Problems problems) {
        final List<Map<ConfigKey<?>, Setting>> least = sized(0);
        final long neededBytes = neededBytes(least);
        final List<ConfigKey<Long>> keys = new ArrayList<>(LEAST.keySet());
        keys.add(EXACT_PACKETS);
        Setting blamed = null;
        String path = null;
        long mostBytes = 0;
        for (final ConfigKey<Long> key : keys) {
            final Setting setting = views.stream().map((view) -> view.get(key)).filter((each) -> !each.origin().isDefault())
                .findFirst().orElse(null);
            final long takenBytes = setting == null ? 0 : neededBytes - neededBytes(with(least, (view) -> view.put(key,
                new Setting(LEAST.getOrDefault(key, DelayRelations.LEAST_PACKETS), "", setting.origin()))));
            if (takenBytes > mostBytes) {
                blamed = setting;
                path = key.path();
                mostBytes = takenBytes;
            }
        }
        // The heap and the packets of matching rise with the memory, by less than half of it.
        long enoughBytes = neededBytes;
        while (neededBytes(least, enoughBytes) > enoughBytes) {
            enoughBytes = MemorySize.mebibytes(neededBytes(least, enoughBytes)) << 20;
        }
        final String wayOut = "set memory to " + MemorySize.mebibytes(enoughBytes) + "m or more";
        if (blamed == null) {
            problems.add(memory.origin(), MEMORY.path(), memory.text(), "is less than the least of all parts: " + wayOut);
        } else {
            problems.add(blamed.origin(), path, blamed.text(), "takes " + MemorySize.mebibytes(mostBytes) + " MiB, and memory=" +
                memory.text() + " leaves " + MemorySize.mebibytes(Math.max(0, bytes - neededBytes + mostBytes)) +
                " MiB for it: lower it, leave it out, or " + wayOut);
        }
        ConfigurationException.throwIfAny(problems);
    }
}
