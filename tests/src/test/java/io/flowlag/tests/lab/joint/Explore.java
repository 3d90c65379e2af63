package io.flowlag.tests.lab.joint;
import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.joint.*;
import java.lang.management.ManagementFactory;
import java.util.*;
final class Explore {
    public static void main(final String[] args) {
        final Map<String, Scenario> m = new LinkedHashMap<>();
        m.put("f20", Scenario.queue(.2)); m.put("f55", Scenario.queue(.55)); m.put("f70", Scenario.queue(.7)); m.put("f88", Scenario.queue(.88));
        m.put("2q", Scenario.twoQueues()); m.put("w", Scenario.weibull());
        m.put("l1", Scenario.lossy(.001)); m.put("l5", Scenario.lossy(.005)); m.put("l10", Scenario.lossy(.01));
        final int flows = Integer.getInteger("flows", 200_000);
        final int from = Integer.getInteger("from", 1), to = Integer.getInteger("to", 2);
        for (final String key : args[0].split(",")) for (final String c : args[1].split(",")) {
            final Scenario s = m.get(key);
            final SketchGeometry g = SketchGeometry.lds(4, (int)(flows * Double.parseDouble(c) / 4), s.vldaLength(), s.ratesPpm());
            final Interval iv = new Interval(g, flows);
            final JointEstimator e = new JointEstimator(iv.problem);
            for (int seed = from; seed <= to; seed++) {
                final long t0 = System.nanoTime();
                final Traffic t = new Traffic(s, flows, seed);
                iv.take(t);
                final long t1 = System.nanoTime();
                final long c0 = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
                e.solve(iv.problem, Boolean.getBoolean("fast") ? JointTier.FAST : JointTier.FULL);
                final double cpu = (ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - c0) / 1e9;
                final double[] x = new double[flows], b = new double[flows];
                for (int i = 0; i < iv.problem.flows(); i++) { x[i] = e.meanNs(i); b[i] = e.boundNs(i); }
                System.out.printf("== %s c=%s seed %d lab %.1fs packets %d flows %d witnesses %d cpu %.2fs chi %.3f %n", s.name(), c, seed, (t1 - t0) / 1e9, t.packets, iv.problem.flows(), iv.problem.witnesses(), cpu, e.health());
                
                
                
                if (seed < to && !Boolean.getBoolean("all") || e.status() == JointStatus.NONE) continue;
                for (int k = 0; k < Score.SIZE_LIMITS.length + 1; k++) {
                    final boolean all = k == Score.SIZE_LIMITS.length - 1;
                    final boolean big = k == Score.SIZE_LIMITS.length;
                    final Score r = new Score(iv, x, b, big ? 100 : Score.SIZE_LIMITS[all ? 0 : k], all || big ? Integer.MAX_VALUE : Score.SIZE_LIMITS[k + 1]);
                    String bad = "";
                    for (int q = 0; q < 3; q++) {
                        final double best = Math.min(r.rliNs[q], r.ldsNs[q]);
                        if (r.jointNs[q] > best + Math.max(.05 * best, 1000)) bad += String.format(" WORSE q%d %.0f>%.0f", q, r.jointNs[q], best);
                    }
                    System.out.printf("  %6s n=%6d rel J %.5f R %.4f L %.4f | us J %.3f %.3f %.3f R %.2f %.2f %.2f L %.2f %.2f %.2f | cov %.3f width %.1f quarter %.1f %s%n", all ? "all" : big ? ">=100" : "" + Score.SIZE_LIMITS[k], r.flows,
                        r.jointRelative, r.rliRelative, r.ldsRelative, r.jointNs[0] / 1e3, r.jointNs[1] / 1e3, r.jointNs[2] / 1e3, r.rliNs[0] / 1e3, r.rliNs[1] / 1e3, r.rliNs[2] / 1e3, r.ldsNs[0] / 1e3, r.ldsNs[1] / 1e3, r.ldsNs[2] / 1e3, r.coverage, r.halfWidthRatio, r.quarterRatio, bad);
                }
            }
        }
    }
}
