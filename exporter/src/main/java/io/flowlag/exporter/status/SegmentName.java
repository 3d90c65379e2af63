package io.flowlag.exporter.status;

/** One of several segments between interfaces of this host: its number in records, and where it begins and ends. Immutable. */
public record SegmentName(long id, String ingress, String egress) {
    /** {@return the name for people} */
    public String text() {
        return id + " " + ingress + " > " + egress;
    }
}
