package io.flowlag.tests.system;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.flowlag.common.http.Browser;
import io.flowlag.tests.support.Command;
import io.flowlag.tests.support.Flowlag;
import io.flowlag.tests.support.SharedData;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.openqa.selenium.By;
import org.openqa.selenium.Keys;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.StreamSupport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** {@code flowlag report} of captures with truth: its data are what {@code delay} tells, and a browser shows them. */
class ReportTest {
    private static final String TWO_POINT = "twopoint/det6g_tsn_untagged_";
    private static final String WITH_LOSS = "twopoint/trex_tcp2_http_drop_";
    private static final String MEAN = "flowlagDelayMeanNanoseconds";
    private static final Pattern DATA =
        Pattern.compile("<script id=\"data\" type=\"application/json\">(.*?)</script>", Pattern.DOTALL);
    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir
    private static Path directory;
    private static Browser browser;

    @BeforeAll
    static void open() {
        browser = Browser.open(directory);
    }

    @AfterAll
    static void close() {
        if (browser != null) {
            browser.close();
        }
    }

    private static Path report(final String name, final Object... line) {
        final Path page = directory.resolve(name + ".html");
        final List<Object> all = new ArrayList<>(List.of("report", "-o", page));
        all.addAll(List.of(line));
        final Command.Result result = new Flowlag().inThisJvm().run(all.toArray()).orFail();
        assertEquals("", result.output());
        assertTrue(result.errors().contains("wrote " + page), result.errors());
        return page;
    }

    static JsonNode data(final Path page) throws IOException {
        final Matcher matcher = DATA.matcher(Files.readString(page));
        assertTrue(matcher.find());
        return JSON.readTree(matcher.group(1));
    }

    private static void show(final Path page) {
        browser.driver().get("about:blank");
        browser.driver().get(page.toUri().toString());
        browser.await(() -> "report".equals(browser.driver().executeScript("return document.body.dataset.shown")));
    }

    @Test
    void shouldSayWhatDelaySaysOfARealSwitch() throws IOException {
        final Path sender = SharedData.capture(TWO_POINT + "ingress.pcap");
        final Path receiver = SharedData.capture(TWO_POINT + "egress.pcap");
        final JsonNode data = data(report("switch", "-s", sender, "-r", receiver));
        final JsonNode told = JSON.readTree(new Flowlag().inThisJvm().run("delay", "-s", sender, "-r", receiver, "--format",
            "json", "--group-by", "flow", "--active", "1d").orFail().output());
        assertEquals(told, data.at("/flows/0/row"));
        final double[] delaysNs = Files.readAllLines(SharedData.capture("twopoint/det6g_tsn_untagged.truth.csv")).stream().skip(1)
            .mapToDouble((line) -> Double.parseDouble(line.split(",")[3])).sorted().toArray();
        final double sumNs = Arrays.stream(delaysNs).sum();
        assertEquals(sumNs / delaysNs.length, told.get(MEAN).asDouble(), 1, "means of records are rounded");
        assertEquals(delaysNs[delaysNs.length / 2 - 1], told.get("flowlagDelayP50Nanoseconds").asDouble(), 0.01 * delaysNs[0]);
        assertEquals(delaysNs[delaysNs.length / 2 - 1], data.at("/histogram/p50_ns").asDouble(), 0.01 * delaysNs[0]);
        final JsonNode steps = data.at("/steps/0");
        final JsonNode all = steps.at("/classes/0");
        double packets = 0;
        double weightedNs = 0;
        for (int i = 0; i < steps.get("times").size(); i++) {
            packets += all.at("/packets/" + i).asDouble();
            weightedNs += all.at("/packets/" + i).asDouble() * all.at("/delay_mean_ns/" + i).asDouble();
        }
        assertEquals(delaysNs.length, packets);
        assertEquals(sumNs / delaysNs.length, weightedNs / packets, 1, "over all steps");
        assertEquals(delaysNs.length,
            StreamSupport.stream(data.at("/histogram/counts").spliterator(), false).mapToLong(JsonNode::asLong).sum());
        assertEquals(104, data.at("/flows/0/history/mean_ns").size(), "a record for each second");
        assertTrue(data.at("/flows/0/history/is_whole").asBoolean());
        assertFalse(data.get("quality").toString().contains("uantile"), "the flow is one record");
        assertTrue(data(report("tens", "-s", sender, "-r", receiver, "--set", "metering.cut=10s")).get("quality").toString()
            .contains("as of 1 of the flows, no quantile of all follows"));
    }

    @Test
    void shouldSayOfIpfixFilesWhatCollectSays() throws IOException {
        final Path records = directory.resolve("loss.ipfix");
        new Flowlag().inThisJvm().run("delay", "-s", SharedData.capture(WITH_LOSS + "client.pcap"), "-r",
            SharedData.capture(WITH_LOSS + "server.pcap"), "--export", "file:" + records).orFail();
        final JsonNode data = data(report("records", records));
        final List<String> told = new Flowlag().inThisJvm().run("collect", "-q", "-r", records, "--format", "json", "--group-by",
            "flow").orFail().output().lines().toList();
        assertEquals(told.size(), data.get("flows").size());
        for (int i = 0; i < told.size(); i++) {
            assertEquals(JSON.readTree(told.get(i)), data.at("/flows/" + i + "/row"));
        }
        assertTrue(data.at("/histogram/is_of_packets").asBoolean(), "intervals are in the file");
    }

