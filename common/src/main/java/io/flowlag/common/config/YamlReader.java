package io.flowlag.common.config;

import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import com.fasterxml.jackson.dataformat.yaml.YAMLParser;
import org.yaml.snakeyaml.error.MarkedYAMLException;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads YAML into {@link ConfigNode}s with Jackson's streaming parser, so that every node has a line and a column. Anchors,
 * aliases and further documents are refused. Used by one thread, once.
 */
public final class YamlReader {
    private static final YAMLFactory FACTORY = new YAMLFactory();

    private final String fileName;
    private final String example;
    private final Problems problems;

    /** Of a file; a line such as the example is what it may have. */
    public YamlReader(final String fileName, final String example, final Problems problems) {
        this.fileName = fileName;
        this.example = example;
        this.problems = problems;
    }

    /** The file's mapping; empty if the file is empty or invalid, which is reported then. */
    public ConfigNode.Mapping read(final String yaml) throws IOException {
        final Origin start = Origin.file(fileName, 1, 1);
        try (YAMLParser parser = FACTORY.createParser(yaml)) {
            final JsonToken first = parser.nextToken();
            final ConfigNode root = first == null ? new ConfigNode.Scalar(start, null) : node(parser);
            if (first != null && parser.nextToken() != null) {
                problems.add(here(parser), "a second document begins here: a configuration file has one");
            }
            return mapping(root, start);
        } catch (final JsonProcessingException ex) {
            noYaml(ex);
            return new ConfigNode.Mapping(start, List.of());
        }
    }

    private ConfigNode.Mapping mapping(final ConfigNode root, final Origin start) {
        if (root instanceof ConfigNode.Mapping mapping) {
            return mapping;
        }
        if (!(root instanceof ConfigNode.Scalar scalar && scalar.text() == null)) {
            problems.add(root.origin(), "a configuration is made of lines such as '" + example + "'");
        }
        return new ConfigNode.Mapping(start, List.of());
    }

    private ConfigNode node(final YAMLParser parser) throws IOException {
        final Origin origin = here(parser);
        if (parser.isCurrentAlias() || parser.getObjectId() != null) {
            problems.add(origin, "anchors and aliases are not understood: write the value out");
        }
        switch (parser.currentToken()) {
            case START_OBJECT:
                return new ConfigNode.Mapping(origin, entries(parser));
            case START_ARRAY:
                return new ConfigNode.Sequence(origin, items(parser));
            case VALUE_NULL:
                return new ConfigNode.Scalar(origin, null);
            default:
                return new ConfigNode.Scalar(origin, parser.getText().strip());
        }
    }

    private List<ConfigNode> items(final YAMLParser parser) throws IOException {
        final List<ConfigNode> items = new ArrayList<>();
        while (parser.nextToken() != JsonToken.END_ARRAY) {
            items.add(node(parser));
        }
        return items;
    }

    private List<ConfigNode.Entry> entries(final YAMLParser parser) throws IOException {
        final List<ConfigNode.Entry> entries = new ArrayList<>();
        final Map<String, Origin> seen = new HashMap<>();
        while (parser.nextToken() != JsonToken.END_OBJECT) {
            final Origin origin = here(parser);
            final String name = parser.currentName();
            parser.nextToken();
            final ConfigNode value = node(parser);
            final Origin earlier = seen.putIfAbsent(name, origin);
            if (earlier == null) {
                entries.add(new ConfigNode.Entry(name, origin, value));
            } else {
                problems.add(origin, name + ": is given twice, first in line " + earlier.line() + ": leave one out");
            }
        }
        return entries;
    }

    private Origin here(final YAMLParser parser) {
        return origin(parser.currentTokenLocation());
    }

    private Origin origin(final JsonLocation location) {
        return location == null ? Origin.file(fileName, 1, 1) :
            Origin.file(fileName, Math.max(1, location.getLineNr()), Math.max(1, location.getColumnNr()));
    }

    /** Position and cause of a fault, in SnakeYAML's words if available; Jackson's describe the previous token. */
    private void noYaml(final JsonProcessingException e) {
        if (e.getCause() instanceof MarkedYAMLException marked && marked.getProblemMark() != null) {
            final Origin where =
                Origin.file(fileName, marked.getProblemMark().getLine() + 1, marked.getProblemMark().getColumn() + 1);
            problems.add(where, "is no YAML: " + marked.getProblem());
        } else {
            problems.add(
                origin(e.getLocation()), "is no YAML: " + e.getOriginalMessage().lines().findFirst().orElse("no reason given"));
        }
    }
}
