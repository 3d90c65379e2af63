package io.flowlag.station.view;

import io.flowlag.common.file.FileAccess;
import io.flowlag.common.http.HttpServer;
import io.flowlag.common.http.HttpServer.Tls.Certificates;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import javax.net.ssl.SSLContext;

/**
 * Who may look. On loopback everybody, elsewhere by TLS those who have a certificate that is trusted, or the token. Immutable.
 *
 * @param tls             the view's own certificate, and trust in those of clients.
 * @param hasAuthorities  whether clients with a certificate may look.
 * @param token           what clients without one must know.
 */
public record ViewAccess(Optional<SSLContext> tls, boolean hasAuthorities, Optional<String> token) {
    /** For loopback. */
    public static final ViewAccess LOOPBACK = new ViewAccess(Optional.empty(), false, Optional.empty());

    private static final String TOKEN = "[A-Za-z0-9._~+/=-]{32,256}";
    private static final String MAKE_TOKEN = "make one with: (umask 077; openssl rand -hex 32 > FILE)";

    /**
     * Reads a token: one line of 32 to 256 characters that a header may have.
     *
     * @throws IOException with the fault and the way out.
     */
    public static String token(final Path file) throws IOException {
        final String fault = FileAccess.fault(file, true);
        if (fault != null) {
            throw new IOException(fault);
        }
        final String token = Files.readString(file, StandardCharsets.ISO_8859_1).strip();
        if (!token.matches(TOKEN)) {
            throw new IOException("holds no token of 32 to 256 letters, digits and . _ ~ + / = -: " + MAKE_TOKEN);
        }
        return token;
    }

    /** {@return TLS as the server has it} */
    Optional<HttpServer.Tls> server() {
        return tls.map((context) -> new HttpServer.Tls(context, !hasAuthorities ? Certificates.NONE :
            token.isPresent() ? Certificates.ASKED : Certificates.REQUIRED));
    }

    /** {@return why an address may not be listened on, with the way out} */
    public Optional<String> fault(final InetSocketAddress listen) {
        if (listen.getAddress().isLoopbackAddress()) {
            return Optional.empty();
        }
        if (tls.isEmpty()) {
            return Optional.of("without TLS pages are served on loopback only: listen on 127.0.0.1, or give view.tls a " +
                "certificate and its key");
        }
        return hasAuthorities || token.isPresent() ? Optional.empty() : Optional.of("anybody could look: give view.tls " +
            "authorities, whose certificates clients must have, or view.token");
    }
}
