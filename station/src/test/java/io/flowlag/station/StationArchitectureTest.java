package io.flowlag.station;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

/** Who sees whom in the station: the engine stays in the job, and what can be served alone does not need the rest. */
@AnalyzeClasses(packages = "io.flowlag.station", importOptions = ImportOption.DoNotIncludeTests.class)
class StationArchitectureTest {
    @ArchTest
    static final ArchRule ENGINE_IN_JOB = noClasses().that()
        .resideOutsideOfPackage("io.flowlag.station.job..").and()
        .haveNameNotMatching("io\\.flowlag\\.station\\.wire\\.MessageType.*")
        .should().dependOnClassesThat().resideInAPackage("org.apache.flink..");

    /** The job, where the engine's connector has it in its interface. */
    @ArchTest
    static final ArchRule KAFKA_AT_THE_ENDS = noClasses().that()
        .resideOutsideOfPackages("io.flowlag.station.wire..", "io.flowlag.station.inlet..").and()
        .doNotHaveFullyQualifiedName("io.flowlag.station.job.KafkaStreams").and()
        .haveNameNotMatching("io\\.flowlag\\.station\\.job\\.KafkaStreams\\$.*")
        .should().dependOnClassesThat().resideInAPackage("org.apache.kafka..");

    @ArchTest
    static final ArchRule VIEW_ALONE = noClasses().that().resideInAPackage("io.flowlag.station.view..")
        .should().dependOnClassesThat().resideInAnyPackage("io.flowlag.station.job..", "io.flowlag.station.inlet..");

    @ArchTest
    static final ArchRule INLET_ALONE = noClasses().that().resideInAPackage("io.flowlag.station.inlet..")
        .should().dependOnClassesThat().resideInAnyPackage("io.flowlag.station.job..", "io.flowlag.station.view..");

    @ArchTest
    static final ArchRule NO_CAPTURE = noClasses().that().resideInAPackage("io.flowlag.station..")
        .should().dependOnClassesThat().resideInAnyPackage("io.flowlag.exporter..", "io.flowlag.rli..");

    @ArchTest
    static final ArchRule NO_CYCLES = slices().matching("io.flowlag.station.(*)..").should().beFreeOfCycles();
}
