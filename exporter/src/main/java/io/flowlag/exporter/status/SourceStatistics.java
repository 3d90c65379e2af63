package io.flowlag.exporter.status;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.JsonGenerator;

import java.io.IOException;

/**
 * Statistics of one source, a path or an interface. Captured packets include those that a filter in the process rejected; the
 * damage is why it ended early, or null. Immutable.
 */
public record SourceStatistics(
    String name, long captured, long filtered, long lostInKernel, @JsonInclude(JsonInclude.Include.NON_NULL) String damage) {
    void write(final JsonGenerator json) throws IOException {
        json.writeStartObject();
        json.writeStringField("name", name);
        json.writeNumberField("captured", captured);
        json.writeNumberField("filtered", filtered);
        json.writeNumberField("lost_in_kernel", lostInKernel);
        if (damage != null) {
            json.writeStringField("damage", damage);
        }
        json.writeEndObject();
    }
}
