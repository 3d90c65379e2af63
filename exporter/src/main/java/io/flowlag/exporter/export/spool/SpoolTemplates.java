package io.flowlag.exporter.export.spool;

import io.flowlag.ipfix.template.Template;

/** Finds a session's templates by their fields. Used by the exporting thread. */
@FunctionalInterface
public interface SpoolTemplates {
    /**
     * The template of the session with these fields.
     *
     * @param elementIds        of the fields, in order.
     * @param enterpriseNumbers of the elements; 0 for IANA's.
     * @return the template, or null if the session cannot send such records.
     */
    Template template(int[] elementIds, int[] lengthsBytes, int[] enterpriseNumbers);
}
