package io.flowlag.station.config;

import io.flowlag.ipfix.collect.SessionKind;
import io.flowlag.station.job.EmbeddedJob;
import io.flowlag.station.job.JobSettings;
import io.flowlag.station.view.View;
import io.flowlag.station.wire.KafkaSettings;

import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;

/**
 * What a station is asked for. Immutable.
 *
 * @param job    network and windows.
 * @param listen where records are received.
 * @param view   pages, history and where alerts go.
 * @param flink  how the job runs.
 * @param kafka  between inlet, job and view; null for one process without it.
 */
public record StationConfig(JobSettings job, List<Listener> listen, View.Settings view, EmbeddedJob.Settings flink,
    KafkaSettings kafka) {
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
