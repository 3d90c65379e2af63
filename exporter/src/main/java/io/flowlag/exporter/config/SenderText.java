package io.flowlag.exporter.config;

import io.flowlag.common.config.BadValueException;
import io.flowlag.common.config.Prefix;
import io.flowlag.common.config.ValueType;
import io.flowlag.exporter.config.ExporterConfig.Sender;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A sender of references as text: {@code SESSION@ADDRESS?key-file=PATH&source=PREFIX,PREFIX}. Has no state. */
final class SenderText {
    private static final Pattern SYNTAX = Pattern.compile("([0-9]{1,5})@([^?/]+)(?:\\?(.*))?");
    private static final String KEY_FILE = "key-file=";
    private static final ValueType<Path> KEY_FILE_PATH = ValueTypes.path();
    private static final String SOURCE = "source=";
    private static final int MAXIMUM_SESSION = 0xFFFF;

    private SenderText() {
    }

    static Sender parse(final String text) throws BadValueException {
        final Matcher matcher = SYNTAX.matcher(text);
        if (!matcher.matches()) {
            throw new BadValueException("is no sender: write SESSION@ADDRESS, as 1@192.0.2.1?source=10.1.0.0/16");
        }
        final int session = Integer.parseInt(matcher.group(1));
        if (session < 1 || session > MAXIMUM_SESSION) {
            throw new BadValueException("has no session of 1 to " + MAXIMUM_SESSION);
        }
        Path keyFile = null;
        final List<Prefix> sources = new ArrayList<>();
        for (final String part : matcher.group(3) == null ? new String[0] : matcher.group(3).split("&")) {
            if (part.startsWith(KEY_FILE) && part.length() > KEY_FILE.length()) {
                keyFile = KEY_FILE_PATH.parse(part.substring(KEY_FILE.length()));
            } else if (part.startsWith(SOURCE)) {
                for (final String prefix : part.substring(SOURCE.length()).split(",")) {
                    sources.add(Prefix.parse(prefix));
                }
            } else {
                throw new BadValueException("has '" + part + "': there are key-file=PATH and source=PREFIX,PREFIX");
            }
        }
        return new Sender(session, Prefix.parse(matcher.group(2)), keyFile, List.copyOf(sources));
    }
}
