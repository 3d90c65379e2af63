package io.flowlag.station.config;

import io.flowlag.ipfix.collect.SessionKind;
import io.flowlag.station.job.EmbeddedJob;
import io.flowlag.station.job.JobSettings;

import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;

/**
 * What a station is asked for. Immutable.
 *
 * @param job    network and windows.
 * @param listen where records are received.
 * @param view   pages and history.
 * @param flink  how the job runs.
 */
public record StationConfig(JobSettings job, List<Listener> listen, View view, EmbeddedJob.Settings flink) {
    /**
     * What is shown where.
     *
     * @param listen  where pages are served.
     * @param history file of the history.
     */
    public record View(InetSocketAddress listen, Path history) {
    }

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
