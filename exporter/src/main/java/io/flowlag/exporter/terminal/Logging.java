package io.flowlag.exporter.terminal;

import io.flowlag.common.command.ExitCode;
import io.flowlag.common.command.ExitException;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import org.slf4j.LoggerFactory;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;

/**
 * Configures SLF4J's back end in code; no file is searched. Until {@link #configure} is called, warnings and errors go to
 * standard error. Called at start, and on reload, which reopens the file for log rotation.
 */
public final class Logging {
    private static final List<String> CHATTY_LIBRARIES = List.of("org.pcap4j", "net.openhft", "com.sun.jna", "org.eclipse.jetty");
    /** Held strongly, because the JDK's logging keeps loggers weakly and would lose the level. */
    private static final java.util.logging.Logger NATIVE_ACCESS = java.util.logging.Logger.getLogger("com.sun.jna");

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
        NATIVE_ACCESS.setLevel(java.util.logging.Level.OFF);
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
