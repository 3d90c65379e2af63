package io.flowlag.tests.lab.network;

import io.flowlag.tests.lab.report.NamedExperiment;
import io.flowlag.tests.lab.report.Results;
import io.flowlag.tests.lab.report.Setup;

/** Alarms of rises, on means of windows of quiet queues: false ones, and how late those of a rise are. */
public final class NetworkAlarms extends NamedExperiment {
    private static final double RISE = 3;

    /** The experiment. */
    public NetworkAlarms() {
        super("network-alarms", "network: windows", "false alarms of stationary queues, and how soon rises are told");
    }

    @Override
    public void run(final Setup setup, final Results results) {
        final AlarmTrial trial = new AlarmTrial(QueueTrial.quiet(setup.size(12, 30, 30), setup.size(12, 40, 80)));
        final int windows = setup.size(80_000, 3_000_000, 10_000_000);
        final int[] delays = trial.delays(RISE, setup.size(5, 51, 201));
        results.table("alarms", "Alarms of rises, on means of windows of quiet queues in blocks", "windows", "false alarms",
            "windows until a rise of 3 sigma: median", "90 %", "deviations that 99 % of the means are below", "99.9 %")
            .row(windows, trial.falseAlarms(windows), delays[delays.length / 2], delays[delays.length * 9 / 10],
                trial.quantile(0.99), trial.quantile(0.999));
    }
}
