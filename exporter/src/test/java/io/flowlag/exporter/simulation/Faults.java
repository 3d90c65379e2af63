package io.flowlag.exporter.simulation;

import io.flowlag.exporter.exchange.link.MemoryNetwork;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.SplittableRandom;

/** The faults of a simulation: drawn one after the other, each heals by itself. */
final class Faults {
    private static final int KINDS = 20;
    private static final long CLOSE_NS = 5 * Simulation.MS_NS;

    private final Simulation world;
    private final SplittableRandom random;

    Faults(final Simulation world) {
        this.world = world;
        random = world.random;
    }

    private long briefly() {
        return (20 + random.nextInt(500)) * Simulation.MS_NS << random.nextInt(4);
    }

    /** Begins a fault. */
    void draw() throws IOException {
        final SimulatedHost host = world.hosts.get(random.nextInt(2));
        final long ns = briefly();
        switch (random.nextInt(KINDS)) {
            case 0, 1 -> kill(host, false, ns);
            case 2, 3 -> kill(host, true, ns);
            case 4 -> restart(host, ns);
            case 5 -> cut(ns);
            case 6 -> half(random.nextBoolean());
            case 7 -> stallNetwork(ns);
            case 8, 9 -> stall(host, random.nextInt(host.agents.size()), 2 * ns);
            case 10 -> step(host);
            case 11, 17, 18 -> away(host, ns);
            case 12 -> notReading(host, ns);
            case 13 -> failDisk(host, ns);
            case 14 -> disturb(ns);
            case 15 -> lie(ns);
            case 19 -> hang(host, ns);
            default -> reload();
        }
    }

    private void kill(final SimulatedHost host, final boolean isPowerCut, final long ns) {
        if (host.isRunning() && !host.isStopping) {
            world.tell((isPowerCut ? "power cut " : "kill ") + host.role);
            try {
                host.kill(isPowerCut);
            } catch (final IOException ex) {
                throw new UncheckedIOException(ex);
            }
            world.after(ns, () -> start(host));
        }
    }

    private void start(final SimulatedHost host) {
        try {
            world.tell("start " + host.role);
            host.start();
            world.laws.onStarted(host);
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private void restart(final SimulatedHost host, final long ns) {
        if (host.isRunning() && !host.isStopping) {
            world.tell("stop " + host.role);
            host.requestStop();
            world.after(Simulation.SECOND_NS, () -> awaitEnd(host, ns));
        }
    }

    private void awaitEnd(final SimulatedHost host, final long ns) {
        if (!host.pipeline.isEnded()) {
            world.after(Simulation.SECOND_NS / 5, () -> awaitEnd(host, ns));
            return;
        }
        try {
            world.stop(host);
        } catch (final Exception ex) {
            throw new AssertionError(ex);
        }
        world.after(ns, () -> start(host));
    }

    private void lie(final long ns) throws IOException {
        world.tell("a liar");
        world.liar(new Liar(world.network, Simulation.PORT, random.split()));
        world.after(ns, () -> world.liar(null));
    }

    private void cut(final long ns) {
        world.tell("network cut");
        world.network.cut();
        world.after(ns, world.network::heal);
    }

    private void half(final boolean isForth) {
        if (world.network.connectionCount() > 0) {
            world.tell("half open " + isForth);
            final MemoryNetwork.Connection last = world.network.connection(world.network.connectionCount() - 1);
            last.lose(isForth);
        }
    }

    private void stallNetwork(final long ns) {
        if (world.network.connectionCount() > 0) {
            world.tell("network stalls");
            final MemoryNetwork.Connection last = world.network.connection(world.network.connectionCount() - 1);
            last.stall(true);
            world.after(ns, () -> last.stall(false));
        }
    }

    private void stall(final SimulatedHost host, final int agent, final long ns) {
        if (host.isRunning()) {
            world.tell("stall " + host.role + ' ' + host.agents.get(agent).roleName() + ' ' + ns / Simulation.MS_NS);
            world.laws.onStalled(host, agent);
            host.stalledUntilNs[agent] = world.time.nanoTime() + ns;
        }
    }

    /** No records leave, until a watchdog ends the process. */
    private void hang(final SimulatedHost host, final long ns) {
        if (host.isRunning() && !host.isStopping) {
            final long hangNs = (2 + random.nextInt(10)) * Simulation.SECOND_NS;
            stall(host, host.exportingAgent(), hangNs);
            final boolean isPowerCut = random.nextBoolean();
            world.after(hangNs, () -> kill(host, isPowerCut, ns));
        }
    }

    private void step(final SimulatedHost host) {
        final long ns = (random.nextBoolean() ? 1 : -1) * (random.nextLong(4 * Simulation.SECOND_NS) >> random.nextInt(12));
        world.tell("clock of " + host.role + " steps by " + ns);
        host.clockOffsetNs += ns;
        world.laws.promiseNothing(host);
        world.laws.onStepped(host);
    }

    private void away(final SimulatedHost host, final long ns) {
        world.tell("collector of " + host.role + " away");
        host.collector.up(false);
        world.after(8 * ns, () -> host.collector.up(true));
    }

    private void notReading(final SimulatedHost host, final long ns) {
        world.tell("collector of " + host.role + " does not read");
        host.collector.reading(false);
        world.after(4 * ns, () -> host.collector.reading(true));
    }

    private void failDisk(final SimulatedHost host, final long ns) {
        world.tell("disk of " + host.role + " fails");
        if (host.isRunning()) {
            host.failDisk(true);
            world.laws.promiseNothing(host);
            world.after(ns, () -> host.failDisk(false));
        }
    }

    private void disturb(final long ns) {
        world.tell("path disturbed");
        final SimulatedPath path = world.path;
        final int lost = path.lost;
        final long jitterNs = path.jitterNs;
        path.lost = random.nextInt(200);
        path.copied = random.nextInt(3) == 0 ? random.nextInt(50) : 0;
        path.jitterNs = 1 + random.nextLong(50 * Simulation.MS_NS);
        path.extraDelayNs = random.nextInt(3) == 0 ? random.nextLong(400 * Simulation.MS_NS) : 0;
        world.after(ns, () -> {
            path.lost = Math.min(lost, 30);
            path.copied = 0;
            path.jitterNs = Math.min(jitterNs, 2 * Simulation.MS_NS);
            path.extraDelayNs = 0;
        });
    }

    private void reload() {
        if (world.receiver.isRunning() && !world.receiver.isStopping) {
            world.tell("reload");
            world.reload();
        }
    }

    /** No more faults begin. Collectors are up, clocks are right, and the other faults heal by themselves. */
    void end() {
        world.network.heal();
        world.hosts.forEach((host) -> {
            host.collector.up(true);
            host.collector.reading(true);
        });
        if (Math.abs(world.sender.clockOffsetNs - world.receiver.clockOffsetNs) > CLOSE_NS) {
            world.tell("clocks are set right");
            world.hosts.forEach((host) -> {
                host.clockOffsetNs = 0;
                world.laws.promiseNothing(host);
                world.laws.onStepped(host);
            });
        }
    }
}
