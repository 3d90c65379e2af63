package io.flowlag.tests.lab.heldout;

import io.flowlag.exporter.capture.LinkType;
import io.flowlag.exporter.lab.CaptureWriter;
import io.flowlag.exporter.lab.LabRandom;
import io.flowlag.tests.lab.method.PathTrace;
import org.agrona.concurrent.UnsafeBuffer;

import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.SplittableRandom;

/**
 * Traffic of 4 s, independent of the traffic that estimators are tuned on, and its way through a {@link HeldOutPath}. Flow sizes
 * are Pareto (shape 1.08) up to 50 000 packets. Packets of a flow come in trains of heavy-tailed length (Pareto, shape 1.1, up to
 * 5000 packets) at the speed of the flow's access link. Most packets of a large flow are full-sized, those of a small one are
 * not, so large packets come in bursts. The queue drops packets that would wait for more than 4.5 ms. Equal arguments give equal
 * octets. One thread. Allocates about 60 octets a packet.
 */
public final class HeldOutTrace {
    /** Captured octets of a frame. */
    static final int SNAP_BYTES = 96;
    /** Of the sources. */
    static final int FIRST_PORT = 1_024;
    /** How long packets are sent, ns. */
    static final long DURATION_NS = 4_000_000_000L;
    /** Since the epoch. */
    static final long START_NS = 1_790_000_000_000_000_000L;

    private static final double SIZE_SHAPE = 1.08;
    private static final int LARGEST_FLOW = 50_000;
    private static final double TRAIN_SHAPE = 1.1;
    private static final int LONGEST_TRAIN = 5_000;
    private static final int LARGE_FLOW_PACKETS = 10;
    private static final double LONGEST_WAIT_NS = 4.5e6;
    private static final double WEIBULL_SHAPE = 0.6;
    private static final double WEIBULL_SCALE_NS = 1e6;
    private static final double IDLE_LINK_NS = 20_000;
    private static final int FLOW_BITS = 20;
    private static final int PACKET_BITS = 24;
    private static final int PORTS = 60_000;
    private static final int LOST = -1;
    /** A flow's path that is none of the queues. */
    private static final int ELSEWHERE = -1;

    private final HeldOutPath path;
    private final Impairment impairment;
    private final int flows;
    private final int packets;
    private final int[] flow;
    private final int[] number;
    private final short[] lengthBytes;
    private final long[] sentNs;
    /** -1: lost. */
    private final long[] delayNs;
    private final int[] sent;
    private final int[] received;
    private final double[] meanNs;
    private final double[] clockNs;
    private final double[] squareSum;
    private final long[] leastNs;
    private final long[] mostNs;
    private final int[] pathOf;
    private final double[] nsPerByte;

    /**
     * Makes the traffic and passes it through the path.
     *
     * @param flows 1 to 1 000 000.
     * @param seed  any number.
     */
    public HeldOutTrace(final HeldOutPath path, final int flows, final long seed) {
        this(path, flows, seed, 0, Impairment.NONE);
    }

    /**
     * The same with more small flows, or impaired.
     *
     * @param flows       1 to 1 000 000.
     * @param seed        any number.
     * @param singleShare of the flows that have one packet, besides those that have one anyway.
     */
    HeldOutTrace(
        final HeldOutPath path, final int flows, final long seed, final double singleShare, final Impairment impairment) {
        this.path = path;
        this.impairment = impairment;
        this.flows = flows;
        final SplittableRandom random = new SplittableRandom(seed ^ 0x4865_6C64_4F75_7421L);
        final int[] sizes = sizes(random, singleShare);
        packets = Arrays.stream(sizes).sum();
        flow = new int[packets];
        number = new int[packets];
        lengthBytes = new short[packets];
        sentNs = new long[packets];
        delayNs = new long[packets];
        sent = new int[flows];
        received = new int[flows];
        meanNs = new double[flows];
        clockNs = new double[flows];
        squareSum = new double[flows];
        leastNs = new long[flows];
        mostNs = new long[flows];
        pathOf = new int[flows];
        for (int i = 0; i < flows; i++) {
            pathOf[i] = random.nextDouble() < path.elsewhereShare() ? ELSEWHERE : (mix(i) >>> 1) % impairment.paths();
        }
        send(arrivals(sizes, random), sizes, random);
        nsPerByte = nsPerByte();
        pass(random);
        count();
    }

