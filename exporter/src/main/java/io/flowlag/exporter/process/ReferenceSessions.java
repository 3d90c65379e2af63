package io.flowlag.exporter.process;

import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.console.ExitCode;
import io.flowlag.exporter.console.ExitException;
import io.flowlag.rli.reference.ReferenceSession;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/** The sessions of reference packets, one a class, as both ends configure them. */
final class ReferenceSessions {
    private static final int LEAST_KEY_BYTES = 16;

    private ReferenceSessions() {
    }

    /**
     * The sessions of a configuration.
     *
     * @param rli with the first session, the classes and the key.
     * @return a session for each class.
     * @throws ExitException if the key file cannot be read or holds no key; the message names it.
     */
    static List<ReferenceSession> of(final ExporterConfig.Rli rli) {
        final byte[] key = rli.keyFile() == null ? null : key(rli.keyFile());
        final List<ReferenceSession> sessions = new ArrayList<>();
        for (int i = 0; i < rli.classCount(); i++) {
            final int ssid = rli.session() + i;
            sessions.add(
                key == null ? ReferenceSession.unauthenticated(ssid) : ReferenceSession.authenticated(ssid, key));
        }
        return sessions;
    }

    private static byte[] key(final Path file) {
        try {
            final byte[] octets = HexFormat.of().parseHex(Files.readString(file).strip());
            if (octets.length >= LEAST_KEY_BYTES) {
                return octets;
            }
        } catch (final IOException | IllegalArgumentException ex) {
            throw new ExitException(ExitCode.CONFIGURATION, noKey(file));
        }
        throw new ExitException(ExitCode.CONFIGURATION, noKey(file));
    }

    private static String noKey(final Path file) {
        return "rli.key-file=" + file + ": holds no key: write 32 or more hexadecimal digits, as openssl rand -hex 32 prints";
    }
}
