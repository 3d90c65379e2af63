package io.flowlag.station.view;

import com.fasterxml.jackson.databind.JsonNode;
import io.flowlag.common.http.Browser;
import io.flowlag.station.schema.Alert;
import io.flowlag.station.schema.SegmentWindow;
import io.flowlag.station.schema.Verdict;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.openqa.selenium.By;
import org.openqa.selenium.Keys;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.support.ui.Select;
import org.openqa.selenium.support.ui.WebDriverWait;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import static io.flowlag.station.view.Samples.S;
import static io.flowlag.station.view.Samples.START_NS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** The pages in a real browser: what they show is what REST answers, and axe finds nothing. */
class PagesTest {
    private static final List<String> PAGES = List.of("map", "path", "alerts", "verdicts", "segment", "exporters");
    private static final Duration PATIENCE = Browser.PATIENCE;
    private static final int WINDOWS = 90;
    private static final long NOW_NS = START_NS + WINDOWS * 10 * S + 6 * S;
    private static final String KEY = "[\"backbone\",\"zrh-gva\",0]";

    @TempDir
    private static Path directory;
    private static ViewFixture fixture;
    private static Browser chromium;
    private static ChromeDriver browser;

    @BeforeAll
    static void open() throws Exception {
        chromium = Browser.open(directory);
        browser = chromium.driver();
        fixture = new ViewFixture(directory.resolve("history.db"), () -> NOW_NS);
        feed(fixture.view());
    }

    @AfterAll
    static void close() {
        if (chromium != null) {
            chromium.close();
        }
        if (fixture != null) {
            fixture.close();
        }
    }

    /** A queue that becomes slow after two thirds, a gap, a segment without a mean, one that is not on the map. */
    private static void feed(final View view) throws InterruptedException {
        for (int i = 0; i < WINDOWS; i++) {
            final double slowNs = i < 60 ? 0 : 700_000;
            if (i < 20 || i > 30) {
                view.onResult(Samples.window("zrh-gva", START_NS + i * 10 * S, 10).setPackets(1200 + 13 * (i % 7))
                    .setFinal(i < 88).setMeanNs(1_050_000 + 3_000 * (i % 5) + slowNs).setBoundNs(12_000 + slowNs / 40)
                    .setLost(slowNs > 0 ? 3 : 0).setHistogram(Samples.histogram(2000, Math.round(1_100_000 + slowNs))).build());
            }
            view.onResult(Samples.window("gva-zrh", START_NS + i * 10 * S, 10).setMeanNs(1_004_000).build());
        }
        view.onResult(SegmentWindow.newBuilder().setNetwork("backbone").setSegment("192.0.2.9/1/5").setDscp(0)
            .setStartNs(START_NS).setEndNs(START_NS + 10 * S).setFinal(true).setPackets(5).build());
        view.onResult(Samples.window("zrh-gva", START_NS, 10).setDscp(46).clearBoundNs().clearLost().clearHistogram().build());
        view.onResult(Samples.verdict(START_NS + 880 * S, 10, START_NS + 600 * S).build());
        view.onResult(Samples.verdict(START_NS + 100 * S, 10, START_NS + 50 * S).setId("clock").clearSuspects()
            .setKind(Verdict.Kind.CLOCK_MOVED).setClock("gva").clearEvidence().setFinal(true).build());
        for (final int window : new int[]{70, 80}) {
            view.onResult(Samples.verdict(START_NS + window * 10 * S, 10, START_NS + 600 * S).build());
        }
        view.onResult(Samples.alert("changed", START_NS + 600 * S).setVerdict(
            Samples.verdict(START_NS + 880 * S, 10, START_NS).getId()).build());
        view.onResult(Samples.alert("burns", START_NS + 300 * S).setKind(Alert.Kind.BUDGET_BURNS).setValue(15.2).clearVerdict()
            .setSeverity(Alert.Severity.TICKET).setEndsNs(START_NS + 720 * S).setSummary("voice burns its budget").build());
        for (int port = 1; port <= 7; port++) {
            view.onResult(Samples.path(port, START_NS + 880 * S, 10).build());
        }
        view.onResult(Samples.unknownPath(9, START_NS + 880 * S, 10));
        view.awaitWritten();
    }

