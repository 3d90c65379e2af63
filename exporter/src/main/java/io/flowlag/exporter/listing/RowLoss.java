package io.flowlag.exporter.listing;

/**
 * Lost packets of a row. Immutable.
 *
 * @param packets   null if unknown.
 * @param isExact   whether it is their number, not an upper bound.
 * @param ofPackets packets of the records that know their loss, where not all do: it is a lower bound then; null if all do.
 */
public record RowLoss(Long packets, boolean isExact, Long ofPackets) {
    /** Nothing is known. */
    public static final RowLoss UNKNOWN = new RowLoss(null, false);

    /** Of all records of the row. */
    public RowLoss(final Long packets, final boolean isExact) {
        this(packets, isExact, null);
    }

    /** {@return whether it is that of all records of the row} */
    public boolean isWhole() {
        return packets != null && ofPackets == null;
    }

    /** {@return what stands before the number: nothing, or that it is a bound} */
    public String mark() {
        return ofPackets != null ? ">=" : isExact ? "" : "<=";
    }
}
