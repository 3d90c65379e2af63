package io.flowlag.exporter.delay.exact;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

class TruthWriterTest {
    @TempDir
    private Path directory;
    private final Packets packets = new Packets();
    private final SegmentFlows flows = new SegmentFlows(16, SegmentFlows.NEVER_NS);

    private void packet(final int flow, final long... delaysNs) {
        for (final long delayNs : delaysNs) {
            flows.onSent(packets.packet(flow, 0, 0), 0);
            flows.onDelay(flows.onReceived(packets.packet(flow, 0, 0), 0), delayNs);
        }
    }

    private List<String> lines() throws IOException {
        final Path file = directory.resolve("truth.csv");
        TruthWriter.write(flows, file);
        return Files.readAllLines(file);
    }

    @Test
    void shouldWriteExactDelaysInTheOrderOfTheKeys() throws IOException {
        flows.onSent(packets.packetIpv6(1, 0, 0), 0);
        packet(200, 1, 2, 4);
        packet(3, -5);
        packet(2, 4_000_000_000_000L, 4_000_000_000_001L);
        flows.onReceived(packets.packet(1, 0, 0), 0);

        assertEquals(List.of(
            "src,dst,proto,sport,dport,sent,received,mean_ns,sd_ns,min_ns,max_ns",
            "10.0.0.1,10.1.0.0,17,1001,443,0,1,,,,",
            "10.0.0.2,10.1.0.0,17,1002,443,2,2,4000000000000.500,0.707,4000000000000,4000000000001",
            "10.0.0.3,10.1.0.0,17,1003,443,1,1,-5.000,,-5,-5",
            "10.0.0.200,10.1.0.0,17,1200,443,3,3,2.333,1.528,1,4",
            "2001:db8::a00:1,2001:db8:1::a01:0,17,1001,443,1,0,,,,"), lines());
    }

    @Test
    void shouldWriteAHeaderWhenThereIsNothing() throws IOException {
        assertEquals(List.of(TruthWriter.HEADER), lines());
    }

    @Test
    void shouldSayWhenTheFileCannotBeWritten() {
        assertThrows(IOException.class, () -> TruthWriter.write(flows, directory.resolve("no/such/folder.csv")));
    }
}
