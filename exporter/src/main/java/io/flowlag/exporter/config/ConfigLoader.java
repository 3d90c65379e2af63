package io.flowlag.exporter.config;

import io.flowlag.common.config.BadValueException;
import io.flowlag.common.config.ConfigNode;
import io.flowlag.common.config.Names;
import io.flowlag.common.config.Origin;
import io.flowlag.common.config.Problems;
import io.flowlag.common.config.TextFile;
import io.flowlag.common.config.YamlReader;

import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Pattern;

/**
 * Builds an {@link ExporterConfig} from the defaults of {@link ConfigTable}, a file, and options of the command line; later ones
 * override earlier ones. All faults are collected, and thrown together by {@link #conclude()}. Used by one thread, once.
 */
public final class ConfigLoader {
    private static final long MAX_FILE_BYTES = 1L << 20;
    private static final String EXAMPLE = "observation-domain: 1";
    private static final String STANDARD_STREAM = "-";
    private static final String STANDARD_INPUT = "/proc/self/fd/0";
    /** The list in place of the section {@code segment}, and the sections that its entries may have. */
    static final String SEGMENTS = "segments";
    /** A section that may have any keys, in their sections. */
    static final String EXPERT = "expert";
    private static final String AUTO = "auto";
    private static final String SEGMENT = "segment";
    private static final List<String> SEGMENT_SECTIONS = List.of("rli", "exchange", "lds");
    private static final Pattern COMMENT = Pattern.compile("#.*");

    private final Problems problems;
    private final Map<ConfigKey<?>, Setting> settings = new HashMap<>();
    /** How a text names a key: under its section, or by its whole path. */
    private final Map<ConfigKey<?>, Origin> given = new HashMap<>();
    private final List<FileRelations.OwnFile> inputs = new ArrayList<>();
    private final List<FileRelations.OwnFile> outputs = new ArrayList<>();
    private List<DestinationSpec> destinations = new ArrayList<>();
    private List<SegmentEntry> segments = new ArrayList<>();
    private boolean isConcluded;

    /** Starts with the defaults. */
    public ConfigLoader() {
        this(new Problems());
    }

    private ConfigLoader(final Problems problems) {
        this.problems = problems;
        for (final ConfigKey<?> key : ConfigTable.keys()) {
            settings.put(key, Setting.defaultOf(key));
        }
    }

    /** Adds the settings of a file. */
    public ConfigLoader file(final Path file) {
        inputs.add(new FileRelations.OwnFile("the configuration itself", file));
        final String yaml = TextFile.read(file, "configuration", MAX_FILE_BYTES, problems);
        if (yaml != null) {
            text(file.toString(), yaml);
        }
        return this;
    }

    /** Adds the settings of a file's text. */
    public ConfigLoader text(final String fileName, final String yaml) {
        given.clear();
        try {
            section("", new YamlReader(fileName, EXAMPLE, problems).read(yaml));
        } catch (final IOException ex) {
            problems.addMissingInput(fileName + ": cannot be read: " + ex.getMessage());
        }
        return this;
    }

    /** Adds an option of the command line, such as {@code --active}, with its value, or several where the key is a list. */
    public ConfigLoader option(final String option, final ConfigKey<?> key, final List<String> texts) {
        final Origin origin = Origin.commandLine(option);
        if (key == ConfigTable.DESTINATIONS) {
            destinations = new ArrayList<>();
            for (final String text : texts) {
                final DestinationSpec spec = new DestinationReader(problems).read(origin, text);
                if (spec != null) {
                    destinations.add(spec);
                }
            }
        } else {
            set(key, origin, texts, key.type().isList());
        }
        return this;
    }

    /** Sets a key to the value that an option such as {@code --receiver} implies, unless the file sets it. */
    public ConfigLoader optionUnlessGiven(final String option, final ConfigKey<?> key, final String text) {
        return settings.get(key).origin().isDefault() ? option(option, key, List.of(text)) : this;
    }

    /** Makes a segment of each ordered pair of interfaces, in place of any list of segments. */
    public ConfigLoader router(final String option, final List<String> interfaces) {
        segments = new ArrayList<>();
        new LocalSegments(segments, problems).addAll(
            new SegmentEntry(Origin.commandLine(option), new ConfigLoader(problems).settings), interfaces);
        return this;
    }

