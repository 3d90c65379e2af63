package io.flowlag.exporter.monitoring;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.flowlag.common.config.Prefix;
import io.flowlag.common.http.Browser;
import io.flowlag.exporter.listing.FlowRow;
import io.flowlag.exporter.listing.RowDelay;
import io.flowlag.exporter.listing.RowKey;
import io.flowlag.exporter.listing.RowLoss;
import io.flowlag.exporter.listing.RowTraffic;
import io.flowlag.exporter.status.Statistics;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.openqa.selenium.By;
import org.openqa.selenium.Keys;
import org.openqa.selenium.support.ui.Select;

import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** The status page in a real browser: what it shows is what the server answers, and axe finds nothing. */
class StatusPageTest {
    private static final String NONE = "–";
    private static final int SNAPSHOTS = 90;
    /** A flow that is in the first snapshots alone. */
    private static final RowKey GONE = new RowKey(Prefix.of("192.0.2.99"), Prefix.of("198.51.100.9"), 17, 5, 6, -1, -1);
    private static final int RECENT = 40;
    /** One that ends later and lost packets, without a delay. */
    private static final RowKey LOSSY = new RowKey(Prefix.of("192.0.2.98"), Prefix.of("198.51.100.8"), 17, 7, 8, -1, -1);

    @TempDir
    private static Path directory;
    private static StatusServerFixture fixture;
    private static Browser browser;

    @BeforeAll
    static void open() throws IOException {
        browser = Browser.open(directory);
        final StatusSnapshot snapshot = Snapshots.of(2);
        final History history = new History();
        history.poll(List.of(new HourOfDelays()));
        final WorstOfHour worst = new WorstOfHour();
        for (int i = 0; i < SNAPSHOTS; i++) {
            final Statistics statistics = HourOfDelays.statistics(snapshot, i);
            final List<FlowRow> flows = grown(snapshot, i);
            if (i < RECENT) {
                final FlowRow slowest = flows.get(0);
                final RowDelay delay = slowest.delay();
                flows.add(0, new FlowRow(GONE, slowest.traffic(), i < RECENT / 2 ? delay : new RowDelay(10 * delay.meanNs(),
                    delay.measured(), delay.boundNs(), delay.isExact(), delay.estimator(), delay.spread(), null, null),
                    slowest.loss()));
            }
            if (i == 2 * RECENT) {
                flows.add(new FlowRow(LOSSY, new RowTraffic(1, 500L, 500L, statistics.nowMs() * 1_000_000, 0L, 1), RowDelay.NONE,
                    new RowLoss(1234L, true)));
            }
            history.add(statistics, statistics.nowMs(), flows);
            worst.add(statistics.nowMs(), flows);
        }
        final FlowList listed = snapshot.flows();
        final StatusSnapshot shown = new StatusSnapshot(snapshot.pid(), snapshot.statistics(), snapshot.segments(),
            snapshot.histograms(), snapshot.health(), snapshot.errors(),
            new FlowList(listed.livingCount(), listed.endedCount(), listed.flows(), worst.rows()));
        fixture = new StatusServerFixture(shown, history::json, StatusServerFixture.STEP_NS);
    }

    @AfterAll
    static void close() {
        if (browser != null) {
            browser.close();
        }
        if (fixture != null) {
            fixture.close();
        }
    }

    /** The flows after so many more snapshots; the slowest becomes slower from the fiftieth on. */
    private static List<FlowRow> grown(final StatusSnapshot snapshot, final int snapshots) {
        final List<FlowRow> rows = new ArrayList<>();
        for (final FlowRow row : FlowRows.slowest(snapshot.flows().flows(), History.FLOWS)) {
            final RowTraffic traffic = row.traffic();
            final RowDelay delay = row.delay();
            final long more = 100L * snapshots;
            final long slow = rows.isEmpty() ? 20_000L * Math.max(0, snapshots - 50) : 0;
            rows.add(new FlowRow(row.key(),
                new RowTraffic(traffic.flows(), traffic.packets() + more, traffic.octets(), traffic.startNs(),
                    traffic.durationNs(), traffic.endReason()),
                delay.meanNs() == null ? delay : new RowDelay(delay.meanNs() + slow, delay.measured() + more, delay.boundNs(),
                    delay.isExact(), delay.estimator(), delay.spread(), delay.interpolatedNs(), delay.sketchNs()), row.loss()));
        }
        return rows;
    }

