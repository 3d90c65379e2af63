package io.flowlag.exporter.exchange.link;

import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedKeyManager;
import java.net.Socket;
import java.security.GeneralSecurityException;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.concurrent.CountDownLatch;

/** Has no key, and takes its time to say so. */
public final class StalledKeys extends X509ExtendedKeyManager {
    private final CountDownLatch mayEnd;

    private StalledKeys(final CountDownLatch mayEnd) {
        this.mayEnd = mayEnd;
    }

    /** For a server whose handshakes hang until they may end. */
    public static SSLContext context(final CountDownLatch mayEnd) throws GeneralSecurityException {
        final SSLContext context = SSLContext.getInstance("TLS");
        context.init(new KeyManager[] {new StalledKeys(mayEnd)}, null, null);
        return context;
    }

    @Override
    public String chooseEngineServerAlias(final String type, final Principal[] issuers, final SSLEngine engine) {
        try {
            mayEnd.await();
        } catch (final InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
        return null;
    }

    @Override
    public String[] getClientAliases(final String type, final Principal[] issuers) {
        return null;
    }

    @Override
    public String chooseClientAlias(final String[] types, final Principal[] issuers, final Socket socket) {
        return null;
    }

    @Override
    public String[] getServerAliases(final String type, final Principal[] issuers) {
        return null;
    }

    @Override
    public String chooseServerAlias(final String type, final Principal[] issuers, final Socket socket) {
        return null;
    }

    @Override
    public X509Certificate[] getCertificateChain(final String alias) {
        return null;
    }

    @Override
    public PrivateKey getPrivateKey(final String alias) {
        return null;
    }
}