    private int[] sizes(final SplittableRandom random, final double singleShare) {
        final int[] sizes = new int[flows];
        final double tail = Math.pow(Math.min(LARGEST_FLOW, Math.max(2, flows / 4)), -SIZE_SHAPE);
        for (int i = 0; i < flows; i++) {
            sizes[i] = singleShare > 0 && random.nextDouble() < singleShare ? 1 :
                (int)Math.pow(tail + random.nextDouble() * (1 - tail), -1 / SIZE_SHAPE);
        }
        return sizes;
    }

    /** Time and flow of each packet, in order of time. */
    private long[] arrivals(final int[] sizes, final SplittableRandom random) {
        final long[] arrivals = new long[packets];
        int packet = 0;
        for (int i = 0; i < flows; i++) {
            final double spanNs = Math.min(0.95, 0.004 * sizes[i] * Math.exp(3 * random.nextDouble() - 1.5)) * DURATION_NS;
            final double startNs = random.nextDouble() * (DURATION_NS - spanNs);
            final double gapNs = 1_000 * Math.pow(30, random.nextDouble());
            double nowNs = 0;
            int left = 0;
            for (int j = 0; j < sizes[i]; j++) {
                if (left-- == 0) {
                    nowNs = startNs + random.nextDouble() * spanNs;
                    left = (int)Math.min(LONGEST_TRAIN, Math.pow(1 - random.nextDouble(), -1 / TRAIN_SHAPE)) - 1;
                }
                arrivals[packet++] = (long)nowNs << FLOW_BITS | i;
                nowNs += gapNs * (0.5 + random.nextDouble());
            }
        }
        Arrays.sort(arrivals);
        return arrivals;
    }

    private void send(final long[] arrivals, final int[] sizes, final SplittableRandom random) {
        for (int packet = 0; packet < packets; packet++) {
            final int i = (int)(arrivals[packet] & (1 << FLOW_BITS) - 1);
            flow[packet] = i;
            number[packet] = sent[i]++;
            sentNs[packet] = arrivals[packet] >>> FLOW_BITS;
            lengthBytes[packet] = (short)lengthBytes(sizes[i], random.nextDouble());
        }
    }

    private static int lengthBytes(final int size, final double draw) {
        final double fullShare = size > LARGE_FLOW_PACKETS ? 0.65 : 0.25;
        return draw < fullShare ? 1514 : draw < fullShare + 0.15 ? 590 : 60;
    }

    /** Of each path, all at the same load; of a path that no flow takes, as if all took it. */
    private double[] nsPerByte() {
        final double[] bits = new double[impairment.paths()];
        double all = 0;
        for (int packet = 0; packet < packets; packet++) {
            all += 8 * lengthBytes[packet];
            if (pathOf[flow[packet]] != ELSEWHERE) {
                bits[pathOf[flow[packet]]] += 8 * lengthBytes[packet];
            }
        }
        final double ofAll = all;
        return Arrays.stream(bits).map(each -> 8e9 / Math.ceil((each == 0 ? ofAll : each) / path.load() / DURATION_NS * 1e9))
            .toArray();
    }

    private void pass(final SplittableRandom random) {
        final double[] freeNs = new double[nsPerByte.length];
        for (int packet = 0; packet < packets; packet++) {
            final long nowNs = sentNs[packet];
            final int way = pathOf[flow[packet]];
            if (impairment.lostShare() > 0 && random.nextDouble() < impairment.lostShare()) {
                delayNs[packet] = LOST;
            } else if (path == HeldOutPath.WEIBULL) {
                delayNs[packet] = 1 + (long)(WEIBULL_SCALE_NS * Math.pow(-Math.log(1 - random.nextDouble()), 1 / WEIBULL_SHAPE));
            } else if (way == ELSEWHERE) {
                delayNs[packet] = (long)(IDLE_LINK_NS * (1 + random.nextDouble()));
            } else if (freeNs[way] - nowNs > LONGEST_WAIT_NS) {
                delayNs[packet] = LOST;
            } else {
                freeNs[way] = Math.max(freeNs[way], nowNs) + lengthBytes[packet] * nsPerByte[way];
                delayNs[packet] = Math.round(freeNs[way]) - nowNs;
            }
            if (impairment.pathJitterNs() > 0 && delayNs[packet] != LOST) {
                delayNs[packet] += Math.round(-Math.log(1 - random.nextDouble()) * impairment.pathJitterNs());
            }
        }
    }

    private void count() {
        for (int packet = 0; packet < packets; packet++) {
            final int i = flow[packet];
            if (delayNs[packet] != LOST) {
                final long aheadNs = aheadNs(packet);
                final long delay = delayNs[packet] + aheadNs;
                leastNs[i] = received[i] == 0 ? delay : Math.min(leastNs[i], delay);
                mostNs[i] = received[i] == 0 ? delay : Math.max(mostNs[i], delay);
                final double difference = delay - meanNs[i];
                meanNs[i] += difference / ++received[i];
                clockNs[i] += (aheadNs - clockNs[i]) / received[i];
                squareSum[i] += difference * (delay - meanNs[i]);
            }
        }
    }

