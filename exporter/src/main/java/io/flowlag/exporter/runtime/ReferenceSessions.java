package io.flowlag.exporter.runtime;

import io.flowlag.common.command.ExitException;
import io.flowlag.common.config.Prefix;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.KeyFile;
import io.flowlag.rli.reference.ReferenceSession;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The sessions of reference packets, one per class, as both ends configure them. */
public final class ReferenceSessions {
    private static final int LEAST_KEY_BYTES = 16;
    private static final String REMEDY = "32 or more hexadecimal digits, as flowlag key writes";

    private ReferenceSessions() {
    }

    /**
     * The sessions of a configuration.
     *
     * @param rli with the first session, the classes and the key.
     * @return a session for each class; with senders, for each sender and class.
     * @throws ExitException if the key file cannot be read or holds no key; the message names it.
     */
    public static List<ReferenceSession> of(final ExporterConfig.Rli rli) {
        final List<ReferenceSession> sessions = new ArrayList<>();
        if (rli.references().senders().isEmpty()) {
            add(sessions, rli.references().session(), rli.classCount(), rli.references().keyFile(), "rli.key-file", null);
        }
        for (final ExporterConfig.Sender sender : rli.references().senders()) {
            final boolean hasKey = sender.keyFile() != null;
            add(sessions, sender.session(), rli.classCount(), hasKey ? sender.keyFile() : rli.references().keyFile(),
                hasKey ? "rli.senders: key-file" : "rli.key-file", sender.address());
        }
        return sessions;
    }

    /** {@return the fault of a key's file; null if there is none} */
    static String fault(final Path file) {
        return KeyFile.fault(file, KeyFile.MOST_KEYS, LEAST_KEY_BYTES, Integer.MAX_VALUE, REMEDY);
    }

    private static void add(
        final List<ReferenceSession> sessions, final int first, final int count, final Path keyFile, final String keyName,
        final Prefix address) {
        final List<byte[]> keys =
            keyFile == null ? List.of() :
            KeyFile.read(keyName, keyFile, KeyFile.MOST_KEYS, LEAST_KEY_BYTES, Integer.MAX_VALUE, REMEDY);
        for (int i = 0; i < count; i++) {
            final ReferenceSession session = ReferenceSession.unauthenticated(first + i).withKeys(keys);
            sessions.add(address == null ? session : session.from(address.high(), address.low()));
        }
    }
}
