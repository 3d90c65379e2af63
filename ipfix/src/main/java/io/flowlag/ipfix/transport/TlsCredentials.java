package io.flowlag.ipfix.transport;

import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509TrustManager;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.InvalidKeyException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.SecureRandom;
import java.security.Signature;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collection;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A private key, its certificate chain and the trusted authorities, read from PEM files by the JDK alone. Immutable, safe to
 * share between threads and transports. Allocates at construction.
 */
public final class TlsCredentials {
    private static final String[] PROTOCOLS = {"TLSv1.3", "TLSv1.2"};
    /** Of authentication, as the JDK names one that the suite does not tell. */
    private static final String ANY_METHOD = "UNKNOWN";
    private static final char[] NO_PASSWORD = new char[0];
    private static final Pattern PKCS8_KEY = Pattern.compile(
        "-----BEGIN PRIVATE KEY-----([A-Za-z0-9+/=\\s]*)-----END PRIVATE KEY-----");
    private static final Pattern OTHER_KEY = Pattern.compile("-----BEGIN ((?:RSA |EC |DSA |ENCRYPTED )PRIVATE KEY)-----");

    private final SSLContext context;
    private final X509TrustManager trust;
    /** Key, certificates and authorities: equal credentials have equal ones. */
    private final List<Object> contents;

    private TlsCredentials(final SSLContext context, final X509TrustManager trust, final List<Object> contents) {
        this.context = context;
        this.trust = trust;
        this.contents = contents;
    }

    /**
     * Reads the files.
     *
     * @param privateKeyFile  an unencrypted PKCS#8 key ({@code BEGIN PRIVATE KEY}).
     * @param certificateFile this side's certificate, then any intermediate ones.
     * @param authoritiesFile certificates of the authorities trusted for the peer.
     * @throws IOException if a file cannot be read or has the wrong content; the message names the file and the remedy.
     */
    public static TlsCredentials load(
        final Path privateKeyFile, final Path certificateFile, final Path authoritiesFile) throws IOException {
        final Certificate[] chain = certificates(certificateFile).toArray(new Certificate[0]);
        final PrivateKey key = privateKey(privateKeyFile, chain[0].getPublicKey(), certificateFile);
        try {
            final KeyStore own = emptyKeyStore();
            own.setKeyEntry("own", key, NO_PASSWORD, chain);
            final KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            keys.init(own, NO_PASSWORD);
            final KeyStore trusted = emptyKeyStore();
            final List<Certificate> authorities = certificates(authoritiesFile);
            for (final Certificate authority : authorities) {
                trusted.setCertificateEntry("authority-" + trusted.size(), authority);
            }
            final TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            trust.init(trusted);
            final SSLContext context = SSLContext.getInstance("TLS");
            context.init(keys.getKeyManagers(), trust.getTrustManagers(), new SecureRandom());
            return new TlsCredentials(
                context, (X509TrustManager)trust.getTrustManagers()[0], List.of(key, List.of(chain), authorities));
        } catch (final GeneralSecurityException ex) {
            throw new IOException("the credentials of " + privateKeyFile + ", " + certificateFile + " and " + authoritiesFile +
                " are of no use: " + ex.getMessage(), ex);
        }
    }

    /** {@return the context that makes TLS engines with these credentials} */
    public SSLContext context() {
        return context;
    }

    /**
     * An engine for the side that connects. The peer's certificate must name the host.
     *
     * @param peerName a DNS name or address that the peer's certificate must carry.
     * @return a new engine in client mode: TLS 1.2 or later, only suites with forward secrecy and authenticated encryption.
     */
    public SSLEngine clientEngine(final String peerName, final int port) {
        final SSLEngine engine = context.createSSLEngine(peerName, port);
        engine.setUseClientMode(true);
        final SSLParameters parameters = strongParameters(engine);
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        engine.setSSLParameters(parameters);
        return engine;
    }

    /**
     * An engine for the side that listens. The peer must show a certificate of a trusted authority. Returns a new engine in
     * server mode, as strict as {@link #clientEngine}.
     */
    public SSLEngine serverEngine() {
        final SSLEngine engine = context.createSSLEngine();
        engine.setUseClientMode(false);
        final SSLParameters parameters = strongParameters(engine);
        parameters.setNeedClientAuth(true);
        engine.setSSLParameters(parameters);
        return engine;
    }

    /**
     * Judges the peer of a session that was made with other credentials.
     *
     * @param engine whose handshake is complete.
     * @return whether its certificate is valid now and of an authority that these credentials trust.
     */
    public boolean trusts(final SSLEngine engine) {
        try {
            final X509Certificate[] chain = Arrays.stream(engine.getSession().getPeerCertificates())
                .map(X509Certificate.class::cast).toArray(X509Certificate[]::new);
            if (engine.getUseClientMode()) {
                trust.checkServerTrusted(chain, ANY_METHOD);
            } else {
                trust.checkClientTrusted(chain, ANY_METHOD);
            }
            return true;
        } catch (final GeneralSecurityException | SSLPeerUnverifiedException ex) {
            return false;
        }
    }

