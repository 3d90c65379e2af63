package io.flowlag.exporter.exchange.link;

import io.flowlag.exporter.exchange.wire.SharedKey;
import io.flowlag.ipfix.transport.TlsCredentials;

import java.util.List;

/**
 * How an end of the exchange authenticates its peer. Without TLS and key it is limited to loopback.
 *
 * @param tls          this end's credentials; null for plain TCP.
 * @param peerName     DNS name or address that the receiver's certificate must carry; null for its host.
 * @param allowedPeers names of which the peer's certificate must carry one; empty for any trusted certificate.
 * @param key          of both ends, authenticates and encrypts; null for none.
 */
public record PeerSecurity(TlsCredentials tls, String peerName, List<String> allowedPeers, SharedKey key) {
    boolean isNone() {
        return tls == null && key == null;
    }
}
