package io.flowlag.station.view;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import io.flowlag.station.schema.Alert;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

import static io.flowlag.station.view.Samples.S;
import static io.flowlag.station.view.Samples.START_NS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Holds {@code docs/station/openapi.yaml} to what the view answers: paths, parameters, every field both ways, and types. */
class OpenApiTest {
    private static final Path FILE = Path.of("../docs/station/openapi.yaml");

    @TempDir
    private Path directory;
    private final JsonNode api = read();
    /** Names of schemas and their fields that an answer had. */
    private final Set<String> seen = new HashSet<>();

    private static JsonNode read() {
        try {
            return new ObjectMapper(new YAMLFactory()).readTree(FILE.toFile());
        } catch (final IOException ex) {
            throw new IllegalStateException(ex);
        }
    }

    @Test
    void shouldDescribeEveryAnswer() throws Exception {
        try (ViewFixture fixture = new ViewFixture(directory.resolve("history.db"), () -> START_NS + 60 * S)) {
            fixture.view().onResult(Samples.window("zrh-gva", START_NS, 10).build());
            fixture.view().onResult(Samples.window("elsewhere", START_NS, 10).setIsMapped(false).build());
            fixture.view().onResult(Samples.path(1, START_NS, 10).build());
            fixture.view().onResult(Samples.alert("over", START_NS).setEndsNs(START_NS + S).build());
            fixture.view().onResult(Samples.alert("burns", START_NS).setKind(Alert.Kind.BUDGET_BURNS).build());
            fixture.view().onResult(Samples.verdict(START_NS, 10, START_NS).setClock("zrh").build());
            fixture.view().awaitWritten();
            final Set<String> paths = new TreeSet<>();
            api.get("paths").fieldNames().forEachRemaining(paths::add);
            assertEquals(new TreeSet<>(ViewApi.PATHS.stream().map("/api/"::concat).toList()), paths);
            for (final String path : paths) {
                final JsonNode schema = api.at("/paths/" + path.replace("/", "~1") + "/get/responses/200/content")
                    .get("application/json").get("schema");
                check(path, schema, fixture.json(path + ("/api/history".equals(path) ?
                    "?segment=zrh-gva&class=0&network=backbone&from=" + Instant.ofEpochSecond(START_NS / S) : "")));
            }
            final HttpResponse<String> fault = fixture.get("/api/history");
            check("fault", api.at("/components/responses/Problem/content").get("application/problem+json").get("schema"),
                new ObjectMapper().readTree(fault.body()));
        }
        final Set<String> unseen = new TreeSet<>();
        api.at("/components/schemas").properties().forEach((schema) ->
            fields(schema.getValue()).keySet().forEach((field) -> unseen.add(schema.getKey() + "." + field)));
        unseen.removeAll(seen);
        unseen.removeIf((each) -> each.endsWith(".history_fault")); // ViewTest has it
        assertEquals(Set.of(), unseen, "fields that no answer has");
    }

    @Test
    void shouldTakeTheParametersThatItDescribes() throws Exception {
        try (ViewFixture fixture = new ViewFixture(directory.resolve("history.db"), () -> START_NS)) {
            for (final String path : ViewApi.PATHS) {
                final Set<String> names = new HashSet<>();
                for (final JsonNode parameter : api.at("/paths/~1api~1" + path + "/get/parameters")) {
                    names.add(parameter.get("name").asText());
                }
                for (final String name : names) {
                    assertFalse(fixture.get("/api/" + path + "?" + name + "=x").body().contains("is no parameter"), name);
                }
                final String answer = fixture.get("/api/" + path + "?unknown=x").body();
                assertTrue(answer.contains(names.isEmpty() ? "there is none" : String.join(", ", new TreeSet<>(names))), answer);
            }
        }
    }

    private void check(final String where, final JsonNode schema, final JsonNode value) {
        final JsonNode resolved = resolve(schema);
        final String type = resolved.path("type").asText(resolved.has("allOf") ? "object" : "");
        switch (type) {
            case "object" -> checkObject(where, schema, value);
            case "array" -> {
                assertTrue(value.isArray(), where);
                assertFalse(value.isEmpty(), where + " is empty in this test");
                value.forEach((each) -> check(where + "[]", resolved.get("items"), each));
            }
            case "integer" -> assertTrue(value.isIntegralNumber(), where);
            case "number" -> assertTrue(value.isNumber(), where);
            case "boolean" -> assertTrue(value.isBoolean(), where);
            case "string" -> {
                assertTrue(value.isTextual(), where);
                assertTrue(!resolved.has("enum") || resolved.get("enum").toString().contains(value.toString()), where + value);
            }
            default -> throw new AssertionError(where + ": the schema has no type");
        }
    }

    private void checkObject(final String where, final JsonNode schema, final JsonNode value) {
        assertTrue(value.isObject(), where);
        final JsonNode resolved = resolve(schema);
        final Map<String, JsonNode> fields = fields(resolved);
        value.properties().forEach((field) -> {
            final JsonNode ofField = fields.getOrDefault(field.getKey(), resolved.get("additionalProperties"));
            assertNotNull(ofField, where + "." + field.getKey() + " is not described");
            check(where + "." + field.getKey(), ofField, field.getValue());
            markSeen(schema, field.getKey());
        });
        required(resolved).forEach((name) -> assertTrue(value.has(name), where + " lacks " + name));
    }

    private void markSeen(final JsonNode schema, final String field) {
        if (schema.has("$ref")) {
            seen.add(schema.get("$ref").asText().replaceFirst(".*/", "") + "." + field);
        }
        resolve(schema).path("allOf").forEach((part) -> markSeen(part, field));
    }

    private JsonNode resolve(final JsonNode schema) {
        return schema.has("$ref") ? api.at(schema.get("$ref").asText().substring(1)) : schema;
    }

    private Map<String, JsonNode> fields(final JsonNode schema) {
        final Map<String, JsonNode> fields = new TreeMap<>();
        schema.path("properties").properties().forEach((field) -> fields.put(field.getKey(), field.getValue()));
        schema.path("allOf").forEach((part) -> fields.putAll(fields(resolve(part))));
        return fields;
    }

    private Set<String> required(final JsonNode schema) {
        final Set<String> names = new TreeSet<>();
        schema.path("required").forEach((name) -> names.add(name.asText()));
        schema.path("allOf").forEach((part) -> names.addAll(required(resolve(part))));
        return names;
    }
}
