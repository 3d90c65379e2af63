package io.flowlag.exporter.terminal;

import io.flowlag.common.command.ExitCode;
import io.flowlag.common.command.ExitException;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import org.slf4j.LoggerFactory;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import java.util.logging.LogManager;

/**
 * Configures SLF4J's back end in code; no file is searched. Until {@link #configure} is called, warnings and errors go to
 * standard error. Called at start, and on reload, which reopens the file for log rotation.
 */
public final class Logging {
    private static final List<String> CHATTY_LIBRARIES = List.of("org.pcap4j", "net.openhft", "com.sun.jna", "org.eclipse.jetty");

    private static LogFile openFile;

    private Logging() {
    }

    /**
     * Sets the level of the log and its file, standard error if the file is null. Throws an {@link ExitException} if the file
     * cannot be written.
     */
    public static void configure(final String levelName, final Path path, final Terminal terminal) {
        use(levelName, open(path, terminal), terminal);
    }

    /** The same with a file that is open, null for standard error: this does not fail. */
    public static synchronized void use(final String levelName, final LogFile file, final Terminal terminal) {
        final Level level = Level.toLevel(levelName);
        install((LoggerContext)LoggerFactory.getILoggerFactory(), level, file == null ? terminal::message : file,
            file != null || level == Level.DEBUG);
        if (openFile != null && file != null) {
            file.follow(openFile);
        } else if (openFile != null) {
            openFile.close();
        }
        openFile = file;
    }

    /** {@return whether the log goes to a file} */
    public static synchronized boolean isToFile() {
        return openFile != null;
    }

    /** Puts one appender into a context and silences libraries. */
    static void install(final LoggerContext context, final Level level, final Consumer<String> lines,
        final boolean withStackTraces) {
        context.reset();
        System.setProperty("java.util.logging.config.class", OfJdk.class.getName());
        for (final String library : CHATTY_LIBRARIES) {
            context.getLogger(library).setLevel(Level.OFF);
        }
        final LineAppender appender = new LineAppender(lines, withStackTraces);
        appender.setContext(context);
        appender.start();
        final Logger root = context.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
        root.setLevel(level);
        root.addAppender(appender);
    }

    /** Configures the JDK's own logging, which JNA uses, when that starts: a start without JNA does not wait for it. */
    public static final class OfJdk {
        /** Called by the JDK. */
        public OfJdk() throws IOException {
            LogManager.getLogManager().readConfiguration(new ByteArrayInputStream(
                "handlers=java.util.logging.ConsoleHandler\ncom.sun.jna.level=OFF\n".getBytes(StandardCharsets.US_ASCII)));
        }
    }

    /** Opens a file for {@link #use}, null for null; changes nothing. Throws an {@link ExitException} if it cannot be written. */
    public static LogFile open(final Path path, final Terminal terminal) {
        try {
            return path == null ? null : new LogFile(path, terminal);
        } catch (final IOException ex) {
            throw new ExitException(ExitCode.CANNOT_WRITE,
                path + ": the log cannot be written (" + OutputFiles.reason(ex) + "): check directory and mode, or log.file");
        }
    }
}