    private static void show(final String page) throws IOException {
        browser.get(fixture.uri("/").toString());
        browser.get(fixture.uri("/#" + page).toString());
        final String name = page.replaceFirst("/.*", "");
        new WebDriverWait(browser, PATIENCE).until((driver) -> name.equals(
            browser.executeScript("return document.body.dataset.shown")) && driver.findElement(By.id(name)).isDisplayed());
        chromium.rest();
    }

    private static String text(final String selector) {
        return chromium.text(selector);
    }

    private static void assertDuration(final JsonNode valueNs, final String shown, final int which) {
        Browser.assertDuration(valueNs.asDouble(), shown, which);
    }

    @Test
    void shouldShowOnTheMapWhatRestAnswers() throws Exception {
        show("map");
        final JsonNode answer = fixture.json("/api/segments").get("segments");
        final List<WebElement> rows = browser.findElements(By.cssSelector("#segments tbody tr"));
        assertEquals(3, rows.size(), "segments of class 0");
        final JsonNode slow = answer.get(2);
        assertEquals("zrh-gva", slow.get("segment").asText());
        assertEquals("zrh-gva", rows.get(0).findElement(By.cssSelector("th")).getText(), "the largest excess");
        final List<WebElement> cells = rows.get(0).findElements(By.cssSelector("td"));
        assertDuration(slow.get("mean_ns"), cells.get(0).getText(), 0);
        assertDuration(slow.get("bound_ns"), cells.get(0).getText(), 1);
        assertDuration(slow.get("excess_ns"), cells.get(1).getText(), 0);
        assertEquals(slow.get("packets").asLong(), Long.parseLong(cells.get(2).getText().replace(",", "")));
        final List<String> absent = rows.get(2).findElements(By.cssSelector("td")).stream().map(WebElement::getText).toList();
        assertEquals(List.of("–", "–", "5", "–"), absent, "what is not known");
        assertEquals(2, browser.findElements(By.cssSelector("#net .seg")).size());
        assertEquals(2, browser.findElements(By.cssSelector("#net .suspect")).size());
        int blind = 0;
        for (final JsonNode hop : fixture.json("/api/network").get("hops")) {
            blind += hop.get("is_blind").asBoolean() ? 1 : 0;
        }
        assertEquals(blind, browser.findElements(By.cssSelector("#net .blind")).size());
        assertEquals("Not on the map: 192.0.2.9/1/5", text("#unmapped"));
        assertEquals("1 alert, 1 slow or moved", text("#state"));
    }

    @Test
    void shouldShowThePastOnTheMapByKeys() throws Exception {
        show("map");
        final WebElement slider = browser.findElement(By.id("map-time"));
        assertEquals("-8640", slider.getDomProperty("min"), "a day of windows of 10 s");
        slider.sendKeys(Keys.ARROW_LEFT.toString().repeat(20));
        final long atS = START_NS / S + 690;
        new WebDriverWait(browser, PATIENCE).until((driver) -> ((Number)browser.executeScript(
            "return past ? past.ms : 0")).longValue() == atS * 1000);
        assertEquals(slider.getDomAttribute("aria-valuetext"), text("#map-at"));
        final String at = "?at=" + Instant.ofEpochSecond(atS);
        final JsonNode then = fixture.json("/api/segments" + at).get("segments");
        assertEquals(2, then.size(), "those that are final");
        final List<WebElement> rows = browser.findElements(By.cssSelector("#segments tbody tr"));
        assertEquals(2, rows.size());
        assertDuration(then.at("/1/mean_ns"), rows.get(0).findElement(By.cssSelector("td")).getText(), 0);
        assertEquals(0, browser.findElements(By.cssSelector("#net .suspect")).size(), "no verdict of that window");
        slider.sendKeys(Keys.ARROW_RIGHT.toString().repeat(11));
        new WebDriverWait(browser, PATIENCE).until((driver) -> !driver.findElements(By.cssSelector("#net .suspect")).isEmpty());
        slider.sendKeys(Keys.END);
        new WebDriverWait(browser, PATIENCE).until((driver) -> "now".equals(text("#map-at")));
        slider.sendKeys(Keys.HOME);
        new WebDriverWait(browser, PATIENCE).until((driver) -> text("#segments").contains("No window is kept of this time."));
        assertEquals(6, browser.findElements(By.cssSelector("#net .blind")).size(), "then nothing was measured");
        slider.sendKeys(Keys.END);
        new Select(browser.findElement(By.id("map-measure"))).selectByValue("mean_ns");
        assertTrue(text("#legend").startsWith("mean below 10 µs"), text("#legend"));
        assertEquals("mean", text("#map-by"));
    }

