package io.flowlag.station.job;

import io.flowlag.common.config.Problems;
import io.flowlag.network.topology.NetworkFiles;
import io.flowlag.network.topology.NetworkMap;

import java.io.Serializable;
import java.util.List;

/**
 * What the job is asked for. Written with each operator.
 *
 * @param name             of the network.
 * @param format           of its file, as {@link NetworkFiles#parse} has it.
 * @param file             name of the file.
 * @param text             of the file.
 * @param enterpriseNumber of the elements of exporters.
 * @param slowNs           excess of a hop from which on it is slow.
 * @param confidence       of a verdict.
 * @param windows          in which delays are summed.
 * @param paths            flows that are followed along their path.
 * @param levels           service levels.
 */
public record JobSettings(String name, String format, String file, String text, int enterpriseNumber, long slowNs,
    double confidence, Windows windows, Paths paths, List<ServiceLevel> levels) implements Serializable {
    /** With the usual share of flows followed, and no service levels. */
    public JobSettings(final String name, final String format, final String file, final String text, final int enterpriseNumber,
        final long slowNs, final double confidence, final Windows windows) {
        this(name, format, file, text, enterpriseNumber, slowNs, confidence, windows, Paths.USUAL, List.of());
    }

    /**
     * Windows and when they fire.
     *
     * @param lengthMs    of a window.
     * @param latenessMs  how long after its end a window is final.
     * @param lateLimitMs how long after its end later records correct it.
     */
    public record Windows(long lengthMs, long latenessMs, long lateLimitMs) implements Serializable {
    }

    /**
     * What is promised of packets.
     *
     * @param dscp    their class; -1 where exporters do not tell classes apart.
     * @param from    node.
     * @param to      node.
     * @param belowNs delay.
     * @param share   of packets with less.
     */
    public record ServiceLevel(String name, int dscp, String from, String to, long belowNs, double share)
        implements Serializable {
    }

    /**
     * Flows that are followed along their path.
     *
     * @param oneOf one of so many is followed.
     * @param flows at most, each in each window counted, until {@code lateLimitMs}; the share is halved if there are more.
     */
    public record Paths(int oneOf, int flows) implements Serializable {
        /** A 16th, 200 k. */
        public static final Paths USUAL = new Paths(16, 200 << 10);
    }

    /** {@return the network, read anew} */
    public NetworkMap network() {
        return network(text);
    }

    /** {@return the network of another text, which has no fault} */
    NetworkMap network(final String other) {
        final Problems problems = new Problems();
        final NetworkMap network = NetworkFiles.parse(format, file, other, problems);
        if (network == null) {
            throw new IllegalStateException(String.join("; ", problems.lines()));
        }
        return network;
    }
}