    private static void show(final String page) throws IOException {
        final String uri = "http://127.0.0.1:" + fixture.port() + "/";
        browser.driver().get("about:blank");
        browser.driver().get(uri + "#" + page);
        final String name = page.replaceFirst("/.*", "");
        browser.await(() -> name.equals(script("return document.body.dataset.shown")));
        browser.rest();
        assertTrue(browser.driver().findElement(By.id(name)).isDisplayed());
    }

    private static String encoded(final String name) {
        return URLEncoder.encode(name, StandardCharsets.UTF_8).replace("+", "%20");
    }

    private static Object script(final String text) {
        return browser.driver().executeScript(text);
    }

    private static JsonNode json(final String path) throws IOException {
        return new ObjectMapper().readTree(fixture.get(path).body());
    }

    /** The value and its bound; a value that is absent is shown as absent. */
    private static void assertMean(final JsonNode mean, final JsonNode bound, final String shown) {
        if (mean.isNull()) {
            assertEquals(NONE, shown);
            return;
        }
        Browser.assertDuration(mean.asDouble(), shown, 0);
        if (bound.isNull()) {
            assertTrue(shown.endsWith("± " + NONE), shown);
        } else {
            Browser.assertDuration(bound.asDouble(), shown, 1);
        }
    }

    private static void assertTime(final JsonNode valueNs, final String shown) {
        if (valueNs.isNull()) {
            assertEquals(NONE, shown);
        } else {
            Browser.assertDuration(valueNs.asDouble(), shown, 0);
        }
    }

    private static String count(final JsonNode value) {
        return value.isNull() ? NONE : String.format(Locale.ROOT, "%,d", value.asLong());
    }

    @Test
    void shouldShowClassesOverHours() throws IOException {
        show("classes");
        final JsonNode step = json("/history.json").at("/steps/0");
        final int newest = step.get("times").size() - 2;
        final List<List<String>> rows = browser.rows("#newest tbody tr");
        final List<String> names = rows.stream().map((row) -> row.get(0)).toList();
        assertEquals(List.of("dscp 0", "dscp 46", "all classes", "all packets metered"), names);
        for (int i = 0; i < rows.size(); i++) {
            final JsonNode values = step.get("classes").get(List.of(0, 1, 3, 2).get(i));
            assertEquals(names.get(i), values.get("name").asText());
            final List<String> row = rows.get(i);
            assertMean(values.at("/delay_mean_ns/" + newest), values.at("/delay_bound_ns/" + newest), row.get(1));
            assertTime(values.at("/delay_p50_ns/" + newest), row.get(2));
            assertTime(values.at("/delay_p99_ns/" + newest), row.get(3));
            assertTime(values.at("/delay_max_ns/" + newest), row.get(4));
            assertEquals(count(values.at("/lost/" + newest)), row.get(6));
        }
        final String drawing = browser.driver().findElement(By.cssSelector("#segments svg")).getDomAttribute("aria-label");
        assertTrue(drawing.startsWith("segment 1: from eth0 to eth1, mean delay "), drawing);
        assertEquals(step.at("/classes/0/delay_mean_ns").toString(), script(
            "return JSON.stringify(plots['delay-plot'].plot.data[1])"), "the first curve is the mean of the first class");
        assertEquals((long)HourOfDelays.GAP, script(
            "return plots['delay-plot'].plot.data[1].filter((each) => each === null).length"), "steps without delays");
        new Select(browser.driver().findElement(By.id("which"))).selectByValue("dscp 46");
        final String curves = "step from,dscp 46 mean,dscp 46 mean + bound,dscp 46 mean − bound,dscp 46 50 %,dscp 46 99 %," +
            "dscp 46 largest";
        browser.await(() -> curves.equals(script("return plots['delay-plot'].plot.series.map((each) => each.label).join()")));
        browser.driver().findElement(By.xpath("//button[text()='24 h']")).sendKeys(Keys.ENTER);
        final int minutes = json("/history.json").at("/steps/1/times").size();
        browser.await(() -> ((Number)script("return plots['delay-plot'].plot.data[0].length")).intValue() == minutes);
        browser.driver().findElement(By.cssSelector("#classes details summary")).click();
        assertEquals(minutes, browser.all("#past tbody tr").size());
    }