    /** Registers input files of an option of the command, so that they are not overwritten; {@code -} is standard input. */
    public ConfigLoader reads(final String option, final List<String> files) {
        for (final String file : files) {
            try {
                final Path path = Path.of(STANDARD_STREAM.equals(file) ? STANDARD_INPUT : file);
                inputs.add(new FileRelations.OwnFile(option, path));
            } catch (final InvalidPathException ex) {
                // cannot be overwritten; opening it reports the fault
            }
        }
        return this;
    }

    /** Adds the lines of a file, each an item of the list of a key. Blank lines and comments after # are ignored. */
    public ConfigLoader optionFile(final String option, final ConfigKey<?> key, final Path file) {
        final Origin origin = Origin.commandLine(option);
        final List<String> texts = new ArrayList<>();
        final Set<Object> values = new HashSet<>();
        final List<String> lines = lines(origin, file);
        for (int i = 0; i < lines.size(); i++) {
            final String text = COMMENT.matcher(lines.get(i)).replaceFirst("").strip();
            try {
                if (!text.isEmpty() && !values.add(key.type().parse(text))) {
                    throw new BadValueException("'" + text + "' is there twice: leave one out");
                }
            } catch (final BadValueException ex) {
                problems.add(origin, file + ":" + (i + 1) + ": " + ex.getMessage());
            }
            if (!text.isEmpty()) {
                texts.add(text);
            }
        }
        if (values.size() == texts.size()) {
            set(key, origin, texts, true);
        }
        return this;
    }

    /** Registers an output file of an option of the command, so that nothing else uses it; {@code -} and null are none. */
    public ConfigLoader writes(final String option, final Path file) {
        outputs.add(new FileRelations.OwnFile(option, file));
        return this;
    }

    private List<String> lines(final Origin origin, final Path file) {
        try {
            return Files.readAllLines(file, StandardCharsets.UTF_8);
        } catch (final NoSuchFileException ex) {
            problems.add(origin, file + ": no such file: check the path");
        } catch (final AccessDeniedException ex) {
            problems.add(origin, file + ": may not be read: check its owner and mode");
        } catch (final CharacterCodingException ex) {
            problems.add(origin, file + ": is not UTF-8: save it as UTF-8");
        } catch (final IOException ex) {
            problems.add(origin, file + ": cannot be read: " + ex.getMessage());
        }
        return List.of();
    }

    /**
     * Checks all settings and the relations between them; throws a {@link ConfigurationException} with every error, or if there
     * are several segments that one process cannot measure.
     */
    public ExporterConfig conclude() {
        return process(conclusions(checked()));
    }

    /** The same for {@code run}: with tables that fit its memory, by their formula; throws too if given ones do not. */
    public ExporterConfig conclude(final Function<ExporterConfig, List<Memory.Part>> formula) {
        return new MemoryFit(checked(), (views) -> process(conclusions(views)), formula).fit(problems);
    }

    /** The same for a reload, which keeps the sizes of the configuration in use; throws too if given ones do not fit then. */
    public ExporterConfig conclude(final Function<ExporterConfig, List<Memory.Part>> formula, final ExporterConfig used) {
        return new MemoryFit(checked(), (views) -> process(conclusions(views)), formula).refit(used, problems);
    }

    private ExporterConfig process(final List<ExporterConfig> views) {
        final List<ExporterConfig> local = new ArrayList<>();
        final List<SegmentEntry> localEntries = new ArrayList<>();
        final List<ExporterConfig> joined = new ArrayList<>();
        final List<Origin> origins = new ArrayList<>();
        for (int i = 0; i < views.size() && views.size() > 1; i++) {
            if (views.get(i).segment().role() == ExporterConfig.Role.BOTH) {
                local.add(views.get(i));
                localEntries.add(segments.get(i));
            } else {
                joined.add(views.get(i));
                origins.add(segments.get(i).origin());
            }
        }
        if (!local.isEmpty()) {
            // One matcher has the packets of all of them: they are one segment of the process, its first.
            joined.add(0, new LocalSegments(localEntries, problems).conclude(local));
            origins.add(0, localEntries.get(0).origin());
        }
        return views.size() == 1 ? views.get(0) : SeveralSegments.join(joined, origins, problems);
    }

