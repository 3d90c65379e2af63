package io.flowlag.exporter.decode;

import io.flowlag.exporter.status.CounterId;

/** The result of a layer: {@link #DECODED} or a refusal. A result is the ordinal of its counter. */
final class Result {
    static final int DECODED = CounterId.DECODED.ordinal();
    static final int LINK_TYPE = CounterId.REFUSED_LINK_TYPE.ordinal();
    static final int NOT_IP = CounterId.REFUSED_NOT_IP.ordinal();
    static final int LINK_TRUNCATED = CounterId.REFUSED_LINK_TRUNCATED.ordinal();
    static final int LINK_MALFORMED = CounterId.REFUSED_LINK_MALFORMED.ordinal();
    static final int IP_TRUNCATED = CounterId.REFUSED_IP_TRUNCATED.ordinal();
    static final int IP_VERSION = CounterId.REFUSED_IP_VERSION.ordinal();
    static final int IP_HEADER_LENGTH = CounterId.REFUSED_IP_HEADER_LENGTH.ordinal();
    static final int IP_TOTAL_LENGTH = CounterId.REFUSED_IP_TOTAL_LENGTH.ordinal();
    static final int IPV6_EXTENSION = CounterId.REFUSED_IPV6_EXTENSION.ordinal();

    private Result() {
    }
}
