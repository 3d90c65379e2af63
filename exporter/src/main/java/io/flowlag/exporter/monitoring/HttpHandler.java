package io.flowlag.exporter.monitoring;

/** Answers requests. Called by the server's thread; must not wait. */
@FunctionalInterface
interface HttpHandler {
    /** {@return the answer} */
    HttpResponse respond(HttpRequest request);
}
