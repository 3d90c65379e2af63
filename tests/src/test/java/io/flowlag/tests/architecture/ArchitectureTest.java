package io.flowlag.tests.architecture;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaCall;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.core.importer.Location;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import io.flowlag.common.memory.OffHeapBuffer;
import io.flowlag.tests.support.Checkout;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noMethods;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.junit.jupiter.api.Assertions.assertEquals;

/** The modules and stages as in {@code docs/packet-path.md}. */
@AnalyzeClasses(packages = "io.flowlag", importOptions = {
    ImportOption.DoNotIncludeTests.class, ArchitectureTest.DoNotIncludeTestJars.class})
class ArchitectureTest {
    /** The jars of classes that several modules' tests share, as the other option leaves out directories of tests. */
    static final class DoNotIncludeTestJars implements ImportOption {
        @Override
        public boolean includes(final Location location) {
            return !location.contains("-tests.jar");
        }
    }

    private static final String EXPORTER = "io.flowlag.exporter.";
    /** In the order of the packet's way. */
    private static final List<String> STAGES =
        List.of(
            "capture", "decode", "flow", "checkpoint", "delay.exact", "delay.interval.repair", "delay.interval.records",
            "delay.interval.joint", "delay.interval.compare", "delay.interval", "delay", "reference", "monitoring.top",
            "pipeline", "exchange.wire", "exchange.link", "export.spool", "export", "monitoring", "runtime.collect", "runtime",
            "runtime.report", "runtime.size", "runtime.doctor", "runtime.plan", "runtime.delay", "runtime.run", "runtime.demo",
            "runtime.selftest", "command");
    private static final List<String> HOT_STAGES =
        List.of(
            "capture", "decode", "flow", "delay.exact", "delay.interval.repair", "delay.interval.records",
            "delay.interval.joint", "delay.interval.compare", "delay.interval", "delay", "reference", "monitoring.top",
            "pipeline");
    /** Runs when a source is opened, and libpcap's compiler is not re-entrant. */
    private static final String FILTER_COMPILER = EXPORTER + "capture.filter.BpfCompiler";
    /** Says nothing itself: it lowers the level of pcap4j's logger when a source is opened. */
    private static final String PCAP4J_LOG = EXPORTER + "capture.pcap.Pcap4jLog";
    /** Each outermost class of the interval is a slice. */
    private static final SliceAssignment INTERVAL_CLASSES = new SliceAssignment() {
        @Override
        public SliceIdentifier getIdentifierOf(final JavaClass javaClass) {
            return javaClass.getPackageName().startsWith(EXPORTER + "delay.interval") ?
                SliceIdentifier.of(javaClass.getFullName().replaceFirst("\\$.*", "")) : SliceIdentifier.ignore();
        }

        @Override
        public String getDescription() {
            return "classes of the interval";
        }
    };
    /** The reader of files that people write. */
    private static final String YAML = "io.flowlag.common.config..";
    private static final String HTTP = "io.flowlag.common.http..";
    private static final List<String> LIBRARIES = List.of("common", "ipfix", "rli", "sketch");
    /** Packages of the exporter that are no stages. */
    private static final List<String> NO_STAGES = List.of("config", "status", "lab", "listing", "terminal");
    private static final int MOST_CONSTRUCTOR_PARAMETERS = 8;
    private static final int MOST_COMPONENTS = 10;
    private static final int MOST_METHOD_PARAMETERS = 6;
    private static final Set<JavaModifier> NOT_WRITTEN = Set.of(JavaModifier.NATIVE, JavaModifier.SYNTHETIC);
    /** The class files of enums have two more, inner classes one. */
    private static final int ENUM_PARAMETERS = 2;
    /** Views that mirror rows of JSON, and the keyed hash, whose other shapes are slower. The list only gets shorter. */
    private static final Set<String> MANY_PARAMETERS = Set.of(
        "DelayDistribution", "DelaySummary", "DestinationStatistics", "FlowView", "JointStatistics", "SketchStatistics",
        "SipHash.hash", "SipHash.word", "SipHashPair.hash");

