package io.flowlag.tests.system;

import io.flowlag.tests.support.Captures;
import io.flowlag.tests.support.Checkout;
import io.flowlag.tests.support.Command;
import io.flowlag.tests.support.Flowlag;
import io.flowlag.tests.support.Tools;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** Invalid input ends with the documented exit code and one line that names the cause. */
class BadInputTest {
    private static final int USAGE = 64;
    private static final int DAMAGED_INPUT = 65;
    private static final int NO_INPUT = 66;
    private static final int CANNOT_WRITE = 73;
    private static final int NO_PERMISSION = 77;
    private static final int CONFIGURATION = 78;
    private static final int NOBODY = 65_534;

    @TempDir
    private Path directory;
    private Path capture;

    @BeforeEach
    void makeCapture() {
        capture = directory.resolve("demo.pcap");
        Captures.writeDemo(capture);
    }

    @Test
    void shouldNameAMissingFile() {
        final Path missing = directory.resolve("nothing.pcap");

        assertRefused(NO_INPUT, meter(missing), "nothing.pcap");
    }

    @Test
    void shouldNameADirectory() {
        assertRefused(NO_INPUT, meter(directory), directory.toString());
    }

    @Test
    void shouldNameAFileThatItMayNotRead() throws IOException {
        Files.setPosixFilePermissions(capture, PosixFilePermissions.fromString("---------"));

        assertRefused(NO_INPUT, asNobody("meter").run("meter", "-r", capture), "demo.pcap");
        assertRefused(NO_INPUT, asNobody("collect").run("collect", "-q", "-r", capture), "demo.pcap");
    }

    @Test
    void shouldNameAnInterfaceThatItMayNotOpen() {
        final Command.Result result =
            asNobody("run").run("run", "-q", "-i", "lo", "--export", "file:" + directory.resolve("out.ipfix"));

        assertRefused(NO_PERMISSION, result, "lo");
    }