    @Test
    void shouldShowVerdictsWithTheirEvidence() throws Exception {
        show("verdicts");
        final JsonNode verdicts = fixture.json("/api/verdicts").get("verdicts");
        final List<WebElement> cards = browser.findElements(By.cssSelector("#faults article"));
        assertEquals(verdicts.size(), cards.size());
        final String slow = cards.get(0).getText();
        assertTrue(slow.startsWith("Slow hop: bern → gva now"), slow);
        assertTrue(slow.contains("bern → gva 93 %") && slow.contains("gva → nyon 4 %") && slow.contains("97 %"), slow);
        assertTrue(slow.contains("600 µs to 800 µs"), slow);
        assertTrue(cards.get(1).getText().startsWith("Clock moved: gva over"), cards.get(1).getText());
        cards.get(0).findElement(By.linkText("zrh-gva")).sendKeys(Keys.ENTER);
        new WebDriverWait(browser, PATIENCE).until((driver) -> "Segment zrh-gva, class 0".equals(text("#segment-name")));
    }

    @Test
    void shouldShowAlertsAndLeadToWhatTheyAreAbout() throws Exception {
        show("alerts");
        final JsonNode alerts = fixture.json("/api/alerts").get("alerts");
        final List<WebElement> cards = browser.findElements(By.cssSelector("#all-alerts article"));
        assertEquals(alerts.size(), cards.size());
        final String on = cards.get(0).getText();
        assertTrue(on.startsWith(alerts.at("/0/summary").asText() + " on") && on.contains("look at once"), on);
        assertDuration(alerts.at("/0/effect_ns"), on.substring(on.indexOf("slower by")), 0);
        final String over = cards.get(1).getText();
        assertTrue(over.startsWith("voice burns its budget over") && over.contains("15.2 times too fast") &&
            over.contains("7 min"), over);
        assertEquals("Alerts (1)", browser.findElement(By.cssSelector("nav a[href='#alerts']")).getText());
        cards.get(0).findElement(By.linkText("suspects and evidence")).sendKeys(Keys.ENTER);
        new WebDriverWait(browser, PATIENCE).until((driver) -> "verdicts".equals(
            browser.executeScript("return document.body.dataset.shown")));
        assertTrue(text("#faults .wanted").startsWith("Slow hop: bern → gva"), "the verdict that it is about");
    }

