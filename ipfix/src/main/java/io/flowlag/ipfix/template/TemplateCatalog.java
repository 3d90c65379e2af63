package io.flowlag.ipfix.template;

import io.flowlag.ipfix.element.ElementRegistry;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The templates of one Exporting Process. A template is requested by element names and made on first use. Equal fields and scope
 * give the same template and Template ID for the catalog's life (RFC 7011 section 8 requires unique IDs; stable ones need no
 * withdrawals). Options Templates share the space of IDs (section 3.4.1).
 * <p> Bounded: a full catalog returns null and counts, so that a caller can fall back to a poorer template. Data and options have
 * separate bounds, so that many kinds of flows do not prevent statistics.
 * <p>
 * Not thread-safe. Allocates at construction and when asked for a template; callers keep what they got.
 */
public final class TemplateCatalog {
    /** Default limit of templates of each kind. */
    public static final int DEFAULT_MAX_TEMPLATES = 64;
    /** Fields in one template at most: Wireshark refuses templates with more. */
    public static final int MAX_FIELDS = 60;

    private static final int MAX_TEMPLATES_OF_A_KIND = (Template.MAX_TEMPLATE_ID - Template.MIN_TEMPLATE_ID + 1) / 2;

    private record Content(int scopeFieldCount, List<FieldSpecifier> fields) {
        @Override
        public boolean equals(final Object other) {
            return other instanceof Content that && scopeFieldCount == that.scopeFieldCount && fields.equals(that.fields);
        }

        @Override
        public int hashCode() {
            return 31 * fields.hashCode() + scopeFieldCount;
        }
    }

    private final ElementRegistry registry;
    private final int maxTemplates;
    private final Map<Content, Template> byContent = new HashMap<>();
    private final List<Template> templates = new ArrayList<>();
    private long refusedCount;

    /**
     * An empty catalog for {@link #DEFAULT_MAX_TEMPLATES} templates of data and as many of options.
     *
     * @param registry knows every element that will be named.
     */
    public TemplateCatalog(final ElementRegistry registry) {
        this(registry, DEFAULT_MAX_TEMPLATES);
    }

    /**
     * An empty catalog.
     *
     * @param registry     knows every element that will be named.
     * @param maxTemplates of data alive at once, and as many of options.
     */
    public TemplateCatalog(final ElementRegistry registry, final int maxTemplates) {
        if (maxTemplates < 1 || maxTemplates > MAX_TEMPLATES_OF_A_KIND) {
            throw new IllegalArgumentException(
                "maxTemplates=" + maxTemplates + " is outside 1 to " + MAX_TEMPLATES_OF_A_KIND);
        }
        this.registry = registry;
        this.maxTemplates = maxTemplates;
    }

    /**
     * The template of Data Records with these elements at full length.
     *
     * @param elementNames as in the registry, in order.
     * @return the template, or null if the catalog is full.
     * @throws IllegalArgumentException if a name is unknown or the list is empty or too long.
     */
    public Template template(final String... elementNames) {
        return template(0, fields(elementNames));
    }

    /**
     * The Options Template with these elements at full length.
     *
     * @param scopeFieldCount how many of the first elements are the scope, 1 or more (RFC 7011 section 3.4.2.2).
     * @param elementNames    as in the registry, in order, scope first.
     * @return the template, or null if the catalog is full.
     * @throws IllegalArgumentException if a name is unknown, the list is empty or too long, or there is no scope.
     */
    public Template optionsTemplate(final int scopeFieldCount, final String... elementNames) {
        if (scopeFieldCount < 1) {
            throw new IllegalArgumentException("scopeFieldCount=" + scopeFieldCount + ": an options template needs a scope");
        }
        return template(scopeFieldCount, fields(elementNames));
    }

    /**
     * The template with these fields.
     *
     * @param scopeFieldCount 0 for a template of Data Records.
     * @param fields          in order, scope first; see {@link #field(String, int)}.
     * @return the template, or null if the catalog is full.
     * @throws IllegalArgumentException if a field has a length that its type forbids, there are too many fields, or records
     *                                  would be empty.
     */
    public Template template(final int scopeFieldCount, final List<FieldSpecifier> fields) {
        return template(scopeFieldCount, fields, 0);
    }

    /**
     * The template with these fields, if that leaves room for others.
     *
     * @param scopeFieldCount 0 for a template of Data Records.
     * @param fields          in order, scope first; see {@link #field(String, int)}.
     * @param keptFree        templates of the kind for which a new one has to leave room.
     * @return the template, or null if there is no room for a new one.
     * @throws IllegalArgumentException as {@link #template(int, List)}.
     */
    public Template template(final int scopeFieldCount, final List<FieldSpecifier> fields, final int keptFree) {
        final Content content = new Content(scopeFieldCount, List.copyOf(fields));
        final Template known = byContent.get(content);
        if (known != null) {
            return known;
        }
        check(content);
        if (count(scopeFieldCount > 0) + keptFree >= maxTemplates) {
            refusedCount++;
            return null;
        }
        final Template template = new Template(Template.MIN_TEMPLATE_ID + templates.size(), scopeFieldCount, fields);
        if (template.minLengthBytes() == 0) {
            throw new IllegalArgumentException("records of " + template + " would be empty");
        }
        byContent.put(content, template);
        templates.add(template);
        return template;
    }

    /**
     * A field with the full length of its element's type.
     *
     * @throws IllegalArgumentException if no element has the name.
     */
    public FieldSpecifier field(final String elementName) {
        return FieldSpecifier.of(registry.element(elementName));
    }

    /**
     * A field with a length of its own (RFC 7011 section 6.2).
     *
     * @param lengthBytes octets of each value.
     * @throws IllegalArgumentException if no element has the name, or its type forbids the length.
     */
    public FieldSpecifier field(final String elementName, final int lengthBytes) {
        final FieldSpecifier field = new FieldSpecifier(registry.element(elementName), lengthBytes);
        checkLength(field);
        return field;
    }

    /** {@return every template alive, in the order of their ids; unmodifiable} */
    public List<Template> templates() {
        return Collections.unmodifiableList(templates);
    }

    /** {@return how often a new template was asked for and refused because the catalog was full} */
    public long refusedCount() {
        return refusedCount;
    }

    private long count(final boolean isOptions) {
        return templates.stream().filter((template) -> template.isOptions() == isOptions).count();
    }

    private List<FieldSpecifier> fields(final String[] elementNames) {
        final List<FieldSpecifier> fields = new ArrayList<>(elementNames.length);
        for (final String elementName : elementNames) {
            fields.add(field(elementName));
        }
        return fields;
    }

    private static void check(final Content content) {
        if (content.fields.size() > MAX_FIELDS) {
            throw new IllegalArgumentException("fieldCount=" + content.fields.size() + " is more than " + MAX_FIELDS);
        }
        for (final FieldSpecifier field : content.fields) {
            checkLength(field);
        }
    }

    private static void checkLength(final FieldSpecifier field) {
        if (!field.isLengthAllowed()) {
            throw new IllegalArgumentException("lengthBytes=" + field.lengthBytes() + " is not allowed for " +
                field.element().name() + " of type " + field.element().type().registryName());
        }
    }
}
