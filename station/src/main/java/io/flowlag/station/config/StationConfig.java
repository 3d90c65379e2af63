package io.flowlag.station.config;

import io.flowlag.ipfix.collect.SessionKind;
import io.flowlag.station.job.JobSettings;

import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;

/**
 * What a station is asked for. Immutable.
 *
 * @param job         network and windows.
 * @param listen      where records are received.
 * @param view        where pages are served.
 * @param history     file of the history.
 * @param checkpoints directory of the job's checkpoints; null for none.
 * @param intervalMs  of checkpoints.
 * @param parallelism of the job.
 */
public record StationConfig(JobSettings job, List<Listener> listen, InetSocketAddress view, Path history, Path checkpoints,
    long intervalMs, int parallelism) {
    /**
     * An address to receive on.
     *
     * @param kind        UDP, TCP or TLS.
     * @param credentials of TLS; null elsewhere.
     */
    public record Listener(SessionKind kind, InetSocketAddress address, Credentials credentials) {
    }

    /** Files of TLS, in PEM. */
    public record Credentials(Path certificate, Path key, Path authorities) {
    }
}
