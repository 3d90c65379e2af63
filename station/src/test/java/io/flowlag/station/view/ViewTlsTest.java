package io.flowlag.station.view;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Pages by TLS: for clients with a certificate that the view trusts, and for no others. */
class ViewTlsTest {
    private static final char[] PASSWORD = "password".toCharArray();

    @TempDir
    private Path directory;

    /** A key with a certificate of its own; the JDK's keytool makes it. */
    private KeyStore made(final String name) throws IOException, InterruptedException, GeneralSecurityException {
        final Path file = directory.resolve(name + ".p12");
        final Process keytool = new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "keytool").toString(), "-genkeypair", "-alias", name, "-keyalg", "EC",
            "-dname", "CN=" + name, "-ext", "SAN=IP:127.0.0.1", "-keystore", file.toString(), "-storetype", "PKCS12",
            "-storepass", new String(PASSWORD)).redirectErrorStream(true)
            .redirectOutput(directory.resolve("keytool.log").toFile()).start();
        assertEquals(0, keytool.waitFor());
        final KeyStore store = KeyStore.getInstance("PKCS12");
        try (InputStream stream = Files.newInputStream(file)) {
            store.load(stream, PASSWORD);
        }
        return store;
    }

    private static SSLContext context(final Optional<KeyStore> own, final KeyStore trusted, final String trustedName)
        throws IOException, GeneralSecurityException {
        KeyManager[] keys = null;
        if (own.isPresent()) {
            final KeyManagerFactory ofOwn = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            ofOwn.init(own.get(), PASSWORD);
            keys = ofOwn.getKeyManagers();
        }
        final KeyStore authorities = KeyStore.getInstance("PKCS12");
        authorities.load(null, null);
        authorities.setCertificateEntry(trustedName, trusted.getCertificate(trustedName));
        final TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(authorities);
        final SSLContext context = SSLContext.getInstance("TLS");
        context.init(keys, trust.getTrustManagers(), null);
        return context;
    }

    @Test
    void shouldAnswerClientsThatItTrusts() throws Exception {
        final KeyStore view = made("view");
        final KeyStore client = made("client");
        final Queue<Throwable> errors = new ConcurrentLinkedQueue<>();
        try (View served = new View(
            Samples.network(), new View.Settings(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), new ViewAccess(
                Optional.of(context(Optional.of(view), client, "client")), true, Optional.empty()),
            directory.resolve("history.db"), Optional.empty()),
            new View.Sources(Map::of, List::of), () -> Samples.START_NS, errors::add)) {
            final String uri = "//127.0.0.1:" + served.address().getPort() + "/api/segments";
            assertEquals(200, get("https:" + uri, context(Optional.of(client), view, "view")).statusCode());
            assertEquals(200, get("https:" + uri, context(Optional.of(client), view, "view")).statusCode());
            assertThrows(IOException.class, () -> get("https:" + uri, context(Optional.empty(), view, "view")));
            final KeyStore stranger = made("stranger");
            assertThrows(IOException.class, () -> get("https:" + uri, context(Optional.of(stranger), view, "view")));
            assertThrows(IOException.class, () -> get("http:" + uri, SSLContext.getDefault()));
            assertTrue(errors.isEmpty(), errors::toString);
        }
    }

    private static HttpResponse<String> get(final String uri, final SSLContext context) throws IOException, InterruptedException {
        return HttpClient.newBuilder().sslContext(context).build()
            .send(HttpRequest.newBuilder(URI.create(uri)).build(), HttpResponse.BodyHandlers.ofString());
    }
}
