package io.flowlag.exporter.terminal;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.LogbackServiceProvider;
import ch.qos.logback.classic.util.LogbackMDCAdapter;

/**
 * Connects SLF4J to Logback by name, configured by {@link Logging}. Logback's own search for configurations takes a tenth of a
 * start.
 */
public final class LogProvider extends LogbackServiceProvider {
    private static final String PROVIDER_PROPERTY = "slf4j.provider";
    private static final String VERBOSITY_PROPERTY = "slf4j.internal.verbosity";

    /** Called by SLF4J. */
    public LogProvider() {
    }

    /** Registers this provider; to be called before the first logger is requested. */
    public static void use() {
        System.setProperty(PROVIDER_PROPERTY, LogProvider.class.getName());
        System.setProperty(VERBOSITY_PROPERTY, "WARN");
    }

    @Override
    public void initialize() {
        final LoggerContext context = (LoggerContext)getLoggerFactory();
        context.setName("default");
        context.setMDCAdapter((LogbackMDCAdapter)getMDCAdapter());
        Logging.install(context, Level.WARN, Terminal.system()::message, false);
        context.start();
    }
}
