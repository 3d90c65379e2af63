package io.flowlag.exporter.exchange.link;

import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.exchange.wire.SharedKey;
import io.flowlag.ipfix.transport.TlsCredentials;

import java.io.IOException;
import java.util.List;

/**
 * How an end of the exchange authenticates its peer. Without TLS and key it is limited to loopback.
 *
 * @param tls          this end's credentials; null for plain TCP.
 * @param peerName     DNS name or address that the receiver's certificate must carry; null for its host.
 * @param allowedPeers names of which the peer's certificate must carry one; empty for any trusted certificate.
 * @param keys         of both ends, authenticate and encrypt: the current one and any next one; empty for none.
 */
public record PeerSecurity(TlsCredentials tls, String peerName, List<String> allowedPeers, List<SharedKey> keys) {
    /**
     * Reads the files that a configuration names.
     *
     * @throws IOException if one cannot be read or has invalid contents; the message names it.
     */
    static PeerSecurity read(final ExporterConfig.Exchange exchange) throws IOException {
        final ExporterConfig.Tls tls = exchange.tls();
        return new PeerSecurity(
            tls == null ? null : TlsCredentials.load(tls.key(), tls.certificate(), tls.trust()), null,
            tls == null ? List.of() : tls.peers(), exchange.keyFile() == null ? List.of() : SharedKey.load(exchange.keyFile()));
    }

    boolean isNone() {
        return tls == null && keys.isEmpty();
    }
}
