package io.flowlag.tests.support;

/**
 * The fields of a flow that all witnesses report. Addresses are in the notation of {@link Addresses#canonical}; ports are 0 for
 * protocols without ports.
 */
public record Flow(
    String source, String destination, int protocol, int sourcePort, int destinationPort,
    long packets, long octets, long firstMs, long lastMs) {
    private static final int TCP = 6;
    private static final int UDP = 17;
    private static final int SCTP = 132;

    /** The identifying fields. */
    public record Key(String source, String destination, int protocol, int sourcePort, int destinationPort) {
        @Override
        public String toString() {
            return source + "," + destination + "," + protocol + "," + sourcePort + "," + destinationPort;
        }
    }

    /** Normalises addresses and the ports of protocols that have none. */
    public Flow {
        source = Addresses.canonical(source);
        destination = Addresses.canonical(destination);
        final boolean ports = protocol == TCP || protocol == UDP || protocol == SCTP;
        sourcePort = ports ? sourcePort : 0;
        destinationPort = ports ? destinationPort : 0;
    }

    /** {@return the identifying fields} */
    public Key key() {
        return new Key(source, destination, protocol, sourcePort, destinationPort);
    }

    /** {@return both records of one flow as one} */
    public Flow plus(final Flow other) {
        return new Flow(source, destination, protocol, sourcePort, destinationPort, packets + other.packets,
            octets + other.octets, Math.min(firstMs, other.firstMs), Math.max(lastMs, other.lastMs));
    }

    /** {@return without times, for captures whose time is not in order} */
    public Flow timeless() {
        return new Flow(source, destination, protocol, sourcePort, destinationPort, packets, octets, 0, 0);
    }
}
