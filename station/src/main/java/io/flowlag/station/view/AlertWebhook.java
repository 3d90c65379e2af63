package io.flowlag.station.view;

import com.fasterxml.jackson.databind.JsonNode;
import io.flowlag.station.schema.Alert;
import org.agrona.ErrorHandler;
import org.agrona.concurrent.EpochNanoClock;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

/**
 * Sends alerts to a URL. One that ends in {@code /api/v2/alerts} is Prometheus Alertmanager: it gets alerts that are on again
 * each minute, which it needs to hold them; any other gets what Alertmanager sends to webhooks, when an alert comes or ends. A
 * failed request is tried again after 1, 2, 4 … 60 s, with what is true by then; an end that could not be sent for {@link
 * #KEPT} is dropped, what the other side refuses is not sent again, and both are counted. A thread of its own sends.
 */
final class AlertWebhook implements AutoCloseable {
    /** How long the end of an alert is tried. */
    static final Duration KEPT = Duration.ofHours(1);
    /** Of requests and repetitions. */
    static final Timing TIMING = new Timing(Duration.ofSeconds(1), Duration.ofMinutes(1), Duration.ofMinutes(1));

    private static final String ALERTMANAGER = "/api/v2/alerts";
    private static final Duration CONNECT = Duration.ofSeconds(5);
    private static final Duration REQUEST = Duration.ofSeconds(10);
    private static final int MOST_DOUBLINGS = 20;

    private final URI target;
    private final String page;
    private final Supplier<List<Alert>> alerts;
    private final EpochNanoClock clock;
    private final ErrorHandler errorHandler;
    private final Timing timing;
    private final boolean isAlertmanager;
    private final HttpClient client = HttpClient.newBuilder().connectTimeout(CONNECT).build();
    private final Semaphore news = new Semaphore(0);
    private final AtomicLong sent = new AtomicLong();
    private final AtomicLong failed = new AtomicLong();
    private final AtomicLong dropped = new AtomicLong();
    /** What the other side knows, by id. */
    private final Map<String, State> known = new HashMap<>();
    private final Thread thread = new Thread(this::run, "alert-webhook");
    private String fault = "";

    /**
     * How often.
     *
     * @param firstRetry after a failed request; doubled after each.
     * @param lastRetry  at most.
     * @param repeat     of alerts that are on, to Alertmanager.
     */
    record Timing(Duration firstRetry, Duration lastRetry, Duration repeat) {
    }

    /**
     * Where alerts go.
     *
     * @param target http or https.
     * @param page   address of the page of alerts; empty for none.
     */
    record Settings(URI target, String page, Timing timing) {
    }

    private record State(long startsNs, boolean isOver, Alert.Severity severity) {
        static State of(final Alert alert) {
            return new State(alert.getStartsNs(), alert.hasEndsNs(), alert.getSeverity());
        }
    }

    /**
     * Sends from now on.
     *
     * @param alerts those that are on, and those that are over, the newest of each id; those that are over now are not sent.
     */
    AlertWebhook(
        final Settings settings, final Supplier<List<Alert>> alerts, final EpochNanoClock clock,
        final ErrorHandler errorHandler) {
        target = settings.target;
        page = settings.page;
        timing = settings.timing;
        this.alerts = alerts;
        this.clock = clock;
        this.errorHandler = errorHandler;
        isAlertmanager = target.getPath() != null && target.getPath().endsWith(ALERTMANAGER);
        alerts.get().stream().filter(Alert::hasEndsNs).forEach((alert) -> known.put(alert.getId(), State.of(alert)));
        thread.setDaemon(true);
        thread.start();
    }

    /** Says that there may be something to send; any thread. */
    void wake() {
        news.release();
    }

    private void run() {
        Duration wait = timing.repeat;
        int failures = 0;
        try {
            while (true) {
                if (failures > 0) {
                    TimeUnit.NANOSECONDS.sleep(wait.toNanos());
                } else {
                    news.tryAcquire(wait.toNanos(), TimeUnit.NANOSECONDS);
                }
                news.drainPermits();
                failures = round() ? 0 : failures + 1;
                wait = failures == 0 ? timing.repeat : retry(failures);
            }
        } catch (final InterruptedException ex) {
            return; // closed
        }
    }

    private Duration retry(final int failures) {
        final Duration next = timing.firstRetry.multipliedBy(1L << Math.min(failures - 1, MOST_DOUBLINGS));
        return next.compareTo(timing.lastRetry) < 0 ? next : timing.lastRetry;
    }

    /** Sends what is due. Returns whether nothing is left to be tried again. */
    private boolean round() throws InterruptedException {
        final List<Alert> all = alerts.get();
        known.keySet().retainAll(all.stream().map(Alert::getId).toList());
        final List<Alert> due = new ArrayList<>();
        for (final Alert alert : all) {
            final boolean isNew = !State.of(alert).equals(known.get(alert.getId()));
            if (isNew && alert.hasEndsNs() && clock.nanoTime() - alert.getEndsNs() > KEPT.toNanos()) {
                dropped.incrementAndGet();
                known.put(alert.getId(), State.of(alert));
            } else if (isNew || isAlertmanager && !alert.hasEndsNs()) {
                due.add(alert);
            }
        }
        return due.isEmpty() || post(due);
    }

    private boolean post(final List<Alert> due) throws InterruptedException {
        final JsonNode body = isAlertmanager ? AlertJson.postable(due, page) : AlertJson.webhook(due, page);
        final HttpRequest request = HttpRequest.newBuilder(target).timeout(REQUEST).header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(body.toString())).build();
        try {
            final int status = client.send(request, HttpResponse.BodyHandlers.discarding()).statusCode();
            if (status / 100 == 2) {
                sent.addAndGet(due.size());
                report("");
            } else {
                failed.incrementAndGet();
                report(target.getHost() + " answers alerts with status " + status +
                    ": correct alerts.webhook, or look at its log");
                if (isWorthARetry(status)) {
                    return false;
                }
                dropped.addAndGet(due.size());
            }
            due.forEach((alert) -> known.put(alert.getId(), State.of(alert)));
            return true;
        } catch (final IOException ex) {
            failed.incrementAndGet();
            report(target.getHost() + " cannot be told of alerts: " + ex + ": start it, or correct alerts.webhook");
            return false;
        }
    }

    /** Server errors, 408 (too slow) and 429 (too many). */
    private static boolean isWorthARetry(final int status) {
        return status >= 500 || status == 408 || status == 429;
    }

    /** Each fault once, until there is another or none. */
    private void report(final String now) {
        if (!now.isEmpty() && !now.equals(fault)) {
            errorHandler.onError(new IOException(now));
        }
        fault = now;
    }

    /** {@return alerts that the other side took, with repetitions} */
    long sentCount() {
        return sent.get();
    }

    /** {@return requests that failed} */
    long failedCount() {
        return failed.get();
    }

    /** {@return alerts, or ends of them, that are not sent again} */
    long droppedCount() {
        return dropped.get();
    }

    @Override
    public void close() {
        thread.interrupt();
        try {
            thread.join(REQUEST.toMillis());
        } catch (final InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
    }
}
