package io.flowlag.exporter.runtime.collect;

import io.flowlag.ipfix.collect.CollectedRecord;
import io.flowlag.ipfix.element.InformationElement;
import io.flowlag.ipfix.template.Template;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/**
 * The field names of one template's records, each unique: a second field of the same name is {@code name#2}. An unknown element
 * is {@code pen:id}. Immutable; {@link Cache} keeps those in use.
 */
final class RecordNames {
    private static final String REVERSE = "reverse";
    private static final String REVERSE_COUNT = "reversePacketDeltaCount";
    private static final String SOURCE = "source";
    private static final String DESTINATION = "destination";
    /** Without a direction. */
    private static final Set<String> OF_BOTH = Set.of("protocolIdentifier", "flowEndReason");

    private final Template template;
    private final InformationElement[] elements;
    private final String[] names;
    private final Map<String, Integer> indexes = new HashMap<>();
    private final RecordNames reverse;

    private RecordNames(final RecordNames forward) {
        template = forward.template;
        elements = forward.elements;
        names = forward.names;
        forward.indexes.forEach((name, index) -> {
            final String own = name.startsWith(REVERSE) ?
                Character.toLowerCase(name.charAt(REVERSE.length())) + name.substring(REVERSE.length() + 1) :
                name.startsWith(SOURCE) ? DESTINATION + name.substring(SOURCE.length()) :
                name.startsWith(DESTINATION) ? SOURCE + name.substring(DESTINATION.length()) :
                OF_BOTH.contains(name) ? name : null;
            if (own != null) {
                indexes.put(own, index);
            }
        });
        reverse = null;
    }

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
        reverse = indexes.containsKey(REVERSE_COUNT) ? new RecordNames(this) : null;
    }

    /** {@return what fields are called in the view of a biflow's other direction; null for another record} */
    RecordNames reverse() {
        return reverse;
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
