package io.flowlag.tests.system.station;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * What {@code bin/soak --cluster [--kills N]} and {@code bin/soak --cluster --throughput [--records N]} run: every process of a
 * station on a cluster is killed so many times under load. Prints each kill, and how long it was until results came again; ends
 * with 1 if anything was doubled or lost.
 */
public final class ClusterKillsMain {
    private static final long KILLS = 20;
    private static final long RECORDS = 4_000_000;

    private ClusterKillsMain() {
    }

    /**
     * Runs.
     *
     * @param arguments as the type says.
     * @throws Exception if it could not be run.
     */
    public static void main(final String[] arguments) throws Exception {
        if (Arrays.asList(arguments).contains("--throughput")) {
            final long records = option(arguments, "--records", RECORDS);
            ClusterThroughput.measure(records, 1);
            ClusterThroughput.measure(records, 2);
        } else {
            kill(option(arguments, "--kills", KILLS));
        }
        System.exit(0);
    }

    private static long option(final String[] arguments, final String option, final long otherwise) {
        final int index = Arrays.asList(arguments).indexOf(option);
        return index < 0 ? otherwise : Long.parseLong(arguments[index + 1]);
    }

    private static void kill(final long kills) throws IOException {
        final Map<StationCluster.Victim, List<ClusterRun.Kill>> done = new EnumMap<>(StationCluster.Victim.class);
        final Path directory = Files.createTempDirectory("flowlag-cluster");
        System.out.println(directory);
        try (ClusterRun run = new ClusterRun(directory)) {
            for (int i = 0; i < kills; i++) {
                for (final StationCluster.Victim victim : StationCluster.Victim.values()) {
                    final ClusterRun.Kill kill = run.kill(victim);
                    System.out.println(i + 1 + " " + kill);
                    done.computeIfAbsent(victim, (each) -> new ArrayList<>()).add(kill);
                }
            }
            System.out.println(run.windows());
            done.forEach((victim, each) -> {
                final long[] ms = each.stream().mapToLong(ClusterRun.Kill::backMs).sorted().toArray();
                System.out.printf("%s: %d kills, back in %d ms (median), %d ms (most) %s%n", victim, ms.length,
                    ms[ms.length / 2], ms[ms.length - 1], Arrays.toString(ms));
            });
            System.out.println(run.ended() + " task managers ended without a kill; " + run.settle());
        }
    }
}
