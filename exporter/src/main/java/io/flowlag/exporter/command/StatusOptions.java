package io.flowlag.exporter.command;

import io.flowlag.common.command.ExitCode;
import io.flowlag.common.command.ExitException;
import io.flowlag.exporter.monitoring.StatusFileReader;
import io.flowlag.exporter.monitoring.StatusFiles;
import io.flowlag.exporter.monitoring.StatusSnapshot;
import picocli.CommandLine.Option;

import java.nio.file.Path;

/** Which running process is meant. */
final class StatusOptions {
    @Option(names = "--file", paramLabel = "FILE", description = "The status file of the process. Default: that of the only " +
        "one that runs.")
    private Path file;

    @Option(names = "--pid", paramLabel = "N", description = "Number of the process, where several run.")
    private long pid;

    /** {@return the file, opened} */
    StatusFileReader open() {
        if (file != null && pid != 0) {
            throw new ExitException(ExitCode.USAGE, "--file and --pid contradict each other: leave one out");
        }
        return new StatusFileReader(file != null ? file : new StatusFiles().find(pid));
    }

    /** {@return the newest state of a process that lives} */
    static StatusSnapshot living(final StatusFileReader reader) {
        final String silence = reader.silence(System.currentTimeMillis());
        if (silence != null) {
            throw new ExitException(ExitCode.NO_INPUT, silence);
        }
        final StatusSnapshot snapshot = reader.read();
        if (snapshot == null) {
            throw new ExitException(ExitCode.NO_INPUT, "process " + reader.pid() + " starts and has no state yet: try again");
        }
        return snapshot;
    }
}