    @Test
    void shouldNameAnInterfaceThatDoesNotExist() {
        final Command.Result result =
            Flowlag.with("run").run("run", "-q", "-i", "nosuchif0", "--export", "file:" + directory.resolve("out.ipfix"));

        assertRefused(NO_INPUT, result, "nosuchif0");
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "", "x", "Dear sir or madam, this is no capture at all.", "\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000"})
    void shouldRefuseAFileOfAnotherKind(final String content) throws IOException {
        final Path foreign = Files.write(directory.resolve("foreign.bin"), content.getBytes(StandardCharsets.ISO_8859_1));

        assertRefused(NO_INPUT, meter(foreign), "foreign.bin");
    }

    @Test
    void shouldRefuseItsOwnProgram() {
        final Path java = Path.of(System.getProperty("java.home"), "bin", "java");

        assertRefused(NO_INPUT, meter(java), "java");
    }

    /** A record that claims to be longer than memory, than any packet, or than what it says it had on the wire. */
    @ParameterizedTest
    @CsvSource({"-1, 60", "2147483647, 60", "-2147483648, -2147483648"})
    void shouldStopAtAHostileRecord(final int capturedLengthBytes, final int wireLengthBytes) throws IOException {
        final byte[] octets = Files.readAllBytes(capture);
        ByteBuffer.wrap(octets).order(ByteOrder.nativeOrder())
            .putInt(24 + 8, capturedLengthBytes).putInt(24 + 12, wireLengthBytes);
        final Path hostile = Files.write(directory.resolve("hostile.pcap"), octets);

        assertRefused(DAMAGED_INPUT, meter(hostile), "hostile.pcap");
    }

    /** Blocks of no length, of a length that is no multiple of four, and longer than the file. */
    @ParameterizedTest
    @ValueSource(ints = {0, 13, 8, Integer.MAX_VALUE, -4})
    void shouldStopAtAHostileBlock(final int blockLengthBytes) throws IOException {
        final ByteBuffer octets = ByteBuffer.allocate(28 + 64).order(ByteOrder.BIG_ENDIAN)
            .putInt(0x0A0D0D0A).putInt(28).putInt(0x1A2B3C4D).putShort((short) 1).putShort((short) 0).putLong(-1).putInt(28)
            .putInt(6).putInt(blockLengthBytes);
        final Path hostile = Files.write(directory.resolve("hostile.pcapng"), octets.array());

        assertRefused(DAMAGED_INPUT, meter(hostile), "hostile.pcapng");
    }

    @Test
    void shouldNameAnUnknownKeyAndTheNearestOne() throws IOException {
        final Path config = Files.writeString(directory.resolve("flowlag.yaml"), "metering:\n  activ-timeout: 10s\n");

        final Command.Result result = meter(capture, "-c", config);

        assertRefused(CONFIGURATION, result, "activ-timeout");
        assertTrue(result.errors().contains("active-timeout") && result.errors().contains("2"), result::toString);
    }

    @ParameterizedTest
    @ValueSource(strings = {"10 parsecs", "10", "-1s", "1e99s", "''"})
    void shouldNameABadUnitInAFile(final String value) throws IOException {
        final Path config =
            Files.writeString(directory.resolve("flowlag.yaml"), "metering:\n  active-timeout: " + value + "\n");

        assertRefused(CONFIGURATION, meter(capture, "-c", config), "active-timeout");
    }

    @Test
    void shouldNameABadUnitOnTheCommandLine() {
        assertRefused(USAGE, meter(capture, "--active", "10parsecs"), "--active");
    }

    @Test
    void shouldNameAnImpossibleRelation() throws IOException {
        final Path config = Files.writeString(directory.resolve("flowlag.yaml"),
            "metering:\n  active-timeout: 1s\n  idle-timeout: 2s\n");

        assertRefused(CONFIGURATION, meter(capture, "-c", config), "idle-timeout");
    }

    @Test
    void shouldNameAMissingConfiguration() {
        assertRefused(NO_INPUT, meter(capture, "-c", directory.resolve("missing.yaml")), "missing.yaml");
    }

    @Test
    void shouldNameAnUnknownOption() {
        assertRefused(USAGE, meter(capture, "--exprot", "udp://127.0.0.1"), "--exprot");
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "sctp://127.0.0.1:4739", "udp://", "udp://127.0.0.1:99999", "udp://127.0.0.1?rate-limit=x", "nonsense"})
    void shouldNameAWrongDestination(final String uri) {
        assertRefused(USAGE, meter(capture, "--export", uri), uri.contains("?") ? "rate-limit" : uri.substring(0, 3));
    }

    @Test
    void shouldNameAWrongFilter() {
        assertRefused(USAGE, meter(capture, "--filter", "tcp port or or"), "filter");
    }

    @Test
    void shouldSayThatTheDiskIsFull() {
        assertRefused(CANNOT_WRITE, meter(capture, "--export", "file:/dev/full"), "/dev/full");
    }

    @Test
    void shouldSayThatTheDiskIsFullForStatistics() {
        assertRefused(CANNOT_WRITE,
            meter(capture, "--export", "file:" + directory.resolve("out.ipfix"), "--stats", "/dev/full"), "/dev/full");
    }

    @Test
    void shouldNameADirectoryThatIsNotThere() {
        assertRefused(CANNOT_WRITE, meter(capture, "--export", "file:" + directory.resolve("nowhere/out.ipfix")), "nowhere");
    }

    @Test
    void shouldNameAFileThatItMayNotWrite() throws IOException {
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-xr-x"));
        Files.setPosixFilePermissions(capture, PosixFilePermissions.fromString("rw-r--r--"));

        final Command.Result result = asNobody("meter")
            .run("meter", "-r", capture, "--export", "file:" + directory.resolve("out.ipfix"));

        assertTrue(List.of(CANNOT_WRITE, NO_PERMISSION).contains(result.exitCode()), result::toString);
        assertOneLine(result, "out.ipfix");
    }

    private static Command.Result meter(final Path file, final Object... options) {
        final Object[] line = new Object[3 + options.length];
        line[0] = "meter";
        line[1] = "-r";
        line[2] = file;
        System.arraycopy(options, 0, line, 3, options.length);
        return new Flowlag().inThisJvm().run(line);
    }

    private Flowlag asNobody(final String command) {
        assumeTrue("root".equals(System.getProperty("user.name")), "only root can become nobody");
        return Flowlag.with(command).jar(readableJar()).under(Tools.require("setpriv", "util-linux").toString(),
            "--reuid=" + NOBODY, "--regid=" + NOBODY, "--clear-groups", "--inh-caps=-all", "--bounding-set=-all");
    }

    /** A copy of the jar that the unprivileged user can read: the checkout may lie in a closed home directory. */
    private Path readableJar() {
        try {
            final Path folder = Files.createDirectories(directory.resolve("jar"));
            final Path copy = Files.copy(Checkout.jar(), folder.resolve("flowlag.jar"), StandardCopyOption.REPLACE_EXISTING);
            Command.of("chmod", "a+rx", directory, folder, copy).run().orFail();
            return copy;
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private static void assertRefused(final int exitCode, final Command.Result result, final String named) {
        assertEquals(exitCode, result.exitCode(), result::toString);
        assertOneLine(result, named);
    }

    private static void assertOneLine(final Command.Result result, final String named) {
        assertEquals(1, result.errorLines().size(), result::toString);
        assertTrue(result.errors().contains(named), result::toString);
    }
}
