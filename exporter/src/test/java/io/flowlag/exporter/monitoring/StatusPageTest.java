package io.flowlag.exporter.monitoring;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** What the status page's own script shows, run by Node.js in a document that only keeps what is put into it. */
class StatusPageTest {
    private static final Path NODE = Path.of("/usr/bin/node");
    private static final int BOUND_COLUMN = 2;
    private static final String DOCUMENT = """
        const parts = {};
        const text = (part) => part.children.length === 0 ? part.textContent : part.children.map(text);
        const part = () => ({
          children: [], setAttribute() {}, appendChild(child) { this.children.push(child); return child; },
          append(...all) { this.children.push(...all); }, replaceChildren(...all) { this.children = all; }});
        globalThis.document = {
          createElement: part, createElementNS: part, getElementById: (id) => parts[id] = parts[id] || part()};
        globalThis.fetch = async () => ({ok: true, json: async () => STATUS});
        globalThis.addEventListener = () => {};
        globalThis.setTimeout = () => console.log(JSON.stringify({state: text(parts.state), flows: text(parts.flows)}));
        """;

    @TempDir
    private Path directory;

    private JsonNode shown(final String page, final String status) throws IOException, InterruptedException {
        final String script = page.substring(page.indexOf("<script>") + "<script>".length(), page.indexOf("</script>"));
        final Path program = Files.writeString(
            directory.resolve("page.js"), "const STATUS = " + status + ";\n{" + DOCUMENT + "}\n{" + script + "}\n");
        final Path output = directory.resolve("shown");
        final Process node = new ProcessBuilder(NODE.toString(), program.toString())
            .redirectErrorStream(true).redirectOutput(output.toFile()).start();
        try {
            assertTrue(node.waitFor(60, TimeUnit.SECONDS), "the page's script does not end");
        } finally {
            node.destroyForcibly();
        }
        assertEquals(0, node.exitValue(), () -> "the page's script, see " + output);
        return new ObjectMapper().readTree(Files.readString(output));
    }

    @Test
    void shouldSayWhichMeansAreExact() throws Exception {
        assumeTrue(Boolean.getBoolean("flowlag.require.tools") || Files.isExecutable(NODE), "Node.js is not installed");
        try (StatusServerFixture fixture = new StatusServerFixture(Snapshots.of(2))) {
            final String status = fixture.get("/status.json").body();
            final JsonNode shown = shown(fixture.get("/").body(), status);
            assertEquals("ok", shown.get("state").asText());
            final JsonNode flows = new ObjectMapper().readTree(status).get("flows");
            final JsonNode rows = shown.at("/flows/0/0/1");
            assertEquals(flows.size(), rows.size());
            int exact = 0;
            for (int i = 0; i < rows.size(); i++) {
                final boolean isExact = flows.get(i).path("exact").asBoolean();
                assertEquals(isExact ? "exact" : "± 100 µs", rows.get(i).get(BOUND_COLUMN).asText());
                exact += isExact ? 1 : 0;
            }
            assertEquals(1, exact);
        }
    }
}
