package io.flowlag.common.http;

import org.openqa.selenium.By;
import org.openqa.selenium.Dimension;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.logging.LogEntry;
import org.openqa.selenium.logging.LogType;
import org.openqa.selenium.support.ui.WebDriverWait;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** Chromium, for the tests of pages. One thread. */
public final class Browser implements AutoCloseable {
    /** How long a page may take. */
    public static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Path CHROMIUM = Path.of("/usr/bin/chromium");
    private static final Path DRIVER = Path.of("/usr/bin/chromedriver");
    private static final int HEIGHT = 1080;
    private static final Map<String, Double> UNITS = Map.of("ns", 1.0, "µs", 1e3, "ms", 1e6, "s", 1e9);
    private static final Pattern DURATION = Pattern.compile("(-?[0-9.]+) (ns|µs|ms|s)");
    /** Says that it does not know this version of the browser; what is used here is the same in each. */
    private static final Logger LOG = Logger.getLogger("org.openqa.selenium.devtools.CdpVersionFinder");

    private final ChromeDriver driver;

    private Browser(final ChromeDriver driver) {
        this.driver = driver;
    }

    /** Opens one with a profile in a directory; without one installed the test is skipped, or fails where tools are required. */
    public static Browser open(final Path directory) {
        LOG.setLevel(Level.OFF);
        assumeTrue(Boolean.getBoolean("flowlag.require.tools") || Files.isExecutable(CHROMIUM) && Files.isExecutable(DRIVER),
            "chromium and chromedriver are not installed (Debian packages chromium, chromium-driver)");
        final ChromeOptions options = new ChromeOptions();
        options.setBinary(CHROMIUM.toFile());
        options.addArguments("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
            "--user-data-dir=" + directory.resolve("profile"));
        return new Browser(new ChromeDriver(
            new ChromeDriverService.Builder().usingDriverExecutable(DRIVER.toFile()).build(), options));
    }

    /** {@return what drives it} */
    public ChromeDriver driver() {
        return driver;
    }

    /** Waits until something holds. */
    public void await(final BooleanSupplier condition) {
        new WebDriverWait(driver, PATIENCE).until((each) -> condition.getAsBoolean());
    }

    /**
     * Tells the page that it is hidden, so that it no longer polls: nothing is replaced while a test reads it. What it had asked
     * for has arrived then. What a user does works as before.
     */
    public void rest() {
        driver.manage().timeouts().scriptTimeout(PATIENCE);
        driver.executeAsyncScript(
            "Object.defineProperty(document, 'hidden', {value: true, configurable: true}); refresh().then(arguments[0]);");
    }

    /** Ends a {@link #rest}. */
    public void wake() {
        driver.executeScript("delete document.hidden;");
    }

    /** {@return all elements of a selector} */
    public List<WebElement> all(final String selector) {
        return driver.findElements(By.cssSelector(selector));
    }

    /** {@return the text of the first element of a selector} */
    public String text(final String selector) {
        return driver.findElement(By.cssSelector(selector)).getText();
    }

    /** {@return the texts of all elements of a selector} */
    public List<String> texts(final String selector) {
        return all(selector).stream().map(WebElement::getText).toList();
    }

    /** {@return the texts of the cells of each row of a selector, read at once} */
    public List<List<String>> rows(final String selector) {
        final Object rows = driver.executeScript("return [...document.querySelectorAll(arguments[0])]" +
            ".map((row) => [...row.children].map((cell) => cell.innerText))", selector);
        return ((List<?>)rows).stream().map((row) -> ((List<?>)row).stream()
            .map((cell) -> cell.toString().replace('\u00a0', ' ')).toList()).toList();
    }

    /** Sets the scheme, light or dark, and the width of the window. */
    public void shape(final String scheme, final int width) {
        driver.executeCdpCommand("Emulation.setEmulatedMedia", Map.of(
            "features", List.of(Map.of("name", "prefers-color-scheme", "value", scheme))));
        driver.manage().window().setSize(new Dimension(width, HEIGHT));
        driver.executeCdpCommand("Emulation.setDeviceMetricsOverride", Map.of(
            "width", width, "height", HEIGHT, "deviceScaleFactor", 1, "mobile", false));
    }

    /** Asserts that the page is as wide as the window at most, and that axe finds nothing. */
    public void assertReadable(final String name, final int width) throws IOException {
        assertEquals((long)width, driver.executeScript("return document.documentElement.scrollWidth"),
            name + " is wider than the window");
        shoot(name);
        assertEquals("", violations(), name);
    }

    /** {@return what axe finds; a line each} */
    public String violations() throws IOException {
        if (Boolean.TRUE.equals(driver.executeScript("return typeof axe === 'undefined'"))) {
            try (InputStream axe = Browser.class.getResourceAsStream("/axe.min.js")) {
                driver.executeScript(new String(axe.readAllBytes(), StandardCharsets.UTF_8));
            }
        }
        driver.manage().timeouts().scriptTimeout(PATIENCE);
        final Object found = driver.executeAsyncScript("""
            const done = arguments[0];
            axe.run(document, {resultTypes: ['violations']}).then((result) => done(result.violations.map((each) =>
              each.id + ': ' + each.help + ' ' + each.nodes.map((node) => node.target).join(' '))),
              (fault) => done([String(fault)]));
            """);
        return String.join("\n", ((List<?>)found).stream().map(String::valueOf).toList());
    }

    /** {@return what the browser has said since the last question} */
    public List<String> console() {
        return driver.manage().logs().get(LogType.BROWSER).getAll().stream().map(LogEntry::getMessage)
            .filter((message) -> !message.contains("favicon")).toList();
    }

    /** With -Dflowlag.screenshots=DIRECTORY, the whole page, to be looked at. */
    public void shoot(final String name) throws IOException {
        final String target = System.getProperty("flowlag.screenshots");
        if (target != null) {
            final Object width = driver.executeScript("return document.documentElement.scrollWidth");
            final Object height = driver.executeScript("return document.documentElement.scrollHeight");
            final Object image = driver.executeCdpCommand("Page.captureScreenshot", Map.of("captureBeyondViewport", true, "clip",
                Map.of("x", 0, "y", 0, "width", width, "height", height, "scale", 1))).get("data");
            Files.write(Path.of(target, name + ".png"), Base64.getDecoder().decode(image.toString()));
        }
    }

    /** Asserts that one of the durations of a text, by its number, is a value in ns. */
    public static void assertDuration(final double valueNs, final String shown, final int which) {
        final Matcher matcher = DURATION.matcher(shown);
        for (int i = 0; i <= which; i++) {
            assertTrue(matcher.find(), shown);
        }
        assertEquals(
            valueNs, Double.parseDouble(matcher.group(1)) * UNITS.get(matcher.group(2)), Math.abs(valueNs) * 1e-3, shown);
    }

    @Override
    public void close() {
        driver.quit();
    }
}