    /**
     * Checks all settings and the relations between them; throws a {@link ConfigurationException} with every error. Returns the
     * configuration as each segment sees it: its own values, and those of the process. The section {@code segment} is a
     * list of one.
     */
    public List<ExporterConfig> concludeSegments() {
        return conclusions(checked());
    }

    private List<ExporterConfig> conclusions(final List<Map<ConfigKey<?>, Setting>> views) {
        return views.stream().map((view) -> new Conclusion(view, destinations).config()).toList();
    }

    /** {@return the checked settings as each segment sees them} */
    private List<Map<ConfigKey<?>, Setting>> checked() {
        if (isConcluded) {
            throw new IllegalStateException("a configuration is concluded once");
        }
        isConcluded = true;
        final List<Map<ConfigKey<?>, Setting>> views = segments.isEmpty() ? List.of(settings) :
            segments.stream().map((entry) -> entry.over(settings)).toList();
        SegmentEntry.compareClocksAtReceivers(views);
        SegmentEntry.chooseThreads(views);
        for (final Map<ConfigKey<?>, Setting> view : views) {
            new Relations(view, destinations, problems).check();
            new FileRelations(view, destinations, problems).check(inputs, outputs);
        }
        new SegmentRelations(settings, segments, problems).check(views);
        ConfigurationException.throwIfAny(problems);
        return views;
    }

    private void section(final String section, final ConfigNode.Mapping mapping) {
        for (final ConfigNode.Entry entry : mapping.entries()) {
            final String path = section.isEmpty() ? entry.name() : section + "." + entry.name();
            final ConfigKey<?> key = ConfigTable.key(path);
            final Origin earlier = key == null ? null : given.putIfAbsent(key, entry.origin());
            if (earlier != null) {
                problems.add(entry.origin(), path + ": is given twice, first in line " + earlier.line() + ": leave one out");
            } else if (key != null) {
                value(key, entry);
            } else if (path.equals(SEGMENTS)) {
                segments(entry);
            } else if (ConfigTable.isSection(path) || path.equals(EXPERT)) {
                subsection(path, entry.value());
            } else if (ConfigTable.replacement(path) != null) {
                problems.add(entry.origin(), path + ": is no key any longer: " + ConfigTable.replacement(path));
            } else {
                problems.add(entry.origin(), path + ": unknown key" + (problems.isFull() ? "" : wayOut(section, entry.name())));
            }
        }
    }

    /** A later list replaces an earlier one. */
    private void segments(final ConfigNode.Entry list) {
        segments = new ArrayList<>();
        if (list.value() instanceof ConfigNode.Mapping mapping && hasAuto(mapping)) {
            pairs(mapping);
            return;
        }
        if (!(list.value() instanceof ConfigNode.Sequence sequence) || sequence.items().isEmpty()) {
            problems.add(list.origin(), SEGMENTS + ": is a list: begin each segment with '- ' on the lines below it");
            return;
        }
        for (final ConfigNode item : sequence.items()) {
            if (item instanceof ConfigNode.Mapping mapping && hasAuto(mapping)) {
                pairs(mapping);
            } else if (item instanceof ConfigNode.Mapping mapping) {
                final ConfigLoader loader = new ConfigLoader(problems);
                loader.segment(mapping);
                segments.add(new SegmentEntry(item.origin(), loader.settings));
            } else {
                problems.add(item.origin(), SEGMENTS + ": an entry has keys of section segment, as role and id, and may have " +
                    "sections " + String.join(", ", SEGMENT_SECTIONS));
            }
        }
    }

    private static boolean hasAuto(final ConfigNode.Mapping mapping) {
        return mapping.entries().stream().anyMatch((entry) -> entry.name().equals(AUTO));
    }

