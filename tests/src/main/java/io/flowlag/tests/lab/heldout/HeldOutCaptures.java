package io.flowlag.tests.lab.heldout;

import io.flowlag.tests.lab.report.Experiment;
import io.flowlag.tests.lab.report.Results;
import io.flowlag.tests.lab.report.Setup;
import io.flowlag.tests.lab.report.Table;

import java.util.List;

/** The captures of {@link HeldOutExperiment} as files, with the truth of every flow: one pair for each path and seed. */
public final class HeldOutCaptures implements Experiment {
    @Override
    public void run(final Setup setup, final Results results) {
        final long firstSeed = HeldOutExperiment.firstSeed(setup);
        final List<HeldOutPath> paths = System.getProperty(HeldOutExperiment.PATHS_PROPERTY) == null ?
            List.of(HeldOutPath.FIFO_88) : HeldOutExperiment.paths();
        final Table table = results.table("captures", "Captures of 4 s", "path", "seed", "flows", "packets",
            "lost", "capacity bit/s");
        for (final HeldOutPath path : paths) {
            for (int i = 0; i < setup.seeds(); i++) {
                final long seed = firstSeed + i;
                final int flows = HeldOutExperiment.flows(setup, path);
                final HeldOutTrace trace = new HeldOutTrace(path, flows, seed);
                table.row(path.label(), seed, flows, trace.packets(), trace.lostPackets(), trace.capacityBps());
                final String name = path.label() + "-" + seed;
                results.output(name + "-sender.pcapng", file -> {
                    final HeldOutTrace again = new HeldOutTrace(path, flows, seed);
                    again.writeCaptures(file, file.resolveSibling(file.getFileName().toString().replace("sender", "receiver")));
                    again.writeTruth(file.resolveSibling(file.getFileName().toString().replace("sender.pcapng", "truth.csv")));
                });
            }
        }
        results.note("The receiver's capture and truth.csv are next to the sender's capture.");
    }
}
