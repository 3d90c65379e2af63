package io.flowlag.station.wire;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import io.flowlag.station.schema.FlowMessage;
import io.flowlag.station.schema.PathWindow;
import io.flowlag.station.schema.SegmentWindow;
import io.flowlag.station.schema.Verdict;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

/** Keys and values of results in each format. */
class ResultTopicTest {
    private static final SegmentWindow WINDOW = SegmentWindow.newBuilder().setNetwork("n").setSegment("a-b").setDscp(0)
        .setStartNs(Long.MAX_VALUE).setLost(0).setMeanNs(-1.5).setHistogram(ByteString.copyFrom(new byte[] {0, -1})).build();

    @ParameterizedTest
    @EnumSource
    void shouldReadWhatItWrites(final TopicFormat format) throws IOException {
        assertEquals(WINDOW, ResultTopic.SEGMENTS.read(ResultTopic.SEGMENTS.write(WINDOW, format), format));
    }

    @ParameterizedTest
    @EnumSource
    void shouldRefuseWhatIsNoResult(final TopicFormat format) {
        assertThrows(InvalidProtocolBufferException.class, () -> ResultTopic.SEGMENTS.read(new byte[] {1, 127, 3}, format));
    }

    @Test
    void shouldPutTheLengthBeforeADelimitedMessage() throws IOException {
        assertEquals(WINDOW, SegmentWindow.parseDelimitedFrom(
            new ByteArrayInputStream(ResultTopic.SEGMENTS.write(WINDOW, TopicFormat.PROTOBUF_DELIMITED))));
    }

    @Test
    void shouldWriteJsonInOneLineWithTheNamesOfTheSchema() {
        assertEquals("{\"network\":\"n\",\"segment\":\"a-b\",\"dscp\":0,\"start_ns\":\"9223372036854775807\",\"mean_ns\":-1.5," +
            "\"lost\":\"0\",\"histogram\":\"AP8=\"}",
            new String(ResultTopic.SEGMENTS.write(WINDOW, TopicFormat.JSON), StandardCharsets.UTF_8));
    }

    @Test
    void shouldKeyByWhatIsKeptInOrder() {
        assertEquals("n/a-b/0", new String(ResultTopic.SEGMENTS.key().apply(WINDOW), StandardCharsets.UTF_8));
        assertEquals("n/all", new String(
            ResultTopic.VERDICTS.key().apply(Verdict.newBuilder().setNetwork("n").build()), StandardCharsets.UTF_8));
        final ByteString source = ByteString.copyFrom(new byte[] {10, 1, 0, 1});
        final byte[] key = HexFormat.of().parseHex("00000000000000000000ffff0a01000100000000000000000000000000000000ffff000111");
        assertArrayEquals(key, ResultTopic.FLOWS.key().apply(
            FlowMessage.newBuilder().setSrcAddr(source).setSrcPort(65_535).setDstPort(1).setProto(17).build()));
        assertArrayEquals(key, ResultTopic.PATHS.key().apply(
            PathWindow.newBuilder().setSrcAddr(source).setSrcPort(65_535).setDstPort(1).setProto(17).build()));
    }
}
