package io.flowlag.ipfix.transport;

import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.security.cert.Certificate;
import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.regex.Pattern;

/**
 * The explicit list of peers of RFC 7011 section 11.3, in addition to the TLS engine's check of the host name. It also requires a
 * subject alternative name in the certificate, where the engine accepts a common name. Called by the transport's thread, once a
 * handshake; allocates while reading the certificate.
 */
final class PeerNames {
    private static final int DNS_NAME = 2;
    private static final int IP_ADDRESS = 7;
    private static final Pattern IPV6_ADDRESS = Pattern.compile("[0-9A-Fa-f]*:[0-9A-Fa-f:.]*");

    private final List<String> allowed;

    PeerNames(final List<String> allowed) {
        this.allowed = allowed.stream().map(PeerNames::asInCertificates).toList();
    }

    /** Normalises an IPv6 address to the form that the JDK gives for certificates. */
    private static String asInCertificates(final String name) {
        try {
            return IPV6_ADDRESS.matcher(name).matches() ? InetAddress.getByName(name).getHostAddress() : name;
        } catch (final UnknownHostException ex) {
            return name;
        }
    }

    void check(final SSLSession session) throws IOException {
        final Certificate certificate = session.getPeerCertificates()[0];
        final List<String> names = names(certificate);
        if (names.isEmpty()) {
            throw new SSLPeerUnverifiedException("the peer's certificate names no DNS name or address (SAN)");
        }
        if (!allowed.isEmpty() && names.stream().noneMatch(this::isAllowed)) {
            throw new SSLPeerUnverifiedException("the peer's certificate is for " + names + ", allowed are " + allowed);
        }
    }

    private boolean isAllowed(final String name) {
        return allowed.stream().anyMatch(name::equalsIgnoreCase);
    }

    private static List<String> names(final Certificate certificate) throws IOException {
        final List<String> names = new ArrayList<>();
        try {
            final Collection<List<?>> all =
                certificate instanceof X509Certificate ? ((X509Certificate)certificate).getSubjectAlternativeNames() : null;
            for (final List<?> entry : all == null ? List.<List<?>>of() : all) {
                final int kind = (Integer)entry.get(0);
                if (kind == DNS_NAME || kind == IP_ADDRESS) {
                    names.add((String)entry.get(1));
                }
            }
        } catch (final CertificateParsingException ex) {
            throw new IOException("the peer's certificate cannot be read", ex);
        }
        return names;
    }
}
