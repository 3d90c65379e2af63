package io.flowlag.ipfix.support;

import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Keys and certificates made by the JDK's keytool for one test run: self-signed, so each is its own authority. */
public final class TestCertificates {
    private static final String PASSWORD = "changeit";

    private final Path directory;

    public TestCertificates(final Path directory) {
        this.directory = directory;
    }

    /** Makes NAME.p12, NAME.key.pem and NAME.pem; the SAN extension may be empty. */
    public void make(final String name, final String algorithm, final String subjectAlternativeName) throws Exception {
        final List<String> options = new ArrayList<>(List.of("-genkeypair", "-alias", name, "-keyalg", algorithm,
            "-dname", "CN=" + name, "-validity", "2", "-storetype", "PKCS12", "-storepass", PASSWORD,
            "-keystore", store(name).toString()));
        if (!subjectAlternativeName.isEmpty()) {
            options.addAll(List.of("-ext", "SAN=" + subjectAlternativeName));
        }
        keytool(options);
        final KeyStore keys = load(name);
        pem(keyFile(name), "PRIVATE KEY", keys.getKey(name, PASSWORD.toCharArray()).getEncoded());
        pem(certificateFile(name), "CERTIFICATE", keys.getCertificate(name).getEncoded());
    }

    public Path keyFile(final String name) {
        return directory.resolve(name + ".key.pem");
    }

    public Path certificateFile(final String name) {
        return directory.resolve(name + ".pem");
    }

    /** A context for the collector: its own key, and who it trusts. */
    public SSLContext context(final String own, final String trusted) throws Exception {
        final KeyStore trust = KeyStore.getInstance("PKCS12");
        trust.load(null, null);
        trust.setCertificateEntry(trusted, load(trusted).getCertificate(trusted));
        final TrustManagerFactory trustManagers =
            TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trustManagers.init(trust);
        return context(own, trustManagers.getTrustManagers());
    }

    /** A context with its own key that leaves trust to others. */
    public SSLContext context(final String own, final TrustManager... trust) throws Exception {
        final KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(load(own), PASSWORD.toCharArray());
        final SSLContext context = SSLContext.getInstance("TLS");
        context.init(keys.getKeyManagers(), trust, null);
        return context;
    }

    private Path store(final String name) {
        return directory.resolve(name + ".p12");
    }

    private KeyStore load(final String name) throws GeneralSecurityException, IOException {
        final KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(store(name))) {
            keys.load(in, PASSWORD.toCharArray());
        }
        return keys;
    }

    private void keytool(final List<String> options) throws Exception {
        final List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
        command.addAll(options);
        final Path log = directory.resolve("keytool.log");
        final Process process =
            new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start();
        if (!process.waitFor(60, TimeUnit.SECONDS) || process.exitValue() != 0) {
            process.destroyForcibly();
            throw new AssertionError(Files.readString(log));
        }
    }

    private static void pem(final Path file, final String label, final byte[] der) throws IOException {
        final String body =
            Base64.getMimeEncoder(64, "\n".getBytes(StandardCharsets.US_ASCII)).encodeToString(der);
        Files.writeString(file, "-----BEGIN " + label + "-----\n" + body + "\n-----END " + label + "-----\n");
    }
}
