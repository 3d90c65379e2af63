package io.flowlag.exporter.runtime.collect;

import io.flowlag.ipfix.collect.CollectedRecord;
import io.flowlag.ipfix.element.InformationElement;
import io.flowlag.ipfix.template.Template;

import java.util.HashMap;
import java.util.Map;

/**
 * The field names of one template's records, each unique: a second field of the same name is {@code name#2}. An unknown element
 * is {@code pen:id}. Immutable; {@link Cache} keeps those in use.
 */
final class RecordNames {
    private final Template template;
    private final InformationElement[] elements;
    private final String[] names;
    private final Map<String, Integer> indexes = new HashMap<>();

    private RecordNames(final CollectedRecord record) {
        template = record.template();
        elements = new InformationElement[record.fieldCount()];
        names = new String[elements.length];
        final Map<String, Integer> counts = new HashMap<>();
        for (int i = 0; i < names.length; i++) {
            elements[i] = record.element(i);
            final String name = elements[i] != null ? elements[i].name() : template.field(i).element().name();
            final int n = counts.merge(name, 1, Integer::sum);
            names[i] = n == 1 ? name : name + '#' + n;
            indexes.put(names[i], i);
        }
    }

    String[] names() {
        return names;
    }

    int indexOf(final String name) {
        return indexes.getOrDefault(name, -1);
    }

    private boolean isFor(final CollectedRecord record) {
        if (template != record.template()) {
            return false;
        }
        for (int i = 0; i < elements.length; i++) {
            if (elements[i] != record.element(i)) {
                return false;
            }
        }
        return true;
    }

    /** Names of recently used templates: a fixed number of slots, each overwritten by a new template. */
    static final class Cache {
        private static final int SLOTS = 256;
        private final RecordNames[] slots = new RecordNames[SLOTS];

        RecordNames of(final CollectedRecord record) {
            final int slot = System.identityHashCode(record.template()) & SLOTS - 1;
            if (slots[slot] == null || !slots[slot].isFor(record)) {
                slots[slot] = new RecordNames(record);
            }
            return slots[slot];
        }
    }
}