    @ArchTest
    static void shouldKeepLibrariesApart(final JavaClasses classes) {
        for (final String library : LIBRARIES) {
            check(classes, classes().that().resideInAPackage("io.flowlag." + library + "..")
                .and().resideOutsideOfPackages(YAML, HTTP).should().onlyDependOnClassesThat().resideInAnyPackage(
                    "io.flowlag." + library + "..", "io.flowlag.common..", "java..", "javax.net..", "javax.security..",
                    "org.agrona..", "org.HdrHistogram..")
                .because(library + " is a library of its own"));
            check(classes, noClasses().that().resideInAPackage("io.flowlag." + library + "..")
                .and().resideOutsideOfPackages(YAML, HTTP).should().dependOnClassesThat().resideInAnyPackage(YAML, HTTP)
                .because("the parser of YAML and the server are not part of " + library));
        }
        check(classes, classes().that().resideInAPackage(YAML).should().onlyDependOnClassesThat().resideInAnyPackage(
            YAML, "java..", "com.fasterxml.jackson..", "org.yaml.snakeyaml.."));
        check(classes, classes().that().resideInAPackage(HTTP).should().onlyDependOnClassesThat().resideInAnyPackage(
            HTTP, "java..", "javax.net.ssl..", "org.agrona..", "org.eclipse.jetty.."));
        final String[] hot = HOT_STAGES.stream().map(ArchitectureTest::stage).toArray(String[]::new);
        check(classes, noClasses().that().resideInAnyPackage(hot)
            .should().dependOnClassesThat().resideInAPackage(HTTP).because("the server locks"));
    }

    /** No engine, no thread, no exporter: only what reads files of other tools, and linear algebra. */
    @ArchTest
    static void shouldKeepTheNetworkApart(final JavaClasses classes) {
        check(classes, classes().that().resideInAPackage("io.flowlag.network..")
            .should().onlyDependOnClassesThat().resideInAnyPackage(
                "io.flowlag.network..", "io.flowlag.sketch..", "io.flowlag.common..", "java..", "javax.xml.stream..",
                "com.fasterxml.jackson..", "org.agrona..", "org.ejml..")
            .because("an engine, a command and the laboratory use it"));
        check(classes, noClasses().that().resideInAPackage("io.flowlag.network..")
            .should().dependOnClassesThat().belongToAnyOf(Thread.class, java.time.Clock.class)
            .orShould().callMethod(System.class, "nanoTime").orShould().callMethod(System.class, "currentTimeMillis")
            .because("time is a parameter"));
    }

    @ArchTest
    static void shouldNameEachTypeDifferently(final JavaClasses classes) {
        final Map<String, List<JavaClass>> byName = classes.stream()
            .filter(javaClass -> javaClass.isTopLevelClass() && !"package-info".equals(javaClass.getSimpleName()))
            .collect(Collectors.groupingBy((each) -> each.getSimpleName() +
                (each.getPackageName().startsWith("io.flowlag.station") ? " of the station" : "")));
        assertEquals(List.of(), byName.values().stream().filter(sameName -> sameName.size() > 1).toList());
    }

    @ArchTest
    static void shouldNotDependOnLaterStages(final JavaClasses classes) {
        for (int stage = 0; stage < STAGES.size(); stage++) {
            final String[] later = STAGES.subList(stage + 1, STAGES.size()).stream().map(ArchitectureTest::stage)
                .toArray(String[]::new);
            if (later.length > 0) {
                check(classes, noClasses().that().resideInAPackage(stage(STAGES.get(stage)))
                    .should().dependOnClassesThat().resideInAnyPackage(later)
                    .because(STAGES.get(stage) + " comes before them on the packet's way"));
            }
        }
    }

    /** Of all packages, each for itself, and thus of classes of different packages; and of the classes of the interval. */
    @ArchTest
    static void shouldHaveNoCycles(final JavaClasses classes) {
        for (final String module : List.of("common", "ipfix", "rli", "sketch", "network", "exporter")) {
            check(classes, slices().matching("io.flowlag." + module + ".(**)").should().beFreeOfCycles());
        }
        check(classes, slices().assignedFrom(INTERVAL_CLASSES).should().beFreeOfCycles());
    }

