package io.flowlag.exporter.simulation;

import io.flowlag.exporter.capture.CaptureClock;
import io.flowlag.exporter.checkpoint.Checkpoint;
import io.flowlag.exporter.checkpoint.Platter;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.ExporterConfig.Role;
import io.flowlag.exporter.delay.ClockError;
import io.flowlag.exporter.delay.DelayStage;
import io.flowlag.exporter.delay.DelayWiring;
import io.flowlag.exporter.delay.ReferenceMode;
import io.flowlag.exporter.delay.SketchLink;
import io.flowlag.exporter.exchange.link.MemoryNetwork;
import io.flowlag.exporter.exchange.link.PeerSecurity;
import io.flowlag.exporter.export.Destination;
import io.flowlag.exporter.export.DestinationFactory;
import io.flowlag.exporter.export.ExportingAgent;
import io.flowlag.exporter.export.spool.Spool;
import io.flowlag.exporter.runtime.MeteringPipeline;
import io.flowlag.exporter.status.Counters;
import org.agrona.concurrent.Agent;
import org.agrona.concurrent.NanoClock;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * A host with a point of the segment: its clock, its disk, its collector, and one run of the product's process after the other.
 * Agents are worked one at a time.
 */
final class SimulatedHost implements AutoCloseable {
    private static final int MOMENTS = 300;

    final Role role;
    final SimulatedCollector collector;
    final CaptureClock clock;
    long clockOffsetNs;
    int life = -1;
    boolean isStopping;
    /** Whether packets of the traffic are references. */
    boolean isPassive;
    /** When each agent works again. */
    long[] stalledUntilNs = new long[0];
    MeteringPipeline pipeline;
    Counters counters;
    SimulatedSource source;
    SketchLink end;
    ExporterConfig config;
    final List<Agent> agents = new ArrayList<>();

    private final NanoClock time;
    private final MemoryNetwork network;
    private final SplittableRandom random;
    private final Path directory;
    private final Consumer<SimulatedSource.Passage> onCaptured;
    private final Destination judge;
    private final Path home;
    private final Path kept;
    private Platter disk;
    private Destination exporting;
    private final Queue<Runnable> fileJobs = new ArrayDeque<>();
    private boolean isDiskDirect;

    /** Works the files of the spool. A wait for it may end too early. */
    private final class SpoolThread implements Agent, Spool.Jobs {
        @Override
        public void execute(final Runnable job) {
            fileJobs.add(job);
            if (isDiskDirect) {
                workFiles();
            }
        }

        @Override
        public void await() {
            if (random.nextInt(MOMENTS) == 0) {
                workFiles();
            }
        }

        @Override
        public int doWork() {
            return workFiles();
        }

        @Override
        public String roleName() {
            return "spool";
        }
    }

    /**
     * A host without a process.
     *
     * @param time      of the simulation.
     * @param directory its disk is in a folder "disk" of it.
     * @param judge     takes the flow records of every run besides the collector.
     */
    SimulatedHost(
        final ExporterConfig config, final NanoClock time, final MemoryNetwork network, final SplittableRandom random,
        final Path directory, final Consumer<SimulatedSource.Passage> onCaptured, final Destination judge) throws IOException {
        this.config = config;
        role = config.segment().role();
        this.time = time;
        this.network = network;
        this.random = random;
        this.directory = directory;
        this.onCaptured = onCaptured;
        this.judge = judge;
        collector = new SimulatedCollector(random);
        clock = new CaptureClock() {
            @Override
            public long nanoTime() {
                return time.nanoTime() + clockOffsetNs;
            }

            @Override
            public long monotonicNs() {
                return time.nanoTime();
            }
        };
        home = Files.createDirectories(directory.resolve("disk"));
        kept = directory.resolve("kept");
    }

    boolean isRunning() {
        return pipeline != null;
    }