    @Test
    void shouldShowASegmentWithItsHistory() throws Exception {
        show("segment/" + URLEncoder.encode(KEY, StandardCharsets.UTF_8));
        new WebDriverWait(browser, PATIENCE).until((driver) -> !driver.findElements(By.cssSelector("#delays canvas")).isEmpty());
        final JsonNode segment = fixture.json("/api/segments").at("/segments/2");
        final List<String> names = browser.findElements(By.cssSelector("#values dt")).stream().map(WebElement::getText).toList();
        final List<WebElement> values = browser.findElements(By.cssSelector("#values dd"));
        for (final Map.Entry<String, String> each : Map.of("mean", "mean_ns", "bound of the clocks", "clock_bound_ns", "floor",
            "floor_ns", "99 % quantile", "p99_ns", "largest", "maximum_ns", "standard deviation", "deviation_ns").entrySet()) {
            assertDuration(segment.get(each.getValue()), values.get(names.indexOf(each.getKey())).getText(), 0);
        }
        assertDuration(segment.get("bound_ns"), values.get(names.indexOf("mean")).getText(), 1);
        browser.findElement(By.cssSelector("details summary")).click();
        final JsonNode past = fixture.json("/api/history?segment=zrh-gva&class=0").get("windows");
        final List<WebElement> rows = browser.findElements(By.cssSelector("#past tbody tr"));
        assertEquals(past.size(), rows.size());
        assertDuration(past.get(past.size() - 1).get("mean_ns"), rows.get(0).getText(), 0);
        final long nulls = (long)browser.executeScript(
            "return plots.delays.plot.data[1].filter((each) => each === null).length");
        assertEquals(1, nulls, "one gap");
        final List<WebElement> changes = browser.findElements(By.cssSelector("#changes tbody tr"));
        assertEquals(List.of("over: voice burns its budget", "zrh-gva is 700 µs slower than in this hour of other days",
            "voice burns its budget"), changes.stream().map((row) -> row.findElement(By.cssSelector("td")).getText()).toList());
        browser.findElement(By.xpath("//button[text()='24 h']")).click();
        new WebDriverWait(browser, PATIENCE).until((driver) -> "true".equals(
            driver.findElement(By.xpath("//button[text()='24 h']")).getDomAttribute("aria-pressed")));
    }

    @Test
    void shouldDrawPathsAsWaterfalls() throws Exception {
        show("path");
        assertEquals(8, browser.findElements(By.cssSelector("#flows tbody tr")).size());
        assertEquals(2, browser.findElements(By.cssSelector("#routes article")).size(), "a whole one and another");
        assertTrue(text("#routes article:nth-child(2)").contains("a gap is not known"), text("#routes"));
        browser.findElement(By.id("path-src")).sendKeys("10.1.0.2/32", Keys.ENTER);
        new WebDriverWait(browser, PATIENCE).until((driver) -> text("#flows-count").equals("1"));
        final JsonNode path = fixture.json("/api/paths?src=10.1.0.2").at("/paths/0");
        final List<WebElement> rows = browser.findElements(By.cssSelector("#routes tbody tr"));
        assertEquals(4, rows.size(), "three stretches and their sum");
        for (int i = 0; i < 4; i++) {
            final JsonNode part = i < 3 ? path.at("/stretches/" + i) : path;
            final String shown = rows.get(i).findElement(By.cssSelector("td:nth-child(4)")).getText();
            assertDuration(part.get("mean_ns"), shown, 0);
            assertDuration(part.get("bound_ns"), shown, 1);
        }
        assertEquals("gap", rows.get(1).findElement(By.cssSelector("th")).getText());
        assertEquals("–", rows.get(1).findElement(By.cssSelector("td:nth-child(5)")).getText(), "its loss is not known");
        double endPx = edge(rows.get(0), "left");
        for (int i = 0; i < 3; i++) {
            assertEquals(endPx, edge(rows.get(i), "left"), 1, "each begins where the one before ends");
            endPx = edge(rows.get(i), "right");
        }
        assertEquals(endPx, edge(rows.get(3), "right"), 1, "the sum");
        new Select(browser.findElement(By.id("path-at"))).selectByIndex(1);
        browser.findElement(By.cssSelector("#path-form button")).click();
        new WebDriverWait(browser, PATIENCE).until((driver) ->
            driver.getCurrentUrl().contains("at=2025-11-24T16%3A14%3A50.000Z"));
        assertEquals("to 2025-11-24 16:14:50",
            new Select(browser.findElement(By.id("path-at"))).getFirstSelectedOption().getText());
        browser.findElement(By.id("path-dst")).sendKeys("gva", Keys.ENTER);
        new WebDriverWait(browser, PATIENCE).until((driver) -> text("#path-fault").contains("dst: is no prefix"));
        show("map");
        assertTrue(chromium.console().stream().allMatch((said) -> said.contains("400")), "what the browser itself says");
    }

