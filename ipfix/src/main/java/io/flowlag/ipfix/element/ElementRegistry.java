package io.flowlag.ipfix.element;

import org.agrona.collections.Long2ObjectHashMap;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Information Elements by name and by number. IANA's table comes from the checked-in copy
 * {@code iana-information-elements.csv} (columns: id, name, type, semantics, units, range, status, reference, source); a test
 * compares it with the registry snapshot. Enterprise elements are added by their owner, or learned from RFC 5610 type records.
 * <p>
 * Not thread-safe: one registry belongs to one Exporting or Collecting Process. Allocates at construction and when an element
 * is added.
 */
public final class ElementRegistry {
    private static final String IANA_RESOURCE = "iana-information-elements.csv";

    private final Long2ObjectHashMap<InformationElement> byKey = new Long2ObjectHashMap<>();
    private final Map<String, InformationElement> byName = new HashMap<>();

    /** An empty registry; most callers want {@link #iana()}. */
    public ElementRegistry() {
    }

    /** A new registry with every element of IANA's table. Returns the registry, open to further elements. */
    public static ElementRegistry iana() {
        final ElementRegistry registry = new ElementRegistry();
        try (InputStream in = ElementRegistry.class.getResourceAsStream(IANA_RESOURCE)) {
            if (in == null) {
                throw new IllegalStateException(IANA_RESOURCE + " is missing from the jar");
            }
            registry.addCsv(0, in);
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
        return registry;
    }

    /**
     * Adds the elements of a table with the header {@code id,name,type,semantics,units,...}; a column {@code description} is
     * used where there is one. Quoted cells may hold commas.
     *
     * @param enterpriseNumber 0 for IANA's own table.
     * @param csv              UTF-8 text.
     * @throws IOException              if it cannot be read.
     * @throws IllegalArgumentException if a row is malformed; the message names the row.
     */
    public void addCsv(final int enterpriseNumber, final InputStream csv) throws IOException {
        final BufferedReader reader = new BufferedReader(new InputStreamReader(csv, StandardCharsets.UTF_8));
        final List<String> header = cells(reader.readLine());
        final int idColumn = header.indexOf("id");
        final int nameColumn = header.indexOf("name");
        final int typeColumn = header.indexOf("type");
        final int semanticsColumn = header.indexOf("semantics");
        final int unitsColumn = header.indexOf("units");
        final int descriptionColumn = header.indexOf("description");
        String line;
        while ((line = reader.readLine()) != null) {
            if (line.isBlank()) {
                continue;
            }
            final List<String> row = cells(line);
            try {
                add(new InformationElement(
                    enterpriseNumber,
                    Integer.parseInt(row.get(idColumn)),
                    row.get(nameColumn),
                    DataType.ofRegistryName(row.get(typeColumn)),
                    Semantics.ofRegistryName(row.get(semanticsColumn)),
                    Units.ofRegistryName(row.get(unitsColumn)),
                    descriptionColumn < 0 ? "" : row.get(descriptionColumn)));
            } catch (final IllegalArgumentException | IndexOutOfBoundsException ex) {
                throw new IllegalArgumentException("row of the element table is malformed: " + line, ex);
            }
        }
    }

    /**
     * Adds one element.
     *
     * @throws IllegalArgumentException if its number or its name is taken by another element.
     */
    public void add(final InformationElement element) {
        final InformationElement sameName = byName.get(element.name());
        final long key = InformationElement.key(element.enterpriseNumber(), element.elementId());
        final InformationElement sameKey = byKey.get(key);
        if (element.equals(sameKey)) {
            return;
        }
        if (sameName != null || sameKey != null) {
            throw new IllegalArgumentException(
                "element " + element.name() + " clashes with " + (sameName != null ? sameName : sameKey));
        }
        byKey.put(key, element);
        byName.put(element.name(), element);
    }

    /** Looks an element up by name. Returns the element, or null. */
    public InformationElement find(final String name) {
        return byName.get(name);
    }

    /**
     * Looks an element up by name.
     *
     * @throws IllegalArgumentException if there is none.
     */
    public InformationElement element(final String name) {
        final InformationElement element = byName.get(name);
        if (element == null) {
            throw new IllegalArgumentException("no Information Element is named " + name);
        }
        return element;
    }

    /**
     * Looks an element up by number.
     *
     * @param enterpriseNumber 0 for IANA.
     * @param elementId        without the enterprise bit.
     * @return the element, or null.
     */
    public InformationElement find(final int enterpriseNumber, final int elementId) {
        return byKey.get(InformationElement.key(enterpriseNumber, elementId));
    }

    /** {@return every element, in no order} */
    public Collection<InformationElement> elements() {
        return byName.values();
    }

    /**
     * Splits a line. Lines without quotes, which are most, are split without looking at each character, because this runs at
     * every start.
     */
    private static List<String> cells(final String line) {
        final List<String> cells = new ArrayList<>();
        if (line.indexOf('"') < 0) {
            int begin = 0;
            for (int comma = line.indexOf(','); comma >= 0; comma = line.indexOf(',', begin)) {
                cells.add(line.substring(begin, comma));
                begin = comma + 1;
            }
            cells.add(line.substring(begin));
            return cells;
        }
        final StringBuilder cell = new StringBuilder();
        boolean quoted = false;
        for (int i = 0; i < line.length(); i++) {
            final char c = line.charAt(i);
            if (c == '"') {
                quoted = !quoted;
            } else if (c == ',' && !quoted) {
                cells.add(cell.toString());
                cell.setLength(0);
            } else {
                cell.append(c);
            }
        }
        cells.add(cell.toString());
        return cells;
    }
}
