package io.flowlag.exporter.command;

import io.flowlag.common.command.ExitCode;
import io.flowlag.common.command.ExitException;
import io.flowlag.exporter.config.KeyFile;
import io.flowlag.exporter.terminal.Terminal;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.concurrent.Callable;

/** {@code flowlag key}. */
@Command(name = "key", description = {
    "Writes a random key into a new file that only its owner may read.",
    "Copy it to the other host, and give both flowlag run --key FILE."})
final class KeyCommand implements Callable<Integer> {
    @Parameters(index = "0", paramLabel = "FILE", description = "File to make; one that is there is never replaced.")
    private Path file;

    private final Terminal terminal;

    KeyCommand(final Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        try {
            KeyFile.make(file);
        } catch (final FileAlreadyExistsException ex) {
            throw new ExitException(ExitCode.CANNOT_WRITE, "key: " + file + " is there already: name another file, or remove it");
        } catch (final NoSuchFileException ex) {
            throw new ExitException(ExitCode.CANNOT_WRITE, "key: " + file + ": no such directory: make it, or name another");
        } catch (final IOException ex) {
            throw new ExitException(ExitCode.CANNOT_WRITE, "key: " + file + " cannot be written: " + ex.getMessage());
        }
        terminal.message("key: copy " + file + " to the other host, by scp for example; give both flowlag run --key " + file);
        return ExitCode.DONE.number();
    }
}
