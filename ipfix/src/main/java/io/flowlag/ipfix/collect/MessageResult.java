package io.flowlag.ipfix.collect;

/** Result of a message: accepted, or refused for the first defect found, which its counter describes. */
public enum MessageResult {
    /** Verified and decoded. */
    ACCEPTED(CollectorCounter.ACCEPTED),
    VERSION(CollectorCounter.REFUSED_VERSION),
    MESSAGE_LENGTH(CollectorCounter.REFUSED_MESSAGE_LENGTH),
    SET_LENGTH(CollectorCounter.REFUSED_SET_LENGTH),
    SET_ID(CollectorCounter.REFUSED_SET_ID),
    TEMPLATE_ID(CollectorCounter.REFUSED_TEMPLATE_ID),
    TEMPLATE_CUT(CollectorCounter.REFUSED_TEMPLATE_CUT),
    TEMPLATE_FIELD_COUNT(CollectorCounter.REFUSED_TEMPLATE_FIELD_COUNT),
    TEMPLATE_SCOPE(CollectorCounter.REFUSED_TEMPLATE_SCOPE),
    TEMPLATE_ELEMENT_ID(CollectorCounter.REFUSED_TEMPLATE_ELEMENT_ID),
    TEMPLATE_LENGTH(CollectorCounter.REFUSED_TEMPLATE_LENGTH),
    RECORD_CUT(CollectorCounter.REFUSED_RECORD_CUT);

    private final CollectorCounter counter;

    MessageResult(final CollectorCounter counter) {
        this.counter = counter;
    }

    /** {@return the counter of messages with this result} */
    public CollectorCounter counter() {
        return counter;
    }

    public boolean isAccepted() {
        return this == ACCEPTED;
    }
}
