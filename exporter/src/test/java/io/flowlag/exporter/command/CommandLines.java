package io.flowlag.exporter.command;

import io.flowlag.common.command.ExitCode;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.listing.Listing;
import io.flowlag.exporter.runtime.collect.CollectOptions;
import io.flowlag.exporter.runtime.delay.DelayOptions;
import io.flowlag.exporter.terminal.Logging;
import io.flowlag.exporter.terminal.Terminal;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** Command lines, what they print, and what they would start. */
abstract class CommandLines {
    final ByteArrayOutputStream out = new ByteArrayOutputStream();
    final ByteArrayOutputStream err = new ByteArrayOutputStream();
    final Recorder recorder = new Recorder();

    @TempDir
    Path directory;

    /** Remembers what it was asked to start. */
    static final class Recorder implements ProcessStarter {
        ExporterConfig config;
        Supplier<ExporterConfig> reload;
        List<String> files;
        Listing listing;
        DelayOptions delayOptions;
        CollectOptions collectOptions;
        RuntimeException failure;
        Error error;
        ExitCode exitCode = ExitCode.DONE;
        Terminal terminal;
        Consumer<Terminal> work = (nothing) -> { };

        @Override
        public ExitCode run(
            final ExporterConfig newConfig, final Supplier<ExporterConfig> newReload, final Listing newListing,
            final Terminal terminal) {
            reload = newReload;
            listing = newListing;
            return end(newConfig);
        }

        @Override
        public ExitCode selfTest(final ExporterConfig newConfig, final List<String> newFiles, final Terminal terminal) {
            files = newFiles;
            return end(newConfig);
        }

        @Override
        public ExitCode meter(
            final ExporterConfig newConfig, final List<String> newFiles, final Listing newListing, final Terminal terminal) {
            files = newFiles;
            listing = newListing;
            return end(newConfig);
        }

        @Override
        public ExitCode delay(final ExporterConfig newConfig, final DelayOptions newOptions, final Terminal terminal) {
            delayOptions = newOptions;
            return end(newConfig);
        }

        @Override
        public ExitCode collect(
            final ExporterConfig newConfig, final CollectOptions newOptions, final Terminal terminal) {
            collectOptions = newOptions;
            return end(newConfig);
        }

        @Override
        public ExitCode demo(final ExporterConfig newConfig, final Terminal terminal) {
            return end(newConfig);
        }

        private ExitCode end(final ExporterConfig newConfig) {
            config = newConfig;
            if (failure != null) {
                throw failure;
            }
            if (error != null) {
                throw error;
            }
            work.accept(terminal);
            return exitCode;
        }
    }

    @AfterEach
    void restoreLog() {
        Logging.configure("WARN", null, Terminal.system());
    }

    final int main(final String... arguments) {
        return main(new PrintStream(out, false, StandardCharsets.UTF_8), arguments);
    }

    final int main(final PrintStream results, final String... arguments) {
        err.reset();
        recorder.terminal = new Terminal(results, new PrintStream(err, true, StandardCharsets.UTF_8), false);
        return new Main(recorder, recorder.terminal).run(arguments);
    }

    final Path write(final String yaml) throws IOException {
        return Files.writeString(directory.resolve("flowlag.yaml"), yaml);
    }

    final String output() {
        return out.toString(StandardCharsets.UTF_8);
    }

    final String errors() {
        return err.toString(StandardCharsets.UTF_8);
    }
}
