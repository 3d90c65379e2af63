package io.flowlag.tests.system;

import io.flowlag.tests.support.Checkout;
import io.flowlag.tests.support.Command;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import javax.tools.ToolProvider;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** The examples of the libraries in README.md compile and print what their last line says. */
class ReadmeExamplesTest {
    private static final int MOST_LINES = 15;
    private static final Pattern PRINTS = Pattern.compile("(?m)^// prints: (.*)$");

    @TempDir
    private Path directory;

    @ParameterizedTest
    @ValueSource(strings = {"common", "ipfix", "rli", "sketch", "network"})
    void shouldRunTheExampleOfEachLibrary(final String module) throws IOException {
        final String example = example(module);
        final MatchResult prints = PRINTS.matcher(example).results().reduce((first, last) -> last).orElseThrow();
        final Path source = Files.writeString(directory.resolve("Example.java"), imports(module) +
            "class Example {\n    public static void main(final String... arguments) throws Exception {\n" + example + "}\n}\n");
        final ByteArrayOutputStream errors = new ByteArrayOutputStream();
        final String classPath = System.getProperty("java.class.path");
        final int result = ToolProvider.getSystemJavaCompiler().run(
            null, null, errors, "-proc:none", "-classpath", classPath, "-d", directory.toString(), source.toString());

        assertEquals(0, result, errors.toString(UTF_8));
        final Command run = Command.of(Path.of(System.getProperty("java.home"), "bin", "java"),
            "--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED", "-Djava.io.tmpdir=" + directory,
            "-classpath", classPath + ":" + directory, "Example");
        assertEquals(prints.group(1), run.run().orFail().output().strip());
    }

    private static String example(final String module) throws IOException {
        final List<String> examples = Pattern.compile("(?s)<!-- example: " + module + " -->\\n```java\\n(.*?)```")
            .matcher(Files.readString(Checkout.root().resolve("README.md"))).results().map((each) -> each.group(1)).toList();
        assertEquals(1, examples.size(), module);
        assertTrue(examples.get(0).lines().count() <= MOST_LINES, examples.get(0));
        return examples.get(0);
    }

    /** Every package of the module, and what all examples may use. */
    private static String imports(final String module) throws IOException {
        final Path sources = Checkout.root().resolve(module + "/src/main/java");
        try (Stream<Path> files = Files.walk(sources)) {
            return files.filter((file) -> file.toString().endsWith(".java") && !file.endsWith("package-info.java"))
                .map((file) -> "import " + sources.relativize(file.getParent()).toString().replace('/', '.') + ".*;\n")
                .distinct().sorted().collect(Collectors.joining()) +
                "import java.nio.file.*;\nimport java.util.*;\nimport org.agrona.concurrent.*;\n";
        }
    }
}
