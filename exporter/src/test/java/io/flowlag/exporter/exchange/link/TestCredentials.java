package io.flowlag.exporter.exchange.link;

import io.flowlag.ipfix.transport.TlsCredentials;

import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.Base64;
import java.util.concurrent.TimeUnit;

/** Self-signed keys and certificates for one test run, each its own authority, made by the JDK's keytool. */
public final class TestCredentials {
    private static final String PASSWORD = "changeit";

    private final Path directory;

    /** To be kept in a directory. */
    public TestCredentials(final Path directory) {
        this.directory = directory;
    }

    /** Makes NAME.key.pem and NAME.pem. */
    public void make(final String name, final String subjectAlternativeName) throws Exception {
        final Path store = directory.resolve(name + ".p12");
        final Path log = directory.resolve("keytool.log");
        final Process process = new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "keytool").toString(), "-genkeypair", "-alias", name,
            "-keyalg", "EC", "-dname", "CN=" + name, "-validity", "2", "-storetype", "PKCS12", "-storepass", PASSWORD,
            "-keystore", store.toString(), "-ext", "SAN=" + subjectAlternativeName)
            .redirectErrorStream(true).redirectOutput(log.toFile()).start();
        if (!process.waitFor(120, TimeUnit.SECONDS) || process.exitValue() != 0) {
            process.destroyForcibly();
            throw new AssertionError(Files.readString(log));
        }
        final KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(store)) {
            keys.load(in, PASSWORD.toCharArray());
        }
        pem(name + ".key.pem", "PRIVATE KEY", keys.getKey(name, PASSWORD.toCharArray()).getEncoded());
        pem(name + ".pem", "CERTIFICATE", keys.getCertificate(name).getEncoded());
    }

    /** The credentials of one name, which trusts another. */
    public TlsCredentials credentials(final String own, final String trusted) throws Exception {
        return TlsCredentials.load(
            directory.resolve(own + ".key.pem"), directory.resolve(own + ".pem"), directory.resolve(trusted + ".pem"));
    }

    private void pem(final String file, final String label, final byte[] der) throws Exception {
        final String body = Base64.getMimeEncoder(64, "\n".getBytes(StandardCharsets.US_ASCII)).encodeToString(der);
        Files.writeString(
            directory.resolve(file), "-----BEGIN " + label + "-----\n" + body + "\n-----END " + label + "-----\n");
    }
}
