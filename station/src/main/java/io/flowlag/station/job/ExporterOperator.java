package io.flowlag.station.job;

import io.flowlag.station.schema.Status;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

import java.util.HashMap;
import java.util.Map;

/** Sums what came of exporters. */
final class ExporterOperator extends PeriodicOperator<Status.Exporter, Status> {
    private static final long serialVersionUID = 1;

    private final String network;
    private transient Map<Key, Status.Exporter> sums;

    private record Key(String address, long domain) {
    }

    ExporterOperator(final String network) {
        this.network = network;
    }

    @Override
    public void open() throws Exception {
        super.open();
        sums = new HashMap<>();
        begin();
    }

    @Override
    public void processElement(final StreamRecord<Status.Exporter> element) {
        final Status.Exporter more = element.getValue();
        sums.merge(new Key(more.getAddress(), more.getDomain()), more, ExporterOperator::plus);
        if (sums.size() > MOST_SUMS) {
            send();
        }
    }

    /** {@return both together, of the first one's exporter} */
    static Status.Exporter plus(final Status.Exporter one, final Status.Exporter more) {
        return one.toBuilder().setMessages(one.getMessages() + more.getMessages())
            .setRecords(one.getRecords() + more.getRecords()).setMissing(one.getMissing() + more.getMissing())
            .setRefused(one.getRefused() + more.getRefused())
            .setLastNs(Math.max(one.getLastNs(), more.getLastNs())).build();
    }

    @Override
    void send() {
        for (final Status.Exporter each : sums.values()) {
            output.collect(new StreamRecord<>(Status.newBuilder().setNetwork(network).setExporter(each).build()));
        }
        sums.clear();
    }
}
