package io.flowlag.station.wire;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.protobuf.util.JsonFormat;
import io.flowlag.station.schema.Alert;
import io.flowlag.station.schema.FlowMessage;
import io.flowlag.station.schema.PathWindow;
import io.flowlag.station.schema.SegmentWindow;
import io.flowlag.station.schema.Status;
import io.flowlag.station.schema.Verdict;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.Serializable;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.function.Function;

/**
 * A topic of results: the keys and values of its records. Immutable.
 *
 * @param topic of the results.
 * @param empty a message without fields.
 * @param key   of a record.
 * @param <M>   the results.
 */
public record ResultTopic<M extends Message>(Topic topic, M empty, Key<M> key) implements Serializable {
    /** Windows of segments: NETWORK/SEGMENT/CLASS, where the class is all if there is none. */
    public static final ResultTopic<SegmentWindow> SEGMENTS = new ResultTopic<>(Topic.SEGMENTS,
        SegmentWindow.getDefaultInstance(), (window) -> text(window.getNetwork() + '/' + window.getSegment() + '/' +
            (window.hasDscp() ? window.getDscp() : "all")));
    /** Verdicts: NETWORK/CLASS. */
    public static final ResultTopic<Verdict> VERDICTS = new ResultTopic<>(Topic.VERDICTS, Verdict.getDefaultInstance(),
        (verdict) -> text(verdict.getNetwork() + '/' + (verdict.hasDscp() ? verdict.getDscp() : "all")));
    /** Alerts: their id. */
    public static final ResultTopic<Alert> ALERTS =
        new ResultTopic<>(Topic.ALERTS, Alert.getDefaultInstance(), (alert) -> text(alert.getId()));
    /** Exporters and service levels: NETWORK/ADDRESS/DOMAIN and NETWORK/NAME. */
    public static final ResultTopic<Status> STATUS = new ResultTopic<>(Topic.STATUS, Status.getDefaultInstance(),
        (status) -> text(status.getNetwork() + '/' + (status.hasLevel() ? status.getLevel().getName() :
            status.getExporter().getAddress() + '/' + status.getExporter().getDomain())));
    /** Windows of flows: addresses of 16 octets, ports, protocol. */
    public static final ResultTopic<PathWindow> PATHS = new ResultTopic<>(Topic.PATHS, PathWindow.getDefaultInstance(),
        (path) -> flow(path.getSrcAddr(), path.getDstAddr(), path.getSrcPort(), path.getDstPort(), path.getProto()));
    /** Flow records: as those of {@link #PATHS}. */
    public static final ResultTopic<FlowMessage> FLOWS = new ResultTopic<>(Topic.FLOWS, FlowMessage.getDefaultInstance(),
        (flow) -> flow(flow.getSrcAddr(), flow.getDstAddr(), flow.getSrcPort(), flow.getDstPort(), flow.getProto()));

    private static final int ADDRESS_BYTES = 16;
    private static final int KEY_BYTES = 2 * ADDRESS_BYTES + 2 * Short.BYTES + 1;

    /** Makes the key of a record, or its value; the records of a key are in one partition, in order. */
    public interface Key<M> extends Function<M, byte[]>, Serializable {
    }

    private static byte[] text(final String key) {
        return key.getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] flow(
        final ByteString source, final ByteString destination, final int sourcePort, final int destinationPort,
        final int protocol) {
        final ByteBuffer key = ByteBuffer.allocate(KEY_BYTES);
        address(source, key);
        address(destination, key);
        return key.putShort((short)sourcePort).putShort((short)destinationPort).put((byte)protocol).array();
    }

    /** IPv4 is mapped into IPv6; what is no address is ::. */
    private static void address(final ByteString octets, final ByteBuffer key) {
        final int end = key.position() + ADDRESS_BYTES;
        if (octets.size() == Integer.BYTES) {
            key.putLong(0).putInt(0xffff);
        }
        if (octets.size() == Integer.BYTES || octets.size() == ADDRESS_BYTES) {
            key.put(octets.asReadOnlyByteBuffer());
        }
        key.position(end);
    }

    /** {@return the value of a record} */
    public byte[] write(final M result, final TopicFormat format) {
        try {
            return switch (format) {
                case PROTOBUF -> result.toByteArray();
                case PROTOBUF_DELIMITED -> {
                    final ByteArrayOutputStream octets = new ByteArrayOutputStream(result.getSerializedSize() + Integer.BYTES);
                    result.writeDelimitedTo(octets);
                    yield octets.toByteArray();
                }
                case JSON -> text(
                    JsonFormat.printer().preservingProtoFieldNames().omittingInsignificantWhitespace().print(result));
            };
        } catch (final IOException ex) {
            throw new IllegalStateException("octets in memory", ex);
        }
    }

    /**
     * Reads the value of a record; fields that are not known are ignored.
     *
     * @throws InvalidProtocolBufferException if it is no such message in this format.
     */
    @SuppressWarnings("unchecked")
    public M read(final byte[] value, final TopicFormat format) throws InvalidProtocolBufferException {
        final Message.Builder result = empty.newBuilderForType();
        switch (format) {
            case PROTOBUF -> result.mergeFrom(value);
            case PROTOBUF_DELIMITED -> {
                try {
                    result.mergeDelimitedFrom(new ByteArrayInputStream(value));
                } catch (final InvalidProtocolBufferException ex) {
                    throw ex;
                } catch (final IOException ex) {
                    throw new IllegalStateException("octets in memory", ex);
                }
            }
            default -> JsonFormat.parser().ignoringUnknownFields().merge(new String(value, StandardCharsets.UTF_8), result);
        }
        return (M)result.build();
    }
}
