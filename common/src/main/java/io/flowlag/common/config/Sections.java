package io.flowlag.common.config;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Takes a file of sections, lists and texts apart, and reports what is none of them. Used by one thread. */
public final class Sections {
    private static final String NONE = "none";

    private final Problems problems;

    /** With what gets every fault. */
    public Sections(final Problems problems) {
        this.problems = problems;
    }

    /**
     * The entries of a mapping by their names; none where nothing is written.
     *
     * @param path  of the mapping, empty for the file itself.
     * @param known names that it may have; others are faults.
     */
    public Map<String, ConfigNode.Entry> keys(final String path, final ConfigNode node, final String... known) {
        final Map<String, ConfigNode.Entry> keys = new LinkedHashMap<>();
        final String before = path.isEmpty() ? "" : path + ".";
        if (node instanceof ConfigNode.Mapping mapping) {
            for (final ConfigNode.Entry entry : mapping.entries()) {
                if (List.of(known).contains(entry.name())) {
                    keys.put(entry.name(), entry);
                } else {
                    final String meant = meant(entry.name(), List.of(known));
                    problems.add(entry.origin(), before + entry.name() + ": unknown key" +
                        (meant.isEmpty() ? ": there are " + String.join(", ", known) : meant));
                }
            }
        } else if (node != null && !(node instanceof ConfigNode.Scalar scalar && scalar.text() == null)) {
            problems.add(node.origin(), path + ": has keys: " + String.join(", ", known) + "; write {} for none");
        }
        return keys;
    }

    /** {@return the same of a section; none without one} */
    public Map<String, ConfigNode.Entry> keys(final String path, final ConfigNode.Entry section, final String... known) {
        return keys(path, section == null ? null : section.value(), known);
    }

    /** {@return the likeliest of the names as a question; empty where most of the file is wrong, since it costs more} */
    public String meant(final String name, final Collection<String> known) {
        return problems.isFull() ? "" : Names.didYouMean(name, known);
    }

    /** {@return what a section of named values has; null is an empty one} */
    public List<ConfigNode.Entry> entries(final ConfigNode.Entry section) {
        if (section == null) {
            return List.of();
        }
        if (section.value() instanceof ConfigNode.Mapping mapping) {
            return mapping.entries();
        }
        problems.add(section.origin(), section.name() + ": is a section: put names, indented, on the lines below it");
        return List.of();
    }

    /** {@return the texts of a list; null is an empty one} */
    public List<ConfigNode.Scalar> items(final String path, final ConfigNode.Entry list) {
        final List<ConfigNode.Scalar> items = new ArrayList<>();
        if (list == null) {
            return items;
        }
        final String name = path.isEmpty() ? list.name() : path + "." + list.name();
        if (!(list.value() instanceof ConfigNode.Sequence sequence)) {
            problems.add(list.origin(), name + ": is a list: write it in brackets");
            return items;
        }
        for (final ConfigNode item : sequence.items()) {
            if (item instanceof ConfigNode.Scalar scalar && scalar.text() != null) {
                items.add(scalar);
            } else {
                problems.add(item.origin(), name + ": an item is one text: write it without braces and brackets");
            }
        }
        return items;
    }

    /** {@return the text of an entry; null has the other one} */
    public String text(final String path, final ConfigNode.Entry entry, final String otherwise) {
        if (entry == null) {
            return otherwise;
        }
        if (entry.value() instanceof ConfigNode.Scalar scalar && scalar.text() != null) {
            return scalar.text();
        }
        problems.add(entry.origin(), path + "." + entry.name() + ": is one value");
        return otherwise;
    }

    /** {@return the file that an entry names, beside another one; null for none, or without an entry} */
    public Path file(final String path, final ConfigNode.Entry entry, final Path beside) {
        final String text = text(path, entry, NONE);
        return NONE.equals(text) ? null : beside.resolveSibling(text);
    }

    /** {@return the value of an entry; null, and one that is a fault, has the other one} */
    public <T> T value(final String path, final ConfigNode.Entry entry, final ValueType<T> type, final T otherwise) {
        final String text = text(path, entry, null);
        if (text == null) {
            return otherwise;
        }
        try {
            return type.parse(text);
        } catch (final BadValueException ex) {
            problems.add(entry.origin(), path + "." + entry.name(), text, ex.getMessage());
            return otherwise;
        }
    }
}
