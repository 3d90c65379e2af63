package io.flowlag.tests.house;

import io.flowlag.exporter.config.ConfigTable;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.FieldVisitor;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.RecordComponentVisitor;
import org.objectweb.asm.Type;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import static io.flowlag.tests.house.Walk.Way;

/**
 * Prints how large the source tree is, and what a newcomer has to read to follow a packet or an interval: {@code tests/house}.
 */
public final class House {
    private static final String TEXT = """
        A packet or an interval touches a file if a method of that source file runs for it. A call trace says which: every
        method of the product reports its call while small captures pass. The trace is cut into steps (tests/house --list
        names them). A file counts if at least half of the calls of a step enter it, so the start, classes that are loaded
        and work that is due now and then do not count. Constants count for nothing, since the compiler copies them.
        A packet: from the kernel's ring to the IPFIX message with its flow's record, the end of the flow included.
        A reference: from its descriptor to the delays of the packets before it.
        An interval: from the cells of both points to the flows' delays; with two processes from the sender's messages.
        A package is entered again if code that it called calls it. Threads are in the order of the way; in a live process
        the solver has one of its own between two of metering.
        """;
    private static final Pattern COMMENT_OR_STRING = Pattern.compile(
        "(\"\"\"(?s:.*?)\"\"\"|\"(?:\\\\.|[^\"\\\\\\n])*\"|'(?:\\\\.|[^'\\\\\\n])*')|/\\*(?s:.*?)\\*/|//[^\\n]*");

    private static final String ATOMIC_ARRAY = "Ljava/util/concurrent/atomic/AtomicLongArray;";

    private final Path root;
    private final Path jar;
    private final Map<Path, String> sources = new TreeMap<>();
    private final Map<String, Integer> constructors = new HashMap<>();
    private final Map<String, Integer> records = new HashMap<>();
    private final Map<String, Integer> methods = new HashMap<>();
    private final Set<String> enums = new HashSet<>(Set.of("Ljava/lang/Enum;"));
    private final Set<String> tupleLayouts = new TreeSet<>();
    private final Set<String> counterSystems = new TreeSet<>();

    /**
     * Reads sources and classes.
     *
     * @param root of the source tree.
     * @throws IOException if they cannot be read.
     */
    House(final Path root) throws IOException {
        this.root = root;
        jar = root.resolve("exporter/target/flowlag.jar");
        for (final String file : gitFiles("*/src/main/*.java")) {
            if (!file.startsWith("tests/")) {
                sources.put(Path.of(file), Files.readString(root.resolve(file)));
            }
        }
        final List<ClassReader> classes = classes();
        classes.stream().filter(each -> "java/lang/Enum".equals(each.getSuperName()))
            .forEach(each -> enums.add("L" + each.getClassName() + ";"));
        classes.forEach(each -> each.accept(new Shape(), ClassReader.SKIP_CODE));
    }

    private List<ClassReader> classes() throws IOException {
        final List<ClassReader> classes = new ArrayList<>();
        try (JarFile file = new JarFile(jar.toFile())) {
            for (final JarEntry entry : Collections.list(file.entries())) {
                if (entry.getName().startsWith("io/flowlag/") && entry.getName().endsWith(".class")) {
                    try (InputStream octets = file.getInputStream(entry)) {
                        classes.add(new ClassReader(octets));
                    }
                }
            }
        }
        return classes;
    }

    /**
     * Prints the table.
     *
     * @param arguments {@code --list} prints the files of each step too.
     * @throws Exception if something cannot be measured.
     */
    public static void main(final String[] arguments) throws Exception {
        final House house = new House(Path.of("").toAbsolutePath());
        System.out.print(TEXT);
        final TracedRun ring = TracedRun.ofRing(house.jar);
        final TracedRun one = TracedRun.ofOneProcess(house.jar).with(Walk.CAPTURE, ring);
        final TracedRun two = TracedRun.ofTwoProcesses(house.jar).with(Walk.CAPTURE, ring);
        System.out.println();
        house.printSizes();
        System.out.println();
        System.out.println("way        processes  files  packages  threads");
        for (final Way way : Way.values()) {
            print(way, "one", one);
            print(way, "two", two);
        }
        if (List.of(arguments).contains("--list")) {
            list("one process", one);
            list("two processes", two);
        }
    }

    private static void print(final Way way, final String processes, final TracedRun run) {
        System.out.printf("%-9s  %-9s  %5d  %8d  %s%n", way.name().toLowerCase(Locale.ROOT), processes, run.files(way).size(),
            run.packages(way).size(), String.join(" > ", run.threads(way)));
        run.enteredAgain(way).forEach(again -> System.out.println("           entered again: " + again));
    }

    private static void list(final String title, final TracedRun run) {
        run.calls().forEach((walk, calls) -> {
            System.out.printf("%n%s, %s, %d calls of %s%n", title, walk.name().toLowerCase(Locale.ROOT), calls, walk.root);
            run.files(walk).forEach(file -> System.out.println("    " + file));
        });
    }

