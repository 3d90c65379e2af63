package io.flowlag.ipfix.element;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

/**
 * The registry of the process: IANA's elements and flowlag's own, which are in the table {@code flowlag-information-elements.csv}
 * (see the records page). Stateless, any thread; each registry is a new one that belongs to its owner.
 */
public final class FlowElements {
    /** Enterprise number reserved for documentation by RFC 5612; the default. */
    public static final int DOCUMENTATION_ENTERPRISE_NUMBER = 32473;

    private static final String RESOURCE = "flowlag-information-elements.csv";

    private FlowElements() {
    }

    /** A new registry with IANA's elements, and flowlag's under an enterprise number. */
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
