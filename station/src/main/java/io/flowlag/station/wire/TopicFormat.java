package io.flowlag.station.wire;

/** How a result is written as the value of a record of Kafka. */
public enum TopicFormat {
    /** The message alone. */
    PROTOBUF,
    /** The message behind its length, a varint. */
    PROTOBUF_DELIMITED,
    /** Protobuf's JSON in one line, with the names of the schema: octets are base64, 64-bit integers strings. */
    JSON
}