    @Test
    void shouldShowLossAndTheHistoryOfAFlow() throws IOException {
        final Path page = report("loss", "-s", SharedData.capture(WITH_LOSS + "client.pcap"), "-r",
            SharedData.capture(WITH_LOSS + "server.pcap"));
        final JsonNode data = data(page);
        final long lost = Files.readAllLines(SharedData.capture(WITH_LOSS.replaceFirst("_$", ".truth.csv"))).stream()
            .filter((line) -> line.endsWith(",,")).count();
        assertEquals(lost, data.at("/total/row/flowlagLostPacketDeltaCount").asLong());
        show(page);
        final List<String> names = browser.texts("#totals dt");
        final List<String> values = browser.texts("#totals dd");
        assertEquals(Long.toString(lost), values.get(names.indexOf("lost")));
        Browser.assertDuration(data.at("/total/row/" + MEAN).asDouble(),
            values.get(names.indexOf("mean delay ± " + data.get("bound_is").asText())), 0);
        assertEquals(data.at("/histogram/counts").size() + 1, data.at("/histogram/edges").size());
        assertEquals(browser.all("#histogram rect").size(), data.at("/histogram/counts").size(), "a bar has whole buckets");
        assertTrue(Files.readString(page).contains("<noscript>"), "the flows are in the page without scripts too");
        assertFalse(Files.readString(page).contains("/* plain */"));
        assertFalse(browser.all("#delay-plot canvas").isEmpty());
        final JsonNode lossy = StreamSupport.stream(data.get("flows").spliterator(), false).max(
            Comparator.comparing((each) -> each.at("/row/flowlagLostPacketDeltaCount").asLong())).orElseThrow();
        assertEquals(List.of(lossy.get("label").asText(), lossy.at("/row/flowlagLostPacketDeltaCount").asText()),
            List.of(browser.text("#worst-lost tbody th"), browser.text("#worst-lost tbody td:nth-child(4)")));
        assertEquals(data.get("flows").size(), browser.all("#worst-slow tbody tr").size());
        assertFalse(browser.driver().findElement(By.id("flow")).isDisplayed());
        browser.driver().findElement(By.linkText(data.at("/flows/1/label").asText())).sendKeys(Keys.ENTER);
        browser.await(() -> browser.text("#flow-name").endsWith(data.at("/flows/1/label").asText()));
        assertEquals(data.at("/flows/1/history/mean_ns").size(), browser.all("#flow-past tbody tr").size());
        for (final Map.Entry<String, Integer> each : Map.of("light", 390, "dark", 1920).entrySet()) {
            browser.shape(each.getKey(), each.getValue());
            show(page);
            browser.driver().executeScript("location.hash = '#flow-1'");
            browser.await(() -> browser.driver().findElement(By.id("flow")).isDisplayed());
            browser.assertReadable("report-" + each.getKey() + "-" + each.getValue(), each.getValue());
        }
        assertEquals(List.of(), browser.console(), "nothing is loaded, nothing is refused");
    }

    @Test
    void shouldShowOnePointWithoutDelaysAndSortByEachColumn() throws IOException {
        final Path page = report("mix", "--top", "30", SharedData.capture("mix/mix_dev_70k_snap96.nsec.pcap"));
        final JsonNode data = data(page);
        browser.shape("light", 1024);
        show(page);
        assertEquals("–", browser.texts("#totals dd").get(browser.texts("#totals dt").indexOf("mean delay")));
        assertFalse(browser.driver().findElement(By.id("distribution")).isDisplayed(), "nothing is drawn of what is not known");
        assertEquals("packets", browser.text("#flows thead button"), "columns of delays are left out");
        final List<Long> packets = new ArrayList<>();
        data.get("flows").forEach((flow) -> packets.add(flow.at("/row/packetDeltaCount").asLong()));
        assertEquals(30, packets.size());
        browser.driver().findElement(By.cssSelector("#flows thead button")).sendKeys(Keys.ENTER);
        packets.sort(Comparator.reverseOrder());
        assertEquals(packets, shownPackets());
        assertEquals("packets", browser.driver().switchTo().activeElement().getText(), "the focus stays");
        browser.driver().switchTo().activeElement().sendKeys(Keys.ENTER);
        packets.sort(Comparator.naturalOrder());
        assertEquals(packets, shownPackets());
        browser.assertReadable("report-one-point", 1024);
    }

    private static List<Long> shownPackets() {
        return browser.texts("#flows td:nth-child(2)").stream().map((text) -> Long.parseLong(text.replace(",", ""))).toList();
    }
}