    /** Reads the list of interfaces whose ordered pairs are the segments, and the keys that all of them have. */
    private void pairs(final ConfigNode.Mapping mapping) {
        final ConfigLoader loader = new ConfigLoader(problems);
        final List<ConfigNode.Entry> common = new ArrayList<>();
        final List<String> names = new ArrayList<>();
        Origin origin = mapping.origin();
        for (final ConfigNode.Entry entry : mapping.entries()) {
            if (!entry.name().equals(AUTO)) {
                common.add(entry);
                continue;
            }
            origin = entry.origin();
            if (entry.value() instanceof ConfigNode.Sequence sequence) {
                sequence.items().forEach((item) -> names.add(item instanceof ConfigNode.Scalar scalar ? scalar.text() : null));
            }
        }
        loader.segment(new ConfigNode.Mapping(mapping.origin(), common));
        final LocalSegments pairs = new LocalSegments(segments, problems);
        pairs.addAll(new SegmentEntry(origin, loader.settings), names);
    }

    /** Reads an entry of the list of segments. */
    private void segment(final ConfigNode.Mapping mapping) {
        final List<ConfigNode.Entry> own = new ArrayList<>();
        for (final ConfigNode.Entry entry : mapping.entries()) {
            if (SEGMENT_SECTIONS.contains(entry.name())) {
                subsection(entry.name(), entry.value());
            } else {
                own.add(entry);
            }
        }
        section(SEGMENT, new ConfigNode.Mapping(mapping.origin(), own));
    }

    private void subsection(final String path, final ConfigNode value) {
        if (value instanceof ConfigNode.Mapping mapping) {
            section(path.equals(EXPERT) ? "" : path, mapping);
        } else if (!(value instanceof ConfigNode.Scalar scalar && scalar.text() == null)) {
            problems.add(value.origin(), path + ": is a section: put its keys, indented, on the lines below it");
        }
    }

    private void value(final ConfigKey<?> key, final ConfigNode.Entry entry) {
        if (entry.value() instanceof ConfigNode.Scalar scalar && scalar.text() == null) {
            problems.add(entry.origin(), key.path() + ": has no value: write one (" + key.syntax() + ") or leave the key out");
        } else if (key == ConfigTable.DESTINATIONS) {
            destinations = new DestinationReader(problems).read(entry.value());
        } else if (entry.value() instanceof ConfigNode.Scalar scalar) {
            set(key, scalar.origin(), List.of(scalar.text()), false);
        } else if (entry.value() instanceof ConfigNode.Sequence sequence && key.type().isList()) {
            list(key, sequence);
        } else {
            problems.add(entry.value().origin(), key.path() + ": is one value: " + key.syntax());
        }
    }

    private void list(final ConfigKey<?> key, final ConfigNode.Sequence sequence) {
        final List<String> texts = new ArrayList<>();
        for (final ConfigNode item : sequence.items()) {
            if (item instanceof ConfigNode.Scalar scalar && scalar.text() != null) {
                texts.add(scalar.text());
            } else {
                problems.add(item.origin(), key.path() + ": an item of the list is no single value: " + key.syntax());
                return;
            }
        }
        set(key, sequence.origin(), texts, true);
    }

    private void set(final ConfigKey<?> key, final Origin origin, final List<String> texts, final boolean isList) {
        final String text = isList ? "[" + String.join(", ", texts) + "]" : texts.get(texts.size() - 1);
        if (key.isLeftToDefault(text)) {
            settings.put(key, Setting.defaultOf(key));
            return;
        }
        try {
            final Object value = isList ? key.type().parseAll(texts) : key.type().parse(text);
            final String listed = key.type().isList() && !isList ? "[" + text + "]" : text;
            settings.put(key, new Setting(value, listed, origin));
        } catch (final BadValueException ex) {
            problems.add(origin, key.path(), text, ex.getMessage());
        }
    }

    private static String wayOut(final String section, final String name) {
        final List<String> siblings = ConfigTable.namesIn(section);
        final String sibling = Names.nearest(name, siblings);
        if (sibling != null) {
            return "; did you mean " + (section.isEmpty() ? sibling : section + "." + sibling) + "?";
        }
        for (final ConfigKey<?> key : ConfigTable.keys()) {
            if (key.name().equals(name)) {
                return "; did you mean " + key.path() + "?";
            }
        }
        final String anywhere = Names.nearest(name, ConfigTable.keys().stream().map(ConfigKey::name).toList());
        if (anywhere != null) {
            return wayOut(section, anywhere);
        }
        return ": " + (section.isEmpty() ? "the file" : section) + " may have " + String.join(", ", siblings);
    }
}
