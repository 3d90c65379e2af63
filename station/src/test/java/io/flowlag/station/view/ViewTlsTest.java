package io.flowlag.station.view;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.HashMap;
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

/** Who may look: by TLS those with a certificate that the view trusts, or with the token, and no others. */
class ViewTlsTest {
    private static final char[] PASSWORD = "password".toCharArray();

    private static final Map<String, KeyStore> STORES = new HashMap<>();
    @TempDir
    private static Path keys;

    @TempDir
    private Path directory;
    private final Queue<Throwable> errors = new ConcurrentLinkedQueue<>();

    /** A key with a certificate of its own, the same for all tests; the JDK's keytool makes it. */
    private static KeyStore made(final String name) throws IOException, InterruptedException, GeneralSecurityException {
        final KeyStore before = STORES.get(name);
        return before == null ? make(name) : before;
    }

    private static KeyStore make(final String name) throws IOException, InterruptedException, GeneralSecurityException {
        final Path file = keys.resolve(name + ".p12");
        final Process keytool = new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "keytool").toString(), "-genkeypair", "-alias", name, "-keyalg", "EC",
            "-dname", "CN=" + name, "-ext", "SAN=IP:127.0.0.1", "-keystore", file.toString(), "-storetype", "PKCS12",
            "-storepass", new String(PASSWORD)).redirectErrorStream(true)
            .redirectOutput(keys.resolve("keytool.log").toFile()).start();
        assertEquals(0, keytool.waitFor());
        final KeyStore store = KeyStore.getInstance("PKCS12");
        try (InputStream stream = Files.newInputStream(file)) {
            store.load(stream, PASSWORD);
        }
        STORES.put(name, store);
        return store;
    }

    private static SSLContext context(final Optional<KeyStore> own, final KeyStore trusted, final String trustedName)
        throws IOException, GeneralSecurityException {
        KeyManager[] managers = null;
        if (own.isPresent()) {
            final KeyManagerFactory ofOwn = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            ofOwn.init(own.get(), PASSWORD);
            managers = ofOwn.getKeyManagers();
        }
        final KeyStore authorities = KeyStore.getInstance("PKCS12");
        authorities.load(null, null);
        authorities.setCertificateEntry(trustedName, trusted.getCertificate(trustedName));
        final TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(authorities);
        final SSLContext context = SSLContext.getInstance("TLS");
        context.init(managers, trust.getTrustManagers(), null);
        return context;
    }

    @Test
    void shouldAnswerClientsThatItTrusts() throws Exception {
        final KeyStore view = made("view");
        final KeyStore client = made("client");
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

    private static HttpResponse<String> get(final String uri, final SSLContext context, final String... headers)
        throws IOException, InterruptedException {
        final HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(uri));
        return HttpClient.newBuilder().sslContext(context).build().send(
            (headers.length == 0 ? request : request.headers(headers)).build(), HttpResponse.BodyHandlers.ofString());
    }

    private View served(final ViewAccess access) throws IOException {
        return new View(Samples.network(), new View.Settings(new InetSocketAddress("0.0.0.0", 0), access,
            directory.resolve("history.db"), Optional.empty()), new View.Sources(Map::of, List::of), () -> Samples.START_NS,
            errors::add);
    }

    private static String uri(final View view) throws IOException {
        return "https://127.0.0.1:" + view.address().getPort();
    }

    @Test
    void shouldAnswerThoseWhoKnowTheToken() throws Exception {
        final KeyStore own = made("view");
        final String token = "0123456789abcdef0123456789abcdef";
        final SSLContext stranger = context(Optional.empty(), own, "view");
        try (View view = served(new ViewAccess(Optional.of(context(Optional.of(own), own, "view")), false, Optional.of(token)))) {
            final String uri = uri(view);
            for (final String path : List.of("/api/segments", "/metrics", "/pages.js", "/uplot.js", "/", "/login")) {
                final HttpResponse<String> refused = get(uri + path, stranger);
                assertEquals(401, refused.statusCode(), path);
                assertEquals("Bearer realm=\"flowlag\"", refused.headers().firstValue("WWW-Authenticate").orElse(""));
                assertTrue(refused.headers().firstValue("Set-Cookie").isEmpty());
            }
            assertTrue(get(uri + "/", stranger).body().contains("id=\"token\""), "the page of the login");
            assertTrue(get(uri + "/api/segments", stranger).body().contains("Authorization: Bearer TOKEN"), "the way out");
            for (final String path : List.of("/login.js", "/common.css", "/view.css")) {
                assertEquals(200, get(uri + path, stranger).statusCode(), path);
            }
            for (final String wrong : List.of("Bearer", "Bearer ", "Basic " + token, "Bearer " + token + "0",
                "Bearer " + token.substring(1), token)) {
                assertEquals(401, get(uri + "/metrics", stranger, "Authorization", wrong).statusCode(), wrong);
                assertEquals(401, get(uri + "/login", stranger, "Authorization", wrong).statusCode(), wrong);
            }
            assertEquals(200, get(uri + "/metrics", stranger, "Authorization", "Bearer " + token).statusCode());
            final String set = get(uri + "/login", stranger, "Authorization", "Bearer " + token).headers()
                .firstValue("Set-Cookie").orElse("");
            assertTrue(set.matches("__Host-flowlag=[0-9a-f]{64}; Path=/; HttpOnly; SameSite=Strict; Secure"), set);
            final String cookie = set.replaceFirst(";.*", "");
            assertEquals(200, get(uri + "/api/segments", stranger, "Cookie", cookie).statusCode());
            assertEquals(200, get(uri + "/", stranger, "Cookie", "a=b; " + cookie).statusCode());
            assertEquals(401, get(uri + "/", stranger, "Cookie", "__Host-flowlag=" + token).statusCode(),
                "the token is no cookie");
            final HttpRequest post = HttpRequest.newBuilder(URI.create(uri + "/api/segments"))
                .header("Authorization", "Bearer " + token).POST(HttpRequest.BodyPublishers.ofString("x")).build();
            assertEquals(405, HttpClient.newBuilder().sslContext(stranger).build()
                .send(post, HttpResponse.BodyHandlers.ofString()).statusCode(), "read only");
        }
    }

    @Test
    void shouldAnswerThoseWithEitherCertificateOrToken() throws Exception {
        final KeyStore own = made("view");
        final KeyStore client = made("client");
        final String token = "0123456789abcdef0123456789abcdef";
        try (View view = served(
            new ViewAccess(Optional.of(context(Optional.of(own), client, "client")), true, Optional.of(token)))) {
            final SSLContext stranger = context(Optional.empty(), own, "view");
            assertEquals(200, get(uri(view) + "/metrics", context(Optional.of(client), own, "view")).statusCode());
            assertEquals(401, get(uri(view) + "/metrics", stranger).statusCode());
            assertEquals(200, get(uri(view) + "/metrics", stranger, "Authorization", "Bearer " + token).statusCode());
        }
        final ViewAccess open = new ViewAccess(Optional.of(context(Optional.of(own), own, "view")), false, Optional.empty());
        assertTrue(assertThrows(IOException.class, () -> served(open)).getMessage().contains("anybody could look"));
    }

    @Test
    void shouldTakeATokenThatIsSecretAlone() throws Exception {
        final Path file = Files.writeString(directory.resolve("token"), "0123456789abcdef0123456789abcdef\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----"));
        assertEquals("0123456789abcdef0123456789abcdef", ViewAccess.token(file));
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
        assertTrue(assertThrows(IOException.class, () -> ViewAccess.token(file)).getMessage().contains("chmod 600"));
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        Files.writeString(file, "short\n");
        assertTrue(assertThrows(IOException.class, () -> ViewAccess.token(file)).getMessage().contains("openssl rand -hex 32"));
    }

    /** Clients that say nothing hold no more than the connections that there are. */
    @Test
    void shouldAnswerBesideManyClientsThatSayNothing() throws Exception {
        final List<Socket> silent = new ArrayList<>();
        try (ViewFixture fixture = new ViewFixture(directory.resolve("history.db"), () -> Samples.START_NS)) {
            final int port = fixture.uri("/").getPort();
            for (int i = 0; i < ViewServer.CONNECTIONS + 8; i++) {
                final Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
                socket.getOutputStream().write("GET /api/segments HTTP/1.1\r\nHost: ".getBytes(StandardCharsets.US_ASCII));
                silent.add(socket);
            }
            fixture.json("/api/segments");
            final String metrics = fixture.get("/metrics").body();
            final int evicted = Integer.parseInt(metrics.replaceFirst(
                "(?s).*\nflowlag_http_evicted_connections_total ([0-9]+)\n.*", "$1"));
            assertTrue(evicted >= 8, evicted + " closed for others");
            silent.get(0).setSoTimeout(20_000);
            assertEquals(-1, silent.get(0).getInputStream().read(), "the oldest goes");
        } finally {
            for (final Socket socket : silent) {
                socket.close();
            }
        }
    }
}