    /** By how much the receiver's timestamp of a packet is ahead, ns. */
    private long aheadNs(final int packet) {
        return impairment.aheadNs(sentNs[packet] + delayNs[packet], packet);
    }

    /** {@return flows that were sent} */
    public int flows() {
        return flows;
    }

    /** {@return packets that were sent} */
    public int packets() {
        return packets;
    }

    /** {@return packets that were lost} */
    public int lostPackets() {
        return packets - Arrays.stream(received).sum();
    }

    /** {@return capacity of the queue, of the first path if there are several, bits/s of frames} */
    public long capacityBps() {
        return Math.round(8e9 / nsPerByte[0]);
    }

    /** {@return packets of a flow at the sender's point} */
    int sent(final int index) {
        return sent[index];
    }

    /** {@return packets of a flow at the receiver's point} */
    int received(final int index) {
        return received[index];
    }

    /** {@return mean delay of a flow's packets that arrived, as timestamps show it, ns; only if there are any} */
    double meanNs(final int index) {
        return meanNs[index];
    }

    /** {@return what of {@link #meanNs} is the receiver's clock, ns} */
    double clockNs(final int index) {
        return clockNs[index];
    }

    /**
     * The flow with this source address and port.
     *
     * @param address IPv4, in host order.
     * @return its index; -1 if there is none.
     */
    int flowOf(final int address, final int port) {
        final int index = (address >>> 12 & 0xFFF) * PORTS + port - FIRST_PORT;
        return port >= FIRST_PORT && index < flows && sourceAddress(index) == address ? index : -1;
    }

    private static int sourceAddress(final int index) {
        return 0x0A00_0000 | index / PORTS << 12 | mix(index) & 0xFFF;
    }

    private static int destinationAddress(final int index) {
        return 0xAC10_0000 | mix(index) >>> 12 & 0xFFFF;
    }

    private static int sourcePort(final int index) {
        return FIRST_PORT + index % PORTS;
    }

    private static int mix(final int index) {
        final int product = (index + 1) * 0x9E37_79B1;
        return product ^ product >>> 15;
    }

    private static boolean isTcp(final int index) {
        return mix(index) % 8 != 0;
    }

    /** {@return the same packets for methods that need no octets: one interval, in order of arrival} */
    PathTrace observations() {
        final long[] hashes = new long[flows];
        Arrays.setAll(hashes, index -> LabRandom.mix(index + 1L));
        final PathTrace trace = new PathTrace(hashes);
        for (final int packet : inOrderOfArrival(true)) {
            final boolean isLost = delayNs[packet] == LOST;
            trace.add(flow[packet], digest(packet), sentNs[packet], isLost ? 0 : delayNs[packet] + aheadNs(packet),
                lengthBytes[packet], isLost);
        }
        return trace;
    }

    /** {@return what identifies a packet} */
    long digest(final int packet) {
        return LabRandom.mix((long)flow[packet] << 32 | number[packet]);
    }

    /** {@return when a packet was sent, since the start, ns} */
    long sentNs(final int packet) {
        return sentNs[packet];
    }

    /** {@return delay of a packet, ns; below 0 if it was lost} */
    long delayNs(final int packet) {
        return delayNs[packet];
    }

    /** {@return when a packet arrived by the receiver's clock, since the start, ns; only if it was not lost} */
    long arrivalNs(final int packet) {
        return sentNs[packet] + delayNs[packet] + aheadNs(packet);
    }

    /** Packets by the receiver's timestamps; a lost one, if wanted, where it was sent. */
    private int[] inOrderOfArrival(final boolean isLostWanted) {
        final long[] arrivals = new long[isLostWanted ? packets : packets - lostPackets()];
        int count = 0;
        for (int packet = 0; packet < packets; packet++) {
            if (delayNs[packet] != LOST) {
                arrivals[count++] = arrivalNs(packet) << PACKET_BITS | packet;
            } else if (isLostWanted) {
                arrivals[count++] = sentNs[packet] << PACKET_BITS | packet;
            }
        }
        Arrays.sort(arrivals);
        return Arrays.stream(arrivals).mapToInt(arrival -> (int)(arrival & (1 << PACKET_BITS) - 1)).toArray();
    }

