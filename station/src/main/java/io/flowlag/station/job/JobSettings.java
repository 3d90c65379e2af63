package io.flowlag.station.job;

import io.flowlag.common.config.Problems;
import io.flowlag.network.topology.NetworkFiles;
import io.flowlag.network.topology.NetworkMap;

import java.io.Serializable;

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
 */
public record JobSettings(String name, String format, String file, String text, int enterpriseNumber, long slowNs,
    double confidence, Windows windows) implements Serializable {
    /**
     * Windows and when they fire.
     *
     * @param lengthMs    of a window.
     * @param latenessMs  how long after its end a window is final.
     * @param lateLimitMs how long after its end later records correct it.
     */
    public record Windows(long lengthMs, long latenessMs, long lateLimitMs) implements Serializable {
    }

    /** {@return the network, read anew} */
    public NetworkMap network() {
        final Problems problems = new Problems();
        final NetworkMap network = NetworkFiles.parse(format, file, text, problems);
        if (network == null) {
            throw new IllegalStateException(String.join("; ", problems.lines()));
        }
        return network;
    }
}