    @Override
    public boolean equals(final Object other) {
        return this == other || other instanceof TlsCredentials that && contents.equals(that.contents);
    }

    @Override
    public int hashCode() {
        return contents.hashCode();
    }

    /**
     * Checks the names in the peer's certificate.
     *
     * @param session of an engine whose handshake is complete.
     * @param allowed if not empty, the certificate must carry one of these DNS names or addresses.
     * @throws IOException if the certificate has no name, or none that is allowed.
     */
    public static void checkPeerNames(final SSLSession session, final List<String> allowed) throws IOException {
        new PeerNames(allowed).check(session);
    }

    /**
     * Reads certificates.
     *
     * @param file of the certificates of one end, or of authorities.
     * @return at least one.
     * @throws IOException if the file cannot be read or holds none; the message names the file.
     */
    public static List<Certificate> certificates(final Path file) throws IOException {
        try {
            final Collection<? extends Certificate> found =
                CertificateFactory.getInstance("X.509").generateCertificates(new ByteArrayInputStream(read(file)));
            if (found.isEmpty()) {
                throw new IOException(file + " holds no certificate (BEGIN CERTIFICATE)");
            }
            return List.copyOf(found);
        } catch (final GeneralSecurityException ex) {
            throw new IOException(file + " holds no readable certificate: " + ex.getMessage(), ex);
        }
    }

    private static SSLParameters strongParameters(final SSLEngine engine) {
        final SSLParameters parameters = engine.getSSLParameters();
        parameters.setProtocols(PROTOCOLS);
        parameters.setCipherSuites(strongSuites(engine.getSupportedCipherSuites()));
        return parameters;
    }

    static String[] strongSuites(final String[] suites) {
        return Arrays.stream(suites).filter(TlsCredentials::isStrong).toArray(String[]::new);
    }

    private static boolean isStrong(final String suite) {
        final boolean authenticatedEncryption = suite.contains("_GCM_") || suite.contains("_CHACHA20_");
        final boolean forwardSecrecy =
            suite.startsWith("TLS_AES_") || suite.startsWith("TLS_CHACHA20_") || suite.startsWith("TLS_ECDHE_");
        return authenticatedEncryption && forwardSecrecy && !suite.contains("_NULL_") && !suite.contains("_anon_");
    }

    private static KeyStore emptyKeyStore() throws GeneralSecurityException, IOException {
        final KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, NO_PASSWORD);
        return store;
    }

    private static PrivateKey privateKey(
        final Path file, final PublicKey publicKey, final Path certificateFile) throws IOException {
        final byte[] encoded = pkcs8(file);
        final PrivateKey key;
        try {
            key = KeyFactory.getInstance(publicKey.getAlgorithm()).generatePrivate(new PKCS8EncodedKeySpec(encoded));
        } catch (final GeneralSecurityException ex) {
            throw new IOException(file + " holds no " + publicKey.getAlgorithm() +
                " key, which the certificate of " + certificateFile + " is for", ex);
        }
        if (!belongTogether(key, publicKey)) {
            throw new IOException("the key of " + file + " is not the key of the certificate in " + certificateFile);
        }
        return key;
    }

    private static byte[] pkcs8(final Path file) throws IOException {
        final String text = new String(read(file), StandardCharsets.US_ASCII);
        final Matcher key = PKCS8_KEY.matcher(text);
        if (key.find()) {
            try {
                return Base64.getMimeDecoder().decode(key.group(1));
            } catch (final IllegalArgumentException ex) {
                throw new IOException(file + " holds a private key that is not Base64: " + ex.getMessage(), ex);
            }
        }
        final Matcher other = OTHER_KEY.matcher(text);
        if (other.find()) {
            throw new IOException(file + " holds a " + other.group(1) +
                "; convert it with: openssl pkcs8 -topk8 -nocrypt -in " + file + " -out KEY.pem");
        }
        throw new IOException(file + " holds no private key (BEGIN PRIVATE KEY)");
    }

    private static boolean belongTogether(final PrivateKey key, final PublicKey publicKey) throws IOException {
        final String algorithm = switch (publicKey.getAlgorithm()) {
            case "RSA" -> "SHA256withRSA";
            case "EC" -> "SHA256withECDSA";
            case "DSA" -> "SHA256withDSA";
            default -> publicKey.getAlgorithm();
        };
        try {
            final byte[] probe = {1, 2, 3, 4};
            final Signature signature = Signature.getInstance(algorithm);
            signature.initSign(key);
            signature.update(probe);
            final byte[] signed = signature.sign();
            signature.initVerify(publicKey);
            signature.update(probe);
            return signature.verify(signed);
        } catch (final InvalidKeyException ex) {
            return false;
        } catch (final GeneralSecurityException ex) {
            throw new IOException("keys of type " + publicKey.getAlgorithm() + " are not supported: " + ex.getMessage(), ex);
        }
    }

    private static byte[] read(final Path file) throws IOException {
        try {
            return Files.readAllBytes(file);
        } catch (final IOException ex) {
            throw new IOException("cannot read " + file + ": " + FileErrors.reason(ex), ex);
        }
    }
}