    /**
     * Writes both captures, pcapng with nanoseconds.
     *
     * @param senderFile   of the sender's point; created or replaced.
     * @param receiverFile of the receiver's point; created or replaced.
     * @throws IOException if one cannot be written.
     */
    public void writeCaptures(final Path senderFile, final Path receiverFile) throws IOException {
        final Frame frame = new Frame();
        try (CaptureWriter writer = writer(senderFile)) {
            for (int packet = 0; packet < packets; packet++) {
                frame.write(writer, packet, START_NS + sentNs[packet]);
            }
        }
        try (CaptureWriter writer = writer(receiverFile)) {
            for (final int packet : inOrderOfArrival(false)) {
                frame.write(writer, packet, START_NS + arrivalNs(packet));
            }
        }
    }

    private static CaptureWriter writer(final Path file) throws IOException {
        return new CaptureWriter(
            file, CaptureWriter.Format.PCAPNG_NANOSECONDS, ByteOrder.nativeOrder(), LinkType.ETHERNET, SNAP_BYTES);
    }

    /**
     * Writes the truth with the columns of {@code flowlag delay --truth}.
     *
     * @param file created or replaced.
     * @throws IOException if it cannot be written.
     */
    public void writeTruth(final Path file) throws IOException {
        try (BufferedWriter writer = Files.newBufferedWriter(file)) {
            writer.write("src,dst,proto,sport,dport,sent,received,mean_ns,sd_ns,min_ns,max_ns\n");
            for (int i = 0; i < flows; i++) {
                writer.write(text(sourceAddress(i)) + ',' + text(destinationAddress(i)) + ',' + (isTcp(i) ? 6 : 17) + ',' +
                    sourcePort(i) + ",443," + sent[i] + ',' + received[i] + ',' + (received[i] == 0 ? ",,," : String.format(
                        Locale.ROOT, "%.3f,%s,%d,%d", meanNs[i], received[i] == 1 ? "" : String.format(
                            Locale.ROOT, "%.3f", Math.sqrt(squareSum[i] / (received[i] - 1))), leastNs[i], mostNs[i])) + '\n');
            }
        } catch (final UncheckedIOException ex) {
            throw ex.getCause();
        }
    }

    private static String text(final int address) {
        return (address >>> 24) + "." + (address >>> 16 & 0xFF) + "." + (address >>> 8 & 0xFF) + "." + (address & 0xFF);
    }

    /** Ethernet, IPv4 and TCP or UDP; zeros behind the number of the packet. No transport checksum. */
    private final class Frame {
        private final UnsafeBuffer octets = new UnsafeBuffer(new byte[SNAP_BYTES]);

        void write(final CaptureWriter writer, final int packet, final long timestampNs) {
            final int index = flow[packet];
            final int length = lengthBytes[packet];
            octets.setMemory(0, SNAP_BYTES, (byte)0);
            octets.putLong(0, 0x0200_0000_0002_0200L, ByteOrder.BIG_ENDIAN);
            octets.putInt(8, 1, ByteOrder.BIG_ENDIAN);
            putShort(12, 0x0800);
            putShort(14, 0x4500);
            putShort(16, length - 14);
            putShort(18, number[packet]);
            putShort(20, 0x4000);
            putShort(22, 64 << 8 | (isTcp(index) ? 6 : 17));
            octets.putInt(26, sourceAddress(index), ByteOrder.BIG_ENDIAN);
            octets.putInt(30, destinationAddress(index), ByteOrder.BIG_ENDIAN);
            putShort(24, checksum());
            putShort(34, sourcePort(index));
            putShort(36, 443);
            if (isTcp(index)) {
                octets.putInt(38, mix(index) + 1448 * number[packet], ByteOrder.BIG_ENDIAN);
                octets.putInt(42, 1, ByteOrder.BIG_ENDIAN);
                putShort(46, 0x5010);
                putShort(48, 0xFFFF);
                octets.putInt(54, number[packet], ByteOrder.BIG_ENDIAN);
            } else {
                putShort(38, length - 34);
                octets.putInt(42, number[packet], ByteOrder.BIG_ENDIAN);
            }
            writer.write(octets, 0, Math.min(length, SNAP_BYTES), length, timestampNs);
        }

        private void putShort(final int offset, final int value) {
            octets.putShort(offset, (short)value, ByteOrder.BIG_ENDIAN);
        }

        private int checksum() {
            int sum = 0;
            for (int offset = 14; offset < 34; offset += 2) {
                sum += octets.getShort(offset, ByteOrder.BIG_ENDIAN) & 0xFFFF;
            }
            sum = (sum & 0xFFFF) + (sum >>> 16);
            return ~((sum & 0xFFFF) + (sum >>> 16)) & 0xFFFF;
        }
    }
}
