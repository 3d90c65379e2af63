package io.flowlag.exporter.terminal;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.Configurator;
import ch.qos.logback.classic.spi.ConfiguratorRank;
import ch.qos.logback.core.spi.ContextAwareBase;

/** Gives Logback its first configuration without a search for files; named in META-INF/services. */
@ConfiguratorRank(ConfiguratorRank.CUSTOM_TOP_PRIORITY)
public final class LogStart extends ContextAwareBase implements Configurator {
    /** Called by Logback. */
    public LogStart() {
    }

    @Override
    public ExecutionStatus configure(final LoggerContext context) {
        Logging.install(context, Level.WARN, Terminal.system()::message, false);
        return ExecutionStatus.DO_NOT_INVOKE_NEXT_IF_ANY;
    }
}