    @ArchTest
    static void shouldListEveryPackageAsAStage(final JavaClasses classes) {
        final Set<String> unknown = new TreeSet<>();
        for (final JavaClass javaClass : classes) {
            final String name = javaClass.getPackageName() + ".";
            if (name.startsWith(EXPORTER) && !name.equals(EXPORTER) &&
                Stream.concat(STAGES.stream().map(ArchitectureTest::stage), NO_STAGES.stream().map(ArchitectureTest::stage))
                    .noneMatch(stage -> stage.endsWith("..") ? name.startsWith(stage.substring(0, stage.length() - 1)) :
                        name.equals(stage + "."))) {
                unknown.add(name);
            }
        }
        assertEquals(Set.of(), unknown);
    }

    @ArchTest
    static void shouldHaveFewParameters(final JavaClasses classes) {
        final Set<String> many = new TreeSet<>();
        for (final JavaClass javaClass : classes) {
            final String name = javaClass.getName().substring(javaClass.getPackageName().length() + 1);
            if (javaClass.isAnonymousClass() || isOfTests(javaClass)) {
                continue;
            }
            javaClass.getMethods().stream().filter(method -> method.getRawParameterTypes().size() > MOST_METHOD_PARAMETERS)
                .filter(method -> Collections.disjoint(method.getModifiers(), NOT_WRITTEN))
                .forEach(method -> many.add(name + "." + method.getName()));
            javaClass.getConstructors().stream()
                .filter(constructor -> constructor.getRawParameterTypes().size() > mostParameters(javaClass))
                .forEach(constructor -> many.add(name));
        }
        assertEquals(new TreeSet<>(MANY_PARAMETERS), many);
    }

    private static boolean isOfTests(final JavaClass javaClass) {
        return javaClass.getSource().orElseThrow().getUri().getPath() != null &&
            javaClass.getSource().orElseThrow().getUri().getPath().startsWith(Checkout.root().resolve("tests").toString());
    }

    private static int mostParameters(final JavaClass javaClass) {
        if (javaClass.isRecord()) {
            return MOST_COMPONENTS;
        }
        return MOST_CONSTRUCTOR_PARAMETERS + (javaClass.isEnum() ? ENUM_PARAMETERS : javaClass.isInnerClass() ? 1 : 0);
    }

    /**
     * A stage compares no final field with null whose type is of the product or of Agrona. What is off is an empty part, or
     * another type.
     */
    @ArchTest
    static void shouldHaveNoNullCollaborators(final JavaClasses classes) throws IOException {
        final Set<String> found = new TreeSet<>();
        final List<String> stages = Stream.concat(HOT_STAGES.stream(), Stream.of("export", "exchange"))
            .map(stage -> EXPORTER + stage).toList();
        for (final JavaClass javaClass : classes) {
            if (!javaClass.isRecord() && stages.stream().anyMatch(javaClass.getPackageName()::startsWith)) {
                try (InputStream octets = javaClass.getSource().orElseThrow().getUri().toURL().openStream()) {
                    new ClassReader(octets.readAllBytes()).accept(new NullChecks(javaClass, found), ClassReader.SKIP_DEBUG);
                }
            }
        }
        assertEquals(Set.of(), found);
    }

    /** Finds a read of a final field that a comparison with null follows. */
    private static final class NullChecks extends ClassVisitor {
        private final JavaClass javaClass;
        private final Set<String> found;

        private NullChecks(final JavaClass javaClass, final Set<String> found) {
            super(Opcodes.ASM9);
            this.javaClass = javaClass;
            this.found = found;
        }

