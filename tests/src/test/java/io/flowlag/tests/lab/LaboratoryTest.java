package io.flowlag.tests.lab;

import io.flowlag.exporter.command.Main;
import io.flowlag.exporter.console.Terminal;
import io.flowlag.exporter.lab.Laboratory;
import io.flowlag.tests.lab.heldout.HeldOutExperiment;
import io.flowlag.tests.lab.reconcile.RdaFigure12;
import io.flowlag.tests.lab.reconcile.RdaFigure7;
import io.flowlag.tests.lab.reconcile.RdaRepair;
import io.flowlag.tests.lab.report.Comparison;
import io.flowlag.tests.lab.report.Plot;
import io.flowlag.tests.lab.report.PlotRenderer;
import io.flowlag.tests.lab.report.Results;
import io.flowlag.tests.lab.report.Scale;
import io.flowlag.tests.lab.report.Setup;
import io.flowlag.tests.lab.report.Table;
import io.flowlag.tests.lab.rli.RliCeiling;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.ServiceLoader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** The laboratory as the command finds it, what it writes, and the comparators side by side. */
class LaboratoryTest {
    private static Results methods;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    @TempDir
    Path directory;

    @BeforeAll
    static void compareMethods() {
        methods = new MethodsExperiment().run(Setup.of(Scale.TEST));
    }

    @Test
    void shouldBeFoundWithExperimentsOfDistinctNames() {
        final List<Laboratory.Listing> listings = ServiceLoader.load(Laboratory.class).findFirst().orElseThrow().listings();

        assertEquals(listings.size(), new HashSet<>(listings.stream().map(Laboratory.Listing::name).toList()).size());
        for (final String figure : List.of("RLI Table I", "RLI Figure 5", "RLI Figure 6", "RLI Figure 7", "RLI Figure 8",
            "RLI Figure 9", "RLI Figure 10", "RLI Figure 11", "RLI Figure 12", "LDS Figure 9", "LDS Figure 10", "LDS Figure 11",
            "LDS Figure 12", "LDA/ToN Figure 4", "LDA/ToN Figure 5", "LDA/ToN Figure 6", "RDA Figure 6",
            "RDA Figures 7, 8", "RDA Figures 12-15", "docs/joint.md")) {
            assertTrue(listings.stream().anyMatch(listing -> listing.source().equals(figure)), figure);
        }
    }

    @Test
    void shouldListOnTheCommandLineAndRefuseWhatItDoesNotKnow() throws IOException {
        assertEquals(0, main("lab"));
        assertEquals(PaperLaboratory.class.getName(),
            ServiceLoader.load(Laboratory.class).findFirst().orElseThrow().getClass().getName());
        assertTrue(out.toString(StandardCharsets.UTF_8).lines().anyMatch(line -> line.startsWith("rli-fig6 ")), out.toString());
        assertEquals(64, main("lab", "rli-fig66"));
        assertTrue(err.toString(StandardCharsets.UTF_8).contains("did you mean rli-fig6? Known are all, rli-table1, "),
            err.toString());
        assertEquals(64, main("lab", "rli-fig6", "--seeds", "0"));
        assertEquals(64, main("lab", "joint", "--first-seed", "0"));
        assertEquals(64, main("lab", "rli-fig6", "--first-seed", "301"));
        assertTrue(err.toString(StandardCharsets.UTF_8).contains("--first-seed is not for rli-fig6, but for joint"),
            err.toString());
        final Path file = Files.createFile(directory.resolve("file"));
        assertEquals(73, main("lab", "rli-fig6", "--out", file.resolve("below").toString()));
        assertFalse(err.toString(StandardCharsets.UTF_8).contains("Exception"), err.toString(StandardCharsets.UTF_8));
        assertEquals(64, main("lab", "bogus"));
        assertTrue(err.toString(StandardCharsets.UTF_8).startsWith("flowlag: lab: 'bogus' is no experiment. Known are all, "),
            err.toString(StandardCharsets.UTF_8));
    }

    private int main(final String... arguments) {
        out.reset();
        err.reset();
        return Main.run(new Terminal(new PrintStream(out, true, StandardCharsets.UTF_8),
            new PrintStream(err, true, StandardCharsets.UTF_8), false), arguments);
    }

    /** The reconciliation experiments at their smallest: every comparison has a number, and what is promised holds. */
    @Test
    void shouldReconcileAsPromised() {
        final Setup setup = new Setup(Scale.TEST, 1);
        final Results difference = new RdaFigure7().run(setup);
        assertTrue(difference.named("mean").number("RDA late", difference.named("mean").rows().get(1).get(0)) < 1e-9);
        assertEquals(2, new RdaRepair().run(setup).comparisons().size());
        for (final Comparison each : new RdaFigure12().run(setup).comparisons()) {
            assertTrue(each.here() > 0, each.line());
        }
    }

