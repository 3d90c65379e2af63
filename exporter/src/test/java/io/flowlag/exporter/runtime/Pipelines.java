package io.flowlag.exporter.runtime;

import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ConfigTable;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.ExporterConfig.Threading;

import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import static org.junit.jupiter.api.Assertions.assertTrue;

/** How tests of whole pipelines configure one, and run it to its end. */
final class Pipelines {
    /** How long anything may take. */
    static final long DEADLINE_NS = TimeUnit.SECONDS.toNanos(60);

    private static final long PAUSE_NS = 100_000;

    private Pipelines() {
    }

    /** The defaults with a threading mode, and options in pairs of path and value. */
    static ExporterConfig config(final Threading threading, final String... options) {
        final ConfigLoader loader = new ConfigLoader()
            .option("--threading", ConfigTable.THREADING, List.of(threading.name().toLowerCase(Locale.ROOT)));
        for (int i = 0; i < options.length; i += 2) {
            loader.option("--set", ConfigTable.key(options[i]), List.of(options[i + 1]));
        }
        return loader.conclude();
    }

    /** Starts a pipeline and waits for its end. */
    static void runToEnd(final MeteringPipeline pipeline) {
        pipeline.start();
        awaitEnd(pipeline);
    }

    /** Waits for the end of a pipeline that was started, and works its stages where it has no threads. */
    static void awaitEnd(final MeteringPipeline pipeline) {
        final long deadlineNs = System.nanoTime() + DEADLINE_NS;
        while (!pipeline.isEnded() && System.nanoTime() - deadlineNs < 0) {
            if (pipeline.doWork() == 0) {
                LockSupport.parkNanos(PAUSE_NS);
            }
        }
        assertTrue(pipeline.isEnded(), "the pipeline did not end");
    }

    /** The error handler of a pipeline that must have no errors. */
    static void fail(final Throwable throwable) {
        throw new AssertionError(throwable);
    }
}
