package io.flowlag.exporter.flow;

import io.flowlag.exporter.status.CounterId;

/** Why a flow record was created, with the values of flowEndReason (136). */
public enum EndReason {
    /** No packet for the idle timeout. */
    IDLE_TIMEOUT(1, CounterId.FLOWS_ENDED_IDLE),
    /** The flow reached the active timeout; its next packet begins a new record. */
    ACTIVE_TIMEOUT(2, CounterId.FLOWS_ENDED_ACTIVE),
    /** TCP FIN or RST was seen. */
    END_OF_FLOW(3, CounterId.FLOWS_ENDED_END_OF_FLOW),
    /** The input or the process ended. */
    FORCED_END(4, CounterId.FLOWS_ENDED_FORCED),
    /** The cache was full and a new flow needed the slot. */
    LACK_OF_RESOURCES(5, CounterId.FLOWS_ENDED_LACK_OF_RESOURCES);

    private final int code;
    private final CounterId counterId;

    EndReason(final int code, final CounterId counterId) {
        this.code = code;
        this.counterId = counterId;
    }

    /** {@return the value of flowEndReason} */
    public int code() {
        return code;
    }

    /** {@return the counter of flow records with this reason} */
    public CounterId counterId() {
        return counterId;
    }
}
