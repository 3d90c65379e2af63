package io.flowlag.station.view;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.agrona.concurrent.EpochNanoClock;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

import static org.junit.jupiter.api.Assertions.assertEquals;

/** A view with a history in a file, and a client of it. */
final class ViewFixture implements AutoCloseable {
    static final ExporterRow EXPORTER = new ExporterRow("192.0.2.7", 12, 400, 90_000, 7, 1, Samples.START_NS + 50 * Samples.S);

    private final HttpClient client = HttpClient.newHttpClient();
    private final Queue<Throwable> errors = new ConcurrentLinkedQueue<>();
    private final View view;

    ViewFixture(final Path history, final EpochNanoClock clock) throws IOException {
        this(View.Settings.onLoopback(0, history), clock);
    }

    ViewFixture(final View.Settings settings, final EpochNanoClock clock) throws IOException {
        view = new View(
            Samples.network(), settings,
            new View.Sources(() -> Map.of("messages", 400L, "too-late", 2L), () -> List.of(EXPORTER)), clock, errors::add);
    }

    View view() {
        return view;
    }

    Queue<Throwable> errors() {
        return errors;
    }

    URI uri(final String target) throws IOException {
        return URI.create("http://127.0.0.1:" + view.address().getPort() + target);
    }

    HttpResponse<String> get(final String target) throws IOException, InterruptedException {
        return client.send(HttpRequest.newBuilder(uri(target)).build(), HttpResponse.BodyHandlers.ofString());
    }

    /** The JSON of an answer of 200. */
    JsonNode json(final String target) throws IOException, InterruptedException {
        final HttpResponse<String> answer = get(target);
        assertEquals(200, answer.statusCode(), answer::body);
        assertEquals("application/json", answer.headers().firstValue("Content-Type").orElse(""));
        return new ObjectMapper().readTree(answer.body());
    }

    @Override
    public void close() {
        view.close();
    }
}