        @Override
        public MethodVisitor visitMethod(
            final int access, final String name, final String descriptor, final String signature, final String[] exceptions) {
            return new MethodVisitor(Opcodes.ASM9) {
                private String lastField;

                @Override
                public void visitFieldInsn(final int opcode, final String owner, final String field, final String type) {
                    final boolean isOwn = opcode == Opcodes.GETFIELD && owner.replace('/', '.').equals(javaClass.getName());
                    lastField = isOwn && type.matches("L(io/flowlag|org/agrona)/.*") ? field : null;
                }

                @Override
                public void visitJumpInsn(final int opcode, final Label label) {
                    if (lastField != null && (opcode == Opcodes.IFNULL || opcode == Opcodes.IFNONNULL) &&
                        javaClass.tryGetField(lastField).filter(field -> field.getModifiers().contains(JavaModifier.FINAL))
                            .isPresent()) {
                        found.add(javaClass.getSimpleName() + "." + lastField);
                    }
                    lastField = null;
                }

                @Override
                public void visitInsn(final int opcode) {
                    lastField = null;
                }

                @Override
                public void visitVarInsn(final int opcode, final int variable) {
                    lastField = null;
                }

                @Override
                public void visitTypeInsn(final int opcode, final String type) {
                    lastField = null;
                }

                @Override
                public void visitMethodInsn(
                    final int opcode, final String owner, final String method, final String type, final boolean isInterface) {
                    lastField = null;
                }
            };
        }
    }

    @ArchTest
    static void shouldKeepConfigurationAndCountersBelowTheStages(final JavaClasses classes) {
        final String[] stages = STAGES.stream().map(ArchitectureTest::stage).toArray(String[]::new);
        check(classes, noClasses().that().resideInAnyPackage(stage("config"), stage("status"))
            .should().dependOnClassesThat().resideInAnyPackage(stages)
            .because("every stage uses them"));
    }

    @ArchTest
    static void shouldKeepTheLaboratoryApart(final JavaClasses classes) {
        check(classes, noClasses().that().resideInAPackage(stage("lab"))
            .should().dependOnClassesThat().resideInAnyPackage(stagesBut("capture"))
            .because("the generator is a packet source and nothing else"));
    }

    @ArchTest
    static void shouldKeepTheCollectingProcessApart(final JavaClasses classes) {
        check(classes, noClasses().that().resideInAPackage(stage("runtime.collect"))
            .should().dependOnClassesThat().resideInAnyPackage(stagesBut("runtime.collect"))
            .because("it is the other end and uses ipfix"));
    }

    @ArchTest
    static void shouldSeePcap4jInCaptureAlone(final JavaClasses classes) {
        check(classes, noClasses().that().resideOutsideOfPackage(stage("capture"))
            .should().dependOnClassesThat().resideInAPackage("org.pcap4j.."));
    }

    @ArchTest
    static void shouldSeeChronicleMapInTheCheckpointAlone(final JavaClasses classes) {
        check(classes, noClasses().that().resideOutsideOfPackage(stage("checkpoint"))
            .should().dependOnClassesThat().resideInAPackage("net.openhft.."));
    }

    /** Numbers in an {@link OffHeapBuffer} are not checked: what reads foreign bytes has other buffers, or views that check. */
    @ArchTest
    static void shouldCheckReadsOfForeignBytes(final JavaClasses classes) {
        check(classes, noClasses().that().resideInAnyPackage(stage("capture"), stage("checkpoint"), stage("export"),
                stage("monitoring"), "io.flowlag.ipfix..", "io.flowlag.rli..")
            .should().dependOnClassesThat().belongToAnyOf(OffHeapBuffer.class));
        check(classes, noClasses().that().resideInAPackage(EXPORTER + "exchange..")
            .should().callMethodWhere(DescribedPredicate.describe("numbers of OffHeapBuffer",
                call -> call.getTargetOwner().isEquivalentTo(OffHeapBuffer.class) &&
                    call.getName().matches("(get|put)(Byte|Short|Int|Long)"))));
    }

    @ArchTest
    static void shouldNotLockOnTheHotPath(final JavaClasses classes) {
        check(classes, noMethods().that().areDeclaredInClassesThat().resideInAnyPackage(hotPackages())
            .and().areNotDeclaredIn(FILTER_COMPILER)
            .should().haveModifier(JavaModifier.SYNCHRONIZED));
    }

