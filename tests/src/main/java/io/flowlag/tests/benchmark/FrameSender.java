package io.flowlag.tests.benchmark;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.locks.LockSupport;

/** Sends UDP packets of 60 octets with Ethernet and IPv4 headers. One thread uses an instance. */
abstract class FrameSender implements AutoCloseable {
    static final int FRAME_BYTES = 60;
    /** Packets of a call at top speed, and the most flows. */
    static final int MOST_FRAMES = 1 << 14;
    private static final int BURST_FRAMES = 64;

    /** {@return most packets of a call at a given rate, when the sender is behind} */
    int mostBehind() {
        return BURST_FRAMES;
    }

    /**
     * Sends the next packets.
     *
     * @param count a part of {@link #MOST_FRAMES}.
     * @return packets that were sent.
     * @throws IOException if the interface is gone or takes none.
     */
    abstract long send(int count) throws IOException;

    @Override
    public abstract void close();

    /**
     * Sends for some time, and prints packets, nanoseconds, and those of them in which a processor worked on it in this thread.
     *
     * @param arguments {@code live}, {@code redirect} or {@code ring}, interface, seconds, flows, packets a second or 0 for top
     *                  speed.
     * @throws IOException if it cannot be sent.
     */
    static int run(final String[] arguments) throws IOException {
        final int flowCount = Integer.parseInt(arguments[3]);
        final long limitNs = Math.round(Double.parseDouble(arguments[2]) * 1e9);
        final long rate = Long.parseLong(arguments[4]);
        try (FrameSender sender = arguments[0].equals("ring") ? new RingSender(arguments[1], flowCount) :
            new LiveFrameSender(arguments[1], flowCount, arguments[0].equals("redirect"))) {
            final long startCpuNs = cpuNs();
            final long startNs = System.nanoTime();
            long packets = 0;
            long passedNs = 0;
            while (passedNs < limitNs) {
                final long due = (long)(passedNs / 1e9 * rate) - packets;
                packets += sender.send(
                    rate == 0 ? MOST_FRAMES : (int)Math.max(BURST_FRAMES, Math.min(due, sender.mostBehind())));
                passedNs = System.nanoTime() - startNs;
                while (rate > 0 && passedNs < packets * 1e9 / rate) {
                    LockSupport.parkNanos((long)(packets * 1e9 / rate) - passedNs);
                    passedNs = System.nanoTime() - startNs;
                }
            }
            System.out.println("sent " + packets + " packets in " + passedNs + " ns, CPU " + (cpuNs() - startCpuNs) + " ns");
        }
        return 0;
    }

    private static long cpuNs() throws IOException {
        return Long.parseLong(Files.readString(Path.of("/proc/thread-self/schedstat")).split(" ")[0]);
    }
}