    @Test
    void shouldWriteTablesPlotsAndOneReport() throws IOException {
        final List<String> lines = new ArrayList<>();
        new PaperLaboratory().run(
            new Laboratory.Order(List.of("rli-ceiling"), true, 1, 0, false, directory), lines::add, line -> { });

        final String csv = Files.readString(directory.resolve("rli-ceiling-ceiling.csv"));
        final String svg = Files.readString(directory.resolve("rli-ceiling-ceiling.svg"));
        final String html = Files.readString(directory.resolve("report.html"));
        assertEquals(6, csv.lines().count(), csv);
        assertTrue(svg.contains("references, % of the link") && svg.contains("median relative error, %"), svg);
        assertTrue(html.contains("<svg") && html.contains("bin/flowlag lab all --seeds 1 --scale small"), html);
        assertFalse(html.contains("src=") || html.contains("href=\"http"), "the report needs something beside it");
        assertTrue(lines.contains("report: " + directory.resolve("report.html")), lines.toString());
    }

    @Test
    void shouldGiveTheSameOctetsForTheSameSeeds() {
        final Setup setup = new Setup(Scale.TEST, 2);
        final String first = new RliCeiling().run(setup).named("ceiling").csv();

        assertEquals(first, new RliCeiling().run(setup).named("ceiling").csv());
    }

    @Test
    void shouldLeaveOutWhatCannotBeDrawn() throws IOException {
        final Plot plot = new Plot("empty", "Empty").x("x, s", true).y("y, %", true);

        assertNull(PlotRenderer.svg(plot.add("absent", Plot.Style.LINE, new double[] {0, 1}, new double[] {1, Double.NaN})));
        assertTrue(PlotRenderer.svg(plot.add("one", Plot.Style.POINTS, new double[] {3}, new double[] {3})).contains("y, %"));
        assertEquals("x, %: paper 2 / here 1 / ratio 0.5000", new Comparison("x, %", 2, 1).line());
    }

    /** The judge on small captures: it sees every flow, and what this version promises of it holds. */
    @Test
    void shouldJudgeDelayOnHeldOutCaptures() {
        final Results results = new HeldOutExperiment().run(new Setup(Scale.TEST, 1));
        final String said = String.join("\n", results.notes());
        final Table flows = results.named("flows");

        for (final String settings : new String[] {"default", "joint"}) {
            assertTrue(flows.number("flows", "fifo-88", settings) > 1_500, said);
            assertTrue(flows.number("with mean %", "fifo-88", settings) >= 99.9, said + flows.csv());
            assertTrue(flows.number("bound holds %", "fifo-88", settings) >= 90, said + flows.csv());
            assertTrue(flows.number("loss exact %", "fifo-88", settings) > 80, said + flows.csv());
            assertEquals(flows.number("loss known %", "fifo-88", settings), flows.number("loss exact %", "fifo-88", settings),
                0.2, said + flows.csv());
            assertTrue(results.named("sizes").number("error %", "fifo-88", settings, "1") < 1, said + flows.csv());
        }
        assertEquals(10, results.named("sizes").rows().stream().filter(row -> row.get(1).equals("joint")).count());
        assertTrue(said.startsWith("seeds "), said);
    }

    /** Errors and costs in their order: what is exact is dear, what is cheap knows one mean, joint is the best of the rest. */
    @Test
    void shouldCompareEveryMethod() {
        final Table table = methods.named("load-88");
        final String error = "median error %";
        final String control = "control octets";

        assertEquals(0, table.number(error, "exact flow sums"), 1e-9, table.csv());
        assertEquals(0, table.number(error, "hash and timestamp"), 1e-9, table.csv());
        assertTrue(table.number(control, "hash and timestamp") > 5 * table.number(control, "exact flow sums"), table.csv());
        for (final String poor : new String[] {"global mean", "LDA, 2 x 512", "Poisson probes, 1000.0/s", "MPE, 1.0 %"}) {
            assertTrue(table.number(error, poor) > 5 * table.number(error, "RLI"), poor + "\n" + table.csv());
        }
        final String joint = table.rows().stream().map(row -> (String) row.get(0)).filter(name -> name.startsWith("joint"))
            .findFirst().orElseThrow();
        final String large = "median, 100 packets or more %";
        assertTrue(table.number(large, joint) < 0.5 * table.number(large, "RLI"), table.csv());
        assertTrue(table.number(error, joint) < table.number(error, "RLI"), table.csv());
        assertTrue(table.number(control, joint) < table.number(control, "exact flow sums") * 3, table.csv());
    }

    /** With loss, sums of flows fail where a packet is missing; timestamps do not. */
    @Test
    void shouldLoseFlowsOfExactSumsToLoss() {
        final Table table = methods.named("loss");

        assertTrue(table.number("flows without estimate %", "exact flow sums") > 0, table.csv());
        assertEquals(0, table.number("flows without estimate %", "hash and timestamp"), table.csv());
        assertEquals(0, table.number("median error %", "hash and timestamp"), 1e-9, table.csv());
    }
}
