package io.flowlag.ipfix.collect;

import io.flowlag.common.counter.CounterSet;
import io.flowlag.ipfix.element.DataType;
import io.flowlag.ipfix.element.ElementRegistry;
import io.flowlag.ipfix.element.InformationElement;
import io.flowlag.ipfix.element.Semantics;
import io.flowlag.ipfix.element.Units;
import org.agrona.collections.Long2ObjectHashMap;

/**
 * The elements known to one Transport Session: IANA's from the registry, a private enterprise's from the session's own RFC 5610
 * type records or else the registry, and the reverse ones of RFC 5103 derived from those of the registry. Not thread-safe;
 * allocates when an element is learned or derived.
 */
final class ElementView {
    static final int MAX_NAME_LENGTH = 128;

    private final ElementRegistry registry;
    private final CollectorLimits limits;
    private final CounterSet<CollectorCounter> counters;
    private final Long2ObjectHashMap<InformationElement> learned = new Long2ObjectHashMap<>();

    ElementView(final ElementRegistry registry, final CollectorLimits limits, final CounterSet<CollectorCounter> counters) {
        this.registry = registry;
        this.limits = limits;
        this.counters = counters;
    }

    /** The element, or null if it is unknown. */
    InformationElement find(final int enterpriseNumber, final int elementId) {
        final InformationElement registered = registry.find(enterpriseNumber, elementId);
        if (registered != null && enterpriseNumber == 0) {
            return registered;
        }
        final InformationElement own = learned.get(InformationElement.key(enterpriseNumber, elementId));
        if (own != null) {
            return own;
        }
        return registered == null && enterpriseNumber != 0 ? reverse(enterpriseNumber, elementId) : registered;
    }

    /** Placeholder in a template for an unknown element: octets named {@code pen:id}. */
    static InformationElement unknown(final int enterpriseNumber, final int elementId) {
        return new InformationElement(
            enterpriseNumber,
            elementId,
            Integer.toUnsignedString(enterpriseNumber) + ':' + elementId,
            DataType.OCTET_ARRAY,
            Semantics.DEFAULT,
            Units.NONE,
            "");
    }

    /** Adds the element of a type record. Returns whether it is new or changed. */
    boolean learn(final InformationElement element) {
        final long key = InformationElement.key(element.enterpriseNumber(), element.elementId());
        if (element.enterpriseNumber() == 0 && registry.find(0, element.elementId()) != null) {
            return false;
        }
        final InformationElement known = learned.get(key);
        if (known != null) {
            if (!isSameType(known, element)) {
                counters.increment(CollectorCounter.ELEMENTS_REFUSED);
            }
            return false;
        }
        if (!isUsableName(element) || learned.size() >= limits.maxElementsPerSession()) {
            counters.increment(CollectorCounter.ELEMENTS_REFUSED);
            return false;
        }
        learned.put(key, element);
        counters.increment(CollectorCounter.ELEMENTS_LEARNED);
        return true;
    }

    /** How many elements are learned or derived. */
    int learnedCount() {
        return learned.size();
    }

    void forget() {
        learned.clear();
    }

    private InformationElement reverse(final int enterpriseNumber, final int elementId) {
        final boolean isOfIana = enterpriseNumber == InformationElement.REVERSE_ENTERPRISE_NUMBER;
        final InformationElement forward = isOfIana ? registry.find(0, elementId) :
            (elementId & InformationElement.REVERSE_BIT) == 0 ? null :
            registry.find(enterpriseNumber, elementId & ~InformationElement.REVERSE_BIT);
        final InformationElement reverse = forward == null ? null : forward.reversed();
        if (reverse != null && learned.size() < limits.maxElementsPerSession()) {
            learned.put(InformationElement.key(enterpriseNumber, elementId), reverse);
        }
        return reverse;
    }

    /**
     * Whether a name is usable: IANA's names are reserved, enterprises' are not, because an exporter may send known elements
     * under its own number.
     */
    private boolean isUsableName(final InformationElement element) {
        final InformationElement sameName = registry.find(element.name());
        final boolean isTaken = sameName != null &&
            (sameName.enterpriseNumber() == 0 || sameName.enterpriseNumber() == element.enterpriseNumber()) &&
            (sameName.enterpriseNumber() != element.enterpriseNumber() || sameName.elementId() != element.elementId());
        return !isTaken && element.name().length() <= MAX_NAME_LENGTH && isPlain(element.name());
    }

    private static boolean isPlain(final String name) {
        for (int i = 0; i < name.length(); i++) {
            final char c = name.charAt(i);
            final boolean isLetter = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z';
            final boolean isOther = c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.';
            if (!isLetter && !(isOther && i > 0)) {
                return false;
            }
        }
        return !name.isEmpty();
    }

    private static boolean isSameType(final InformationElement one, final InformationElement other) {
        return one.type() == other.type() && one.name().equals(other.name());
    }
}