    /** Of the bar in a row. */
    private static double edge(final WebElement row, final String side) {
        return ((Number)browser.executeScript("return arguments[0].querySelector('rect').getBoundingClientRect()[arguments[1]]",
            row, side)).doubleValue();
    }

    @Test
    void shouldShowExporters() throws Exception {
        show("exporters");
        final JsonNode exporter = fixture.json("/api/exporters").at("/exporters/0");
        final WebElement row = browser.findElement(By.cssSelector("#peers tbody tr"));
        assertEquals(exporter.get("peer").asText(), row.findElement(By.cssSelector("th")).getText());
        final List<String> cells = row.findElements(By.cssSelector("td")).stream().map(WebElement::getText).toList();
        assertEquals(List.of("12", "400", "90,000", "7", "1", "2", "± 30 µs", "14 min ago"), cells);
    }

    @Test
    void shouldFollowNewWindowsAndBeUsedByKeys() throws Exception {
        show("exporters");
        final WebElement map = browser.findElement(By.linkText("Map"));
        map.sendKeys(Keys.ENTER);
        new WebDriverWait(browser, PATIENCE).until((driver) ->
            "map-name".equals(driver.switchTo().activeElement().getDomAttribute("id")));
        new WebDriverWait(browser, PATIENCE).until((driver) -> !driver.findElements(By.cssSelector("#segments tr")).isEmpty());
        browser.executeScript("document.querySelector('#segments a').focus()");
        chromium.wake();
        fixture.view().onResult(Samples.window("gva-zrh", START_NS + (WINDOWS - 1) * 10 * S, 10).setMeanNs(1_004_000)
            .setPackets(4321).build());
        new WebDriverWait(browser, PATIENCE).until((driver) -> text("#segments").contains("4,321"));
        assertEquals("zrh-gva", browser.switchTo().activeElement().getText(), "the focus stays");
    }

    @Test
    void shouldAskForTheTokenOnce() throws Exception {
        final String token = "0123456789abcdef0123456789abcdef";
        final View.Settings settings = new View.Settings(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
            new ViewAccess(Optional.empty(), false, Optional.of(token)), directory.resolve("closed.db"), Optional.empty());
        try (ViewFixture closed = new ViewFixture(settings, () -> NOW_NS)) {
            browser.get(closed.uri("/").toString());
            final WebElement field = browser.findElement(By.id("token"));
            chromium.shoot("login");
            assertEquals("", chromium.violations(), "login");
            field.sendKeys("another", Keys.ENTER);
            new WebDriverWait(browser, PATIENCE).until((driver) -> "This is not the token.".equals(text("#said")));
            field.clear();
            field.sendKeys(token, Keys.ENTER);
            new WebDriverWait(browser, PATIENCE).until((driver) -> "map".equals(
                browser.executeScript("return document.body.dataset.shown")));
            assertEquals("", browser.executeScript("return document.cookie"), "scripts do not see it");
            browser.get(closed.uri("/#exporters").toString());
            new WebDriverWait(browser, PATIENCE).until((driver) -> text("#peers").contains("192.0.2.7"));
        }
        browser.manage().deleteAllCookies();
        show("map");
        final List<String> console = chromium.console();
        assertTrue(console.stream().allMatch((said) -> said.contains("401")), console::toString);
    }

    @ParameterizedTest
    @CsvSource({"light,390", "dark,390", "light,1920", "dark,1920"})
    void shouldBeReadByEverybody(final String scheme, final int width) throws Exception {
        chromium.shape(scheme, width);
        for (final String page : PAGES) {
            show(page);
            if ("segment".equals(page)) {
                new WebDriverWait(browser, PATIENCE).until((driver) -> !driver.findElements(By.cssSelector("canvas")).isEmpty());
            }
            chromium.assertReadable(page + "-" + scheme + "-" + width, width);
        }
        assertEquals(List.of(), chromium.console(), "the console");
        assertEquals(List.of(), List.copyOf(fixture.errors()));
    }
}