    @Test
    void shouldShowTheWorstOfTheHourAndLeadToIt() throws IOException {
        show("flows");
        final JsonNode worst = json("/status.json").get("worst_of_hour");
        assertWorst(worst.get("flow"));
        assertEquals(List.of(LOSSY.text(), "1,234"), List.of(
            browser.text("#worst-lost tbody th"), browser.text("#worst-lost tbody td:last-child")));
        assertTrue(browser.texts("#worst-slow tbody th").contains(GONE.text()), "it is gone, and was slow");
        new Select(browser.driver().findElement(By.id("worst-of"))).selectByValue("dst/24");
        browser.await(() -> browser.text("#worst-slow tbody th").startsWith("dst "));
        assertWorst(worst.get("dst/24"));
        new Select(browser.driver().findElement(By.id("worst-of"))).selectByValue("flow");
        browser.await(() -> !browser.all("#worst-slow a").isEmpty());
        browser.driver().findElement(By.cssSelector("#worst-lost a")).sendKeys(Keys.ENTER);
        browser.await(() -> LOSSY.text().equals(browser.text("#flow-name")));
    }

    private static void assertWorst(final JsonNode rows) {
        final List<List<String>> slow = browser.rows("#worst-slow tbody tr");
        final List<List<String>> lossy = browser.rows("#worst-lost tbody tr");
        assertEquals(rows.size(), slow.size() + lossy.size());
        for (int i = 0; i < rows.size(); i++) {
            final List<String> shown = i < slow.size() ? slow.get(i) : lossy.get(i - slow.size());
            assertEquals(rows.get(i).get("name").asText().replaceAll(" +", " "), shown.get(0));
            if (i < slow.size()) {
                assertTime(rows.get(i).get("mean_ns"), shown.get(3));
                assertTime(rows.get(i).get("worst_ns"), shown.get(4));
                assertTime(rows.get(i).get("usual_ns"), shown.get(5));
            } else {
                assertEquals(count(rows.get(i).get("lost")), shown.get(3));
            }
        }
    }

    @Test
    void shouldShowFlowsAndLeadToOne() throws IOException {
        show("flows");
        final JsonNode groups = json("/status.json").get("groups");
        assertRows(groups.get("flow"), "#slowest");
        assertRows(groups.get("dst/24"), "#groups");
        new Select(browser.driver().findElement(By.id("grouping"))).selectByValue("dscp");
        browser.await(() -> browser.text("#groups tbody th").startsWith("dscp "));
        assertRows(groups.get("dscp"), "#groups");
        final JsonNode slowest = groups.at("/flow/0");
        browser.driver().findElement(By.linkText(slowest.get("name").asText())).sendKeys(Keys.ENTER);
        browser.await(() -> "flow-name".equals(browser.driver().switchTo().activeElement().getDomAttribute("id")));
        assertEquals(slowest.get("name").asText(), browser.text("#flow-name"));
        final List<String> names = browser.texts("#flow-values dt");
        final List<String> values = browser.texts("#flow-values dd");
        assertMean(slowest.get("mean_ns"), slowest.get("bound_ns"), values.get(names.indexOf("mean delay")));
        for (final Map.Entry<String, String> each : Map.of("smallest", "min_ns", "50 %", "p50_ns", "99 %", "p99_ns", "largest",
            "max_ns", "by references", "interpolated_mean_ns").entrySet()) {
            assertTime(slowest.get(each.getValue()), values.get(names.indexOf(each.getKey())));
        }
        final JsonNode past = json("/history.json").at("/flows/0");
        assertEquals(slowest.get("name"), past.get("name"));
        assertEquals(past.get("delay_mean_ns").toString(), script(
            "return JSON.stringify(plots['flow-delay-plot'].plot.data[1])"));
        assertEquals(SNAPSHOTS - 1, past.get("times").size());
        browser.driver().findElement(By.cssSelector("#flow details summary")).click();
        final String newest = browser.text("#flow-past tbody tr:first-child td:nth-child(3)");
        assertTime(past.get("delay_mean_ns").get(SNAPSHOTS - 2), newest);
    }

    /** Its history stays, and is found from the list of flows. */
    @Test
    void shouldShowTheHistoryOfAFlowThatIsGone() throws IOException {
        show("flows");
        browser.driver().findElement(By.linkText(GONE.text())).click();
        browser.await(() -> browser.all("#flow-past tbody tr").size() == RECENT - 1);
        assertEquals("It is not among the slowest flows now.", browser.text("#flow-values"));
        final JsonNode past = json("/history.json?flow=" + encoded(GONE.text())).get("flows");
        assertEquals(1, past.size());
        assertEquals(past.at("/0/delay_mean_ns").toString(), script(
            "return JSON.stringify(plots['flow-delay-plot'].plot.data[1])"));
        assertEquals(0, json("/history.json?flow=nobody").get("flows").size());
        assertEquals(200, fixture.get("/history.json?flow=%C3%28&flow=%").status(), "what is no name is that of no flow");
    }

