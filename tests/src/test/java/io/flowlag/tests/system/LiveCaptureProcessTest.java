package io.flowlag.tests.system;

import io.flowlag.exporter.capture.LiveCaptureOptions.Kind;
import io.flowlag.tests.support.NetworkNamespace;
import io.flowlag.tests.support.Tools;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.*;

/** The live sources in a JVM of their own: what appears on its terminal, and what happens without libpcap. */
@Tag("topology")
class LiveCaptureProcessTest {
    private static final Path LIBRARIES = Path.of("/usr/lib");
    private static final int LIBRARY_DEPTH = 2;
    private static final String ADVICE =
        " needs libpcap, which was not found: install it (Debian and Ubuntu: package libpcap0.8)\n";

    private NetworkNamespace namespace;

    @BeforeEach
    void makeNamespace() throws IOException {
        NetworkNamespace.assumeAvailable();
        namespace = NetworkNamespace.create("process");
    }

    @AfterEach
    void deleteNamespace() throws IOException {
        if (namespace != null) {
            namespace.close();
        }
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = {"AUTO", "XDP"})
    void shouldPutNothingOfLibrariesOnTheTerminal(final Kind kind) throws IOException {
        assertEquals("opened lo and captured 0\n", namespace.exec(java(kind, "udp")));
    }

    @Test
    void shouldDoWithoutLibpcapButForFilters() throws IOException {
        assertEquals("opened lo and captured 0\n", execWithoutLibpcap(java(Kind.AFPACKET, "")));
        assertEquals("UNAVAILABLE lo: filter 'udp'" + ADVICE, execWithoutLibpcap(java(Kind.AFPACKET, "udp")));
        assertEquals("UNAVAILABLE lo: the source 'pcap'" + ADVICE, execWithoutLibpcap(java(Kind.PCAP, "")));
    }

    /** In a mount namespace where the files of the library are empty. */
    private String execWithoutLibpcap(final String... command) throws IOException {
        final List<Path> libraries = libraries();
        if (libraries.isEmpty()) {
            throw Tools.missing("no libpcap below " + LIBRARIES + " that could be hidden");
        }
        final List<String> all = new ArrayList<>(List.of("unshare", "--mount", "sh", "-c", libraries.stream()
            .map(library -> "mount --bind /dev/null " + library + " && ").collect(Collectors.joining()) + "exec \"$@\"", "sh"));
        all.addAll(List.of(command));
        return namespace.exec(all.toArray(String[]::new));
    }

    private static List<Path> libraries() throws IOException {
        try (Stream<Path> files = Files.walk(LIBRARIES, LIBRARY_DEPTH)) {
            return files.filter(file -> file.getFileName().toString().startsWith("libpcap.so") && !Files.isSymbolicLink(file))
                .collect(Collectors.toList());
        }
    }

    private static String[] java(final Kind kind, final String filter) {
        final List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
            .filter(argument -> argument.startsWith("--")).forEach(command::add);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), LiveCaptureMain.class.getName(), kind.name(), "lo",
            filter));
        return command.toArray(String[]::new);
    }
}