    /** Blocks leave no trace that ArchUnit sees, so the sources are read. */
    @ArchTest
    static void shouldNotHaveSynchronizedBlocksOnTheHotPath(final JavaClasses classes) {
        final Set<Path> sources = new TreeSet<>();
        classes.stream().filter(javaClass -> isHot(javaClass) && !isOfServer(javaClass)).forEach(javaClass ->
            sources.add(source(javaClass)));
        assertEquals(List.of(), sources.stream().filter(ArchitectureTest::hasSynchronizedBlock).toList());
    }

    private static boolean isOfServer(final JavaClass javaClass) {
        return javaClass.getPackageName().startsWith(HTTP.replace("..", ""));
    }

    private static boolean isHot(final JavaClass javaClass) {
        final String name = javaClass.getPackageName() + ".";
        return Stream.of(hotPackages()).anyMatch(hot -> name.startsWith(hot.substring(0, hot.length() - 1)));
    }

    private static Path source(final JavaClass javaClass) {
        final String module = javaClass.getPackageName().split("\\.")[2];
        final String outermost = javaClass.getFullName().replaceFirst("\\$.*", "").replace('.', '/');
        return Checkout.root().resolve(module).resolve("src/main/java").resolve(outermost + ".java");
    }

    private static boolean hasSynchronizedBlock(final Path source) {
        try {
            return Pattern.compile("^\\s*synchronized *\\(", Pattern.MULTILINE).matcher(Files.readString(source)).find();
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    @ArchTest
    static void shouldNotLogOrPrintOnTheHotPath(final JavaClasses classes) {
        check(classes, noClasses().that().resideInAnyPackage(hotPackages()).and().doNotHaveFullyQualifiedName(PCAP4J_LOG)
            .should().dependOnClassesThat().resideInAnyPackage("org.slf4j..", "ch.qos.logback..", "java.util.logging..")
            .orShould().dependOnClassesThat().areAssignableTo(System.Logger.class)
            .orShould().accessField(System.class, "out")
            .orShould().accessField(System.class, "err"));
    }

    @ArchTest
    static void shouldNotExitOrSwallowTracesInLibraries(final JavaClasses classes) {
        check(classes, classes().that().resideInAnyPackage(hotPackages()).should(new ArchCondition<>("not exit or print traces") {
            @Override
            public void check(final JavaClass javaClass, final ConditionEvents events) {
                javaClass.getMethodCallsFromSelf().stream().filter(ArchitectureTest::isExitOrTrace)
                    .forEach(call -> events.add(SimpleConditionEvent.violated(call, call.getDescription())));
            }
        }));
    }

    private static boolean isExitOrTrace(final JavaCall<?> call) {
        final JavaClass owner = call.getTargetOwner();
        return "exit".equals(call.getName()) && (owner.isEquivalentTo(System.class) || owner.isEquivalentTo(Runtime.class)) ||
            "printStackTrace".equals(call.getName()) && owner.isAssignableTo(Throwable.class);
    }

    /** A rule over a package that has no classes yet holds. */
    private static void check(final JavaClasses classes, final ArchRule rule) {
        rule.allowEmptyShould(true).check(classes);
    }

    /** With the packages below it, unless they are stages of their own. */
    private static String stage(final String name) {
        return EXPORTER + name + (STAGES.stream().anyMatch(stage -> stage.startsWith(name + ".")) ? "" : "..");
    }

    private static String[] stagesBut(final String... exceptions) {
        return STAGES.stream().filter(stage -> !List.of(exceptions).contains(stage)).map(ArchitectureTest::stage)
            .toArray(String[]::new);
    }

    private static String[] hotPackages() {
        final List<String> packages = new ArrayList<>(HOT_STAGES.stream().map(ArchitectureTest::stage).toList());
        LIBRARIES.stream().map(library -> "io.flowlag." + library + "..").forEach(packages::add);
        return packages.toArray(String[]::new);
    }
}
