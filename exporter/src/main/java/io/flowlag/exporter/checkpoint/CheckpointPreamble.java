package io.flowlag.exporter.checkpoint;

import org.agrona.concurrent.UnsafeBuffer;

import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;

/**
 * The beginning of a Chronicle Map's file: words of its own, the length of a text at 8, little-endian, and the text from 12 on.
 * The text names classes to instantiate, so it is checked before the map reads it. Stateless.
 */
final class CheckpointPreamble {
    /** Octets of a file that may matter. */
    static final int LIMIT_BYTES = 8192;

    private static final int LENGTH_OFFSET = 8;
    private static final int TEXT_OFFSET = 12;
    private static final String BEGIN = "!net.openhft.chronicle.map.VanillaChronicleMap {";
    private static final Pattern TYPE_NAME = Pattern.compile("!(type )?[^ ,\\n]*");
    private static final Pattern KNOWN_TYPE = Pattern.compile("!(type (long|byte\\[])|net\\.openhft\\.chronicle\\.[\\w.$]+)");

    private CheckpointPreamble() {
    }

    /** Whether a file with this beginning can be a checkpoint: every class that it names belongs to the map. */
    static boolean isSound(final byte[] begin, final int lengthBytes) {
        final int textLength = lengthBytes < TEXT_OFFSET ? 0 :
            new UnsafeBuffer(begin, 0, lengthBytes).getInt(LENGTH_OFFSET, ByteOrder.LITTLE_ENDIAN);
        if (textLength <= 0 || textLength > lengthBytes - TEXT_OFFSET) {
            return false;
        }
        final String text = new String(begin, TEXT_OFFSET, textLength, StandardCharsets.ISO_8859_1);
        return text.startsWith(BEGIN) &&
            TYPE_NAME.matcher(text).results().allMatch((name) -> KNOWN_TYPE.matcher(name.group()).matches());
    }
}
