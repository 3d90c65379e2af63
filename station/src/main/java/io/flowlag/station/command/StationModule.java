package io.flowlag.station.command;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.flowlag.common.command.CommandModule;
import org.slf4j.LoggerFactory;

/** Gives the command line {@code flowlag station}. */
public final class StationModule implements CommandModule {
    @Override
    public String name() {
        return "station";
    }

    @Override
    public Object command(final Surroundings surroundings) {
        // What Flink warns of concerns clusters.
        if (LoggerFactory.getLogger("org.apache") instanceof Logger logger) {
            logger.setLevel(Level.ERROR);
        }
        return new StationCommand(surroundings);
    }
}
