package io.flowlag.exporter.export;

import io.flowlag.ipfix.element.ElementRegistry;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.List;

/**
 * The registry of the process: IANA's elements and flowlag's own, which are a table too
 * ({@code flowlag-information-elements.csv}; the records page describes them). Has no state, any thread; each registry is a new
 * one, its owner's.
 */
public final class FlowElements {
    /** The number that RFC 5612 sets aside for documentation, the default until a real one is configured. */
    public static final int DOCUMENTATION_ENTERPRISE_NUMBER = 32473;

    private static final String RESOURCE = "flowlag-information-elements.csv";

    private FlowElements() {
    }

    /** {@return the names of all elements that a flow record can have, in the order in which templates list them} */
    public static List<String> recordNames() {
        return Arrays.stream(RecordField.values()).map(RecordField::elementName).toList();
    }

    /**
     * A new registry with IANA's and flowlag's elements.
     *
     * @param enterpriseNumber under which flowlag's elements are sent.
     */
    public static ElementRegistry registry(final int enterpriseNumber) {
        final ElementRegistry registry = ElementRegistry.iana();
        try (InputStream in = FlowElements.class.getResourceAsStream(RESOURCE)) {
            if (in == null) {
                throw new IllegalStateException(RESOURCE + " is missing from the jar");
            }
            registry.addCsv(enterpriseNumber, in);
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
        return registry;
    }
}
