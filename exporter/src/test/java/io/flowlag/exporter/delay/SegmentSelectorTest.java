package io.flowlag.exporter.delay;

import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.flow.FlowEntry;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.junit.jupiter.api.Assertions.assertEquals;

class SegmentSelectorTest {
    private final UnsafeBuffer descriptor = new UnsafeBuffer(new byte[PacketDescriptor.LENGTH_BYTES]);

    private void packet(final int ipVersion, final long sourceHigh, final long sourceLow, final long destinationLow) {
        PacketDescriptor.ipVersion(descriptor, 0, ipVersion);
        PacketDescriptor.sourceHigh(descriptor, 0, sourceHigh);
        PacketDescriptor.sourceLow(descriptor, 0, sourceLow);
        PacketDescriptor.destinationHigh(descriptor, 0, 0);
        PacketDescriptor.destinationLow(descriptor, 0, destinationLow);
    }

    private boolean selects(final String segment) {
        return new SegmentSelector(new ConfigLoader().text("test", "segment: {" + segment + "}\n").conclude().segment())
            .selects(descriptor, 0);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "                                                       | true",
        "source: [10.0.0.0/8]                                   | true",
        "source: [11.0.0.0/8, 10.1.2.3]                         | true",
        "source: [11.0.0.0/8]                                   | false",
        "source: ['::/0']                                       | false",
        "destination: [10.9.0.0/16]                             | true",
        "source: [10.0.0.0/8], destination: [10.8.0.0/16]       | false",
        "vlan: 5                                                | false"})
    void shouldSelectByPrefixesOfBothAddresses(final String segment, final boolean isSelected) {
        packet(4, 0, 0x0A010203L, 0x0A090001L);
        assertEquals(isSelected, selects(segment == null ? "" : segment));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "source: ['2001:db8::/32']     | true",
        "source: ['2001:db8:1::/48']   | false",
        "source: [0.0.0.0/0]           | false"})
    void shouldSelectByPrefixesOfIpv6(final String segment, final boolean isSelected) {
        packet(6, 0x20010DB8_00000000L, 1, 2);
        assertEquals(isSelected, selects(segment));
    }

    @Test
    void shouldSelectTheVlanOfATaggedPacketAlone() {
        packet(4, 0, 1, 2);
        PacketDescriptor.vlanId(descriptor, 0, 5);
        assertEquals(false, selects("vlan: 5"), "the field is not valid without its flag");
        PacketDescriptor.flags(descriptor, 0, PacketDescriptor.FLAG_VLAN);
        assertEquals(true, selects("vlan: 5"));
        assertEquals(false, selects("vlan: 6"));
    }

    @Test
    void shouldTellSendersByTheSourceOfAPacketAndOfAFlow() {
        final SenderSelector senders = new SenderSelector(new ConfigLoader().text("test",
            "rli: {senders: ['1@::1?source=10.1.0.0/16,10.3.0.0/16', '2@::2?source=10.2.0.0/16']}\n")
                .conclude().rli().references().senders());
        final UnsafeBuffer entry = new UnsafeBuffer(new byte[FlowEntry.BASE_LENGTH_BYTES]);
        FlowEntry.ipVersion(entry, 0, 4);
        final long[] sources = {0x0A010000L, 0x0A030001L, 0x0A020001L, 0x0A040001L};
        final int[] expected = {0, 0, 1, SenderSelector.NONE};
        for (int i = 0; i < sources.length; i++) {
            packet(4, 0, sources[i], 0);
            FlowEntry.sourceLow(entry, 0, sources[i]);
            assertEquals(expected[i], senders.of(descriptor, 0));
            assertEquals(Math.max(0, expected[i]), senders.ofEntry(entry, 0));
        }
        packet(6, 0, 0x0A010000L, 0);
        assertEquals(SenderSelector.NONE, senders.of(descriptor, 0));
    }
}