    private static void assertRows(final JsonNode expected, final String selector) {
        final List<List<String>> rows = browser.rows(selector + " tbody tr");
        assertEquals(expected.size(), rows.size());
        for (int i = 0; i < rows.size(); i++) {
            final JsonNode row = expected.get(i);
            final List<String> shown = rows.get(i);
            assertEquals(row.get("name").asText().replaceAll(" +", " "), shown.get(0));
            assertMean(row.get("mean_ns"), row.get("bound_ns"), shown.get(1));
            assertTime(row.get("p99_ns"), shown.get(3));
            final String mark = Map.of("", "", "<=", "at most ", ">=", "at least ").get(row.get("lost_mark").asText());
            assertEquals(row.get("lost").isNull() ? NONE : mark + count(row.get("lost")), shown.get(5));
            assertEquals(count(row.get("packets")), shown.get(6));
        }
    }

    @Test
    void shouldDrawTheDistributionOfAFlowThatHasQuantiles() throws IOException {
        final JsonNode flows = json("/status.json").at("/groups/flow");
        int with = 0;
        while (flows.get(with).get("newest_record").isNull()) {
            with++;
        }
        for (final JsonNode row : List.of(flows.get(with), flows.get(0))) {
            show("flow/" + encoded(row.get("name").asText()));
            int bars = -1;
            for (final String each : List.of("min_ns", "p50_ns", "p90_ns", "p99_ns", "max_ns")) {
                bars += row.at("/newest_record/" + each).isNumber() ? 1 : 0;
            }
            assertEquals(Math.max(0, bars), browser.all("#flow-distribution rect").size(), row::toString);
        }
    }

    private static void assertSays(final String selector, final String text) {
        final String all = browser.text(selector);
        assertTrue(all.contains(text), all);
    }

    @Test
    void shouldSayTheProcessInWords() throws IOException {
        show("process");
        assertSays("#clocks", "The clock of this host is 3 ms behind that of the sender, ± 45 µs, and gains 1.5 µs a second.");
        assertSays("#clocks", "The clocks of the two points differ by at most 50 ns");
        assertSays("#reconciliation", "Last interval, sender 0, dscp 46: complete, 11 packets, mean 13 ms, 19 lost.");
        assertSays("#exchange", "2 sessions have begun, 2 of them have ended.");
        final JsonNode counters = json("/status.json").at("/statistics/counters");
        assertEquals(count(counters.get("captured")), browser.text("#packets dd"));
        assertEquals(json("/status.json").get("checks").size() + 1, browser.all("#checks tbody tr").size());
        assertEquals("ok", browser.text("#state"));
        assertSays("#about", json("/status.json").get("host").asText() + ", version ");
        assertFalse(browser.all("#clock-plot canvas").isEmpty());
        assertSays("#lost", "in the kernel, of <img src=x onerror=alert(1)>");
        assertEquals(0, browser.all("img").size(), "names are text");
    }

    @Test
    void shouldSayWhatIsAbsent() throws IOException {
        final StatusServerFixture other = fixture;
        try (StatusServerFixture empty = new StatusServerFixture(Snapshots.of(3))) {
            fixture = empty;
            show("classes");
            assertEquals("No history is kept.", browser.text("#segments"));
            assertEquals("exchange: connected", browser.text("#failing"));
            show("flow/nobody");
            assertEquals("It is not among the slowest flows now.", browser.text("#flow-values"));
        } finally {
            fixture = other;
        }
    }

    @ParameterizedTest
    @CsvSource({"light,390", "dark,390", "light,1920", "dark,1920"})
    void shouldBeReadByEverybody(final String scheme, final int width) throws IOException {
        browser.shape(scheme, width);
        final String flow = "flow/" + encoded(json("/status.json").at("/groups/flow/0/name").asText());
        show("classes");
        for (final String page : List.of("classes", "flows", "process", flow)) {
            final String name = page.replaceFirst("/.*", "");
            browser.driver().executeScript("location.hash = arguments[0]", page);
            browser.await(() -> name.equals(script("return document.body.dataset.shown")));
            browser.assertReadable(name + "-" + scheme + "-" + width, width);
        }
        assertEquals(List.of(), browser.console(), "the console");
        assertEquals(List.of(), fixture.errors());
    }
}