    /** Begins a run of the process. */
    void start() throws IOException {
        life++;
        counters = new Counters();
        disk = new Platter(home, kept, new Random(random.nextLong()), Integer.MAX_VALUE);
        source = new SimulatedSource(role.name(), onCaptured);
        final PeerSecurity security = new PeerSecurity(null, null, List.of(), List.of());
        final Agent endAgent;
        if (role == Role.RECEIVER) {
            endAgent = network.receiver(config, security, clock);
        } else {
            endAgent = network.sender(config, security, clock, ClockError.NONE);
        }
        end = (SketchLink)endAgent;
        final DelayWiring wiring = new DelayWiring(
            role, new DelayWiring.References(isPassive ? ReferenceMode.PASSIVE : ReferenceMode.NONE, List.of()), ClockError.NONE,
            isPassive, false, false, role == Role.RECEIVER).withLink(end);
        final SpoolThread spoolThread = new SpoolThread();
        final DestinationFactory factory = new DestinationFactory(false, new boolean[1], Map.of(), counters);
        exporting = factory.make("tcp://collector", collector.transport(), config,
            config.exporting().destinations().get(0), disk, spoolThread);
        final Path file = config.checkpoint().file();
        final Checkpoint checkpoint = file == null ? null : Checkpoint.open(
            file, config.metering().maxFlows(), DelayStage.stateLengthBytes(wiring), counters, disk);
        pipeline = new MeteringPipeline(config, List.of(source), clock, wiring, checkpoint, List.of(exporting, judge), counters,
            (throwable) -> {
                throw new AssertionError(role + ": " + throwable, throwable);
            });
        factory.delay(pipeline.delayStages());
        agents.clear();
        agents.addAll(pipeline.agents());
        agents.forEach(Agent::onStart);
        isDiskDirect = false;
        agents.add(spoolThread);
        agents.add(endAgent);
        stalledUntilNs = new long[agents.size()];
        isStopping = false;
    }

    private int workFiles() {
        final int count = fileJobs.size();
        while (!fileJobs.isEmpty()) {
            fileJobs.poll().run();
        }
        return count;
    }

    /** What the process waits for at its end. */
    private void closePipeline() {
        isDiskDirect = true;
        workFiles();
        pipeline.close();
        pipeline = null;
    }

    /** A duty cycle of an agent, unless it stands still. Returns a count of work done. */
    int work(final int agent) {
        if (time.nanoTime() < stalledUntilNs[agent]) {
            return 0;
        }
        try {
            return agents.get(agent).doWork();
        } catch (final Exception ex) {
            throw new AssertionError(role + " " + agents.get(agent).roleName() + ": " + ex, ex);
        }
    }

    /** {@return the index of the agent that the records leave by} */
    int exportingAgent() {
        int index = 0;
        while (!(agents.get(index) instanceof ExportingAgent)) {
            index++;
        }
        return index;
    }

    Destination exporting() {
        return exporting;
    }

    /** Whether the disk answers errors when it is to force something. */
    void failDisk(final boolean value) {
        disk.failing(value);
    }

    void requestStop() {
        isStopping = true;
        pipeline.requestStop();
    }

    /** Whether an agent does not stand still. */
    boolean isWorking(final int agent) {
        return time.nanoTime() >= stalledUntilNs[agent];
    }

    /**
     * Releases a process that has ended in order; its files stay.
     *
     * @param other a duty cycle of the exchange's other end; null if there is none that listens.
     */
    void finish(final Runnable other) throws Exception {
        closePipeline();
        if (other == null) {
            network.close(List.of((AutoCloseable)end));
        } else {
            network.close((AutoCloseable)end, other);
        }
    }

    /** Ends the process as kill -9 does, or the whole host as a power cut does: then only what was forced is left. */
    void kill(final boolean isPowerCut) throws IOException {
        collector.onKilled(isPowerCut);
        if (isPowerCut) {
            disk.cutNow();
        } else {
            copy(home, kept);
        }
        network.close(List.of((AutoCloseable)end));
        closePipeline();
        remove(home);
        Files.move(kept, home);
    }

    private static void copy(final Path from, final Path to) throws IOException {
        try (Stream<Path> all = Files.walk(from)) {
            for (final Path path : all.sorted().toList()) {
                Files.copy(path, to.resolve(from.relativize(path).toString()));
            }
        }
    }

    private static void remove(final Path root) throws IOException {
        Files.walkFileTree(root, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(final Path path, final BasicFileAttributes attributes) throws IOException {
                Files.delete(path);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult postVisitDirectory(final Path path, final IOException fault) throws IOException {
                Files.delete(path);
                return FileVisitResult.CONTINUE;
            }
        });
    }

    @Override
    public void close() throws IOException {
        if (pipeline != null) {
            collector.onKilled(false);
            network.close(List.of((AutoCloseable)end));
            closePipeline();
        }
        remove(directory);
    }
}