    private void printSizes() throws IOException {
        line("files of product code", sources.size());
        line("lines of product code", sources.values().stream().mapToLong(text -> text.lines().count()).sum());
        line("  without comments and blank lines", codeLines());
        line("configuration keys", ConfigTable.keys().size());
        line("octets of pages (docs)", pageOctets());
        final Path largest =
            Collections.max(sources.keySet(), Comparator.comparing(file -> sources.get(file).lines().count()));
        line("lines of the largest file", sources.get(largest).lines().count(), largest.getFileName());
        most("parameters of a constructor, at most", constructors);
        most("components of a record, at most", records);
        most("parameters of a method, at most", methods);
        line("layouts of a 5-tuple in memory", tupleLayouts.size(), String.join(", ", tupleLayouts));
        line("types that keep counters", counterSystems.size(), String.join(", ", counterSystems));
    }

    private static void line(final String what, final long value, final Object... note) {
        System.out.printf("%-36s %7d%s%n", what, value, note.length == 0 ? "" : "  " + note[0]);
    }

    private static void most(final String what, final Map<String, Integer> counts) {
        final int most = Collections.max(counts.values());
        line(what, most, String.join(", ",
            counts.keySet().stream().filter(name -> counts.get(name) == most).sorted().limit(3).toList()));
    }

    /** {@return lines that are neither blank nor comments alone} */
    long codeLines() {
        return sources.values().stream()
            .flatMap(text -> COMMENT_OR_STRING.matcher(text).replaceAll(match -> match.group(1) == null ? "" :
                Matcher.quoteReplacement(match.group(1))).lines())
            .filter(text -> !text.isBlank()).count();
    }

    /** {@return octets of the pages below docs, which LanguageTest limits} */
    long pageOctets() throws IOException {
        long octets = 0;
        try (Stream<Path> files = Files.walk(root.resolve("docs"))) {
            for (final Path page : files.filter(file -> file.toString().endsWith(".md")).toList()) {
                octets += Files.size(page);
            }
        }
        return octets;
    }

    private List<String> gitFiles(final String pattern) throws IOException {
        final Process git = new ProcessBuilder("git", "ls-files", pattern).directory(root.toFile()).start();
        try (InputStream output = git.getInputStream()) {
            return new String(output.readAllBytes(), StandardCharsets.UTF_8).lines().toList();
        }
    }

    /**
     * Looks at the declarations of a class. A layout of a 5-tuple has an offset of the ports and is not of a message or an image.
     * A type that keeps counters adds to a constant of an enum, or to a number in an array of atomic numbers.
     */
    private final class Shape extends ClassVisitor {
        private String name;
        private boolean isOnTheWire;
        private boolean isRecord;
        private boolean isLibrary;
        private int hiddenParameters;
        private int components;
        private final List<String> types = new ArrayList<>();
        private boolean isCounting;

        private Shape() {
            super(Opcodes.ASM9);
        }

        @Override
        public void visit(
            final int version, final int access, final String className, final String signature, final String parent,
            final String[] interfaces) {
            name = className.substring(className.lastIndexOf('/') + 1);
            isOnTheWire = className.contains("/wire/") || className.startsWith("io/flowlag/sketch/");
            isRecord = "java/lang/Record".equals(parent);
            isLibrary = List.of(interfaces).contains("com/sun/jna/Library");
            hiddenParameters = "java/lang/Enum".equals(parent) ? 2 : 0;
        }

        @Override
        public void visitInnerClass(final String inner, final String outer, final String simpleName, final int access) {
            if (inner.endsWith("/" + name)) {
                final boolean isInner = (access & (Opcodes.ACC_STATIC | Opcodes.ACC_INTERFACE)) == 0;
                hiddenParameters = simpleName == null ? Integer.MAX_VALUE : hiddenParameters + (isInner ? 1 : 0);
            }
        }

        @Override
        public RecordComponentVisitor visitRecordComponent(
            final String component, final String descriptor, final String signature) {
            records.put(name, ++components);
            return null;
        }

        @Override
        public FieldVisitor visitField(
            final int access, final String field, final String descriptor, final String signature, final Object value) {
            if (!isOnTheWire && field.matches("(KEY_)?(SOURCE_PORT|PORTS)_OFFSET")) {
                tupleLayouts.add(name);
            }
            if ((access & Opcodes.ACC_STATIC) == 0) {
                types.add(descriptor);
            }
            return null;
        }

        @Override
        public MethodVisitor visitMethod(
            final int access, final String method, final String descriptor, final String signature, final String[] exceptions) {
            final Type[] parameters = Type.getArgumentTypes(descriptor);
            final boolean isConstructor = "<init>".equals(method);
            if ((access & (Opcodes.ACC_NATIVE | Opcodes.ACC_SYNTHETIC | Opcodes.ACC_BRIDGE)) == 0 && !isLibrary) {
                if (!isConstructor) {
                    methods.merge(name + "." + method, parameters.length, Math::max);
                } else if (!isRecord && hiddenParameters != Integer.MAX_VALUE) {
                    constructors.merge(name, parameters.length - hiddenParameters, Math::max);
                }
            }
            isCounting |= method.matches("increment|add") && (descriptor.equals("(IJ)V") && types.contains(ATOMIC_ARRAY) ||
                descriptor.endsWith(";J)V") && parameters.length == 2 && enums.contains(parameters[0].getDescriptor()));
            return null;
        }

        @Override
        public void visitEnd() {
            if (isCounting && types.stream().anyMatch(type -> type.matches("\\[J|.*/(UnsafeBuffer|AtomicLongArray);"))) {
                counterSystems.add(name);
            }
        }
    }
}
