package io.flowlag.ipfix.collect;

/** Result of a message: accepted, or refused for the first defect found. */
public enum MessageResult {
    /** Verified and decoded. */
    ACCEPTED(CollectorCounter.ACCEPTED),
    /** See {@link CollectorCounter#REFUSED_VERSION}. */
    VERSION(CollectorCounter.REFUSED_VERSION),
    /** See {@link CollectorCounter#REFUSED_MESSAGE_LENGTH}. */
    MESSAGE_LENGTH(CollectorCounter.REFUSED_MESSAGE_LENGTH),
    /** See {@link CollectorCounter#REFUSED_SET_LENGTH}. */
    SET_LENGTH(CollectorCounter.REFUSED_SET_LENGTH),
    /** See {@link CollectorCounter#REFUSED_SET_ID}. */
    SET_ID(CollectorCounter.REFUSED_SET_ID),
    /** See {@link CollectorCounter#REFUSED_TEMPLATE_ID}. */
    TEMPLATE_ID(CollectorCounter.REFUSED_TEMPLATE_ID),
    /** See {@link CollectorCounter#REFUSED_TEMPLATE_CUT}. */
    TEMPLATE_CUT(CollectorCounter.REFUSED_TEMPLATE_CUT),
    /** See {@link CollectorCounter#REFUSED_TEMPLATE_FIELD_COUNT}. */
    TEMPLATE_FIELD_COUNT(CollectorCounter.REFUSED_TEMPLATE_FIELD_COUNT),
    /** See {@link CollectorCounter#REFUSED_TEMPLATE_SCOPE}. */
    TEMPLATE_SCOPE(CollectorCounter.REFUSED_TEMPLATE_SCOPE),
    /** See {@link CollectorCounter#REFUSED_TEMPLATE_ELEMENT_ID}. */
    TEMPLATE_ELEMENT_ID(CollectorCounter.REFUSED_TEMPLATE_ELEMENT_ID),
    /** See {@link CollectorCounter#REFUSED_TEMPLATE_LENGTH}. */
    TEMPLATE_LENGTH(CollectorCounter.REFUSED_TEMPLATE_LENGTH),
    /** See {@link CollectorCounter#REFUSED_RECORD_CUT}. */
    RECORD_CUT(CollectorCounter.REFUSED_RECORD_CUT);

    private final CollectorCounter counter;

    MessageResult(final CollectorCounter counter) {
        this.counter = counter;
    }

    /** {@return the counter of messages with this result} */
    public CollectorCounter counter() {
        return counter;
    }

    /** {@return whether the message was accepted} */
    public boolean isAccepted() {
        return this == ACCEPTED;
    }
}
