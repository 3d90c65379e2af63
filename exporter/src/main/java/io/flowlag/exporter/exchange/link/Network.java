package io.flowlag.exporter.exchange.link;

import java.io.Closeable;
import java.io.IOException;
import java.net.InetSocketAddress;

/** Where connections come from: {@link TcpChannel#NETWORK} in a process. It never blocks. Allocates per connection. */
interface Network {
    /** Begins to connect; {@link PeerChannel#isReady} tells when that is done, or throws if it fails. */
    PeerChannel connect(InetSocketAddress address) throws IOException;

    /** Binds a port. */
    Port listen(InetSocketAddress address) throws IOException;

    /** A port that listens. */
    interface Port extends Closeable {
        /** {@return the next connection, owned by the caller; null if none waits} */
        PeerChannel accept() throws IOException;
    }
}
