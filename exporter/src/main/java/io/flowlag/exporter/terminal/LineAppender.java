package io.flowlag.exporter.terminal;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.AppenderBase;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.function.Consumer;

/**
 * Writes a log event as one line: time in UTC, level, message; a stack trace only on request. Of warnings and errors of one kind
 * at most {@link LineLimit#LINES} a minute are written; the next one reports how many were omitted. Any thread may log; the base
 * class serializes.
 */
final class LineAppender extends AppenderBase<ILoggingEvent> {
    private final Consumer<String> lines;
    private final boolean withStackTraces;
    private final LineLimit limit = new LineLimit();

    LineAppender(final Consumer<String> lines, final boolean withStackTraces) {
        this.lines = lines;
        this.withStackTraces = withStackTraces;
    }

    @Override
    protected void append(final ILoggingEvent event) {
        final StringBuilder text = new StringBuilder(128);
        if (event.getLevel().isGreaterOrEqual(Level.WARN)) {
            final String kind = event.getLoggerName() + ' ' + event.getMessage();
            if (!limit.allows(kind, event.getTimeStamp())) {
                return;
            }
            final long leftOut = limit.takeLeftOut(kind);
            if (leftOut > 0) {
                text.append(Instant.ofEpochMilli(event.getTimeStamp()).truncatedTo(ChronoUnit.MILLIS)).append(' ')
                    .append(padded(event.getLevel())).append(' ').append(leftOut).append(" lines like the next were left out\n");
            }
        }
        text.append(Instant.ofEpochMilli(event.getTimeStamp()).truncatedTo(ChronoUnit.MILLIS)).append(' ');
        text.append(padded(event.getLevel())).append(' ').append(event.getFormattedMessage());
        if (event.getThrowableProxy() != null) {
            if (withStackTraces) {
                text.append('\n').append(ThrowableProxyUtil.asString(event.getThrowableProxy()).stripTrailing());
            } else {
                text.append(": ").append(event.getThrowableProxy().getClassName()).append(": ")
                    .append(event.getThrowableProxy().getMessage());
            }
        }
        lines.accept(text.toString());
    }

    private static String padded(final Level level) {
        return level.levelStr.length() == 4 ? level.levelStr + " " : level.levelStr;
    }
}
