package io.flowlag.exporter.reference;

import java.net.InetAddress;

/**
 * How references are sent. Immutable.
 *
 * @param source         own address, or null for the one that the route gives.
 * @param interfaceName  by which they leave, or null for the one that the route gives.
 * @param trafficClasses one a stream: octet of the IP header, DSCP in the upper six bits.
 * @param stampPoint     position of the sender's observation point.
 */
public record TransmitterOptions(
    InetAddress target, int port, InetAddress source, String interfaceName, int[] trafficClasses, StampPoint stampPoint) {

    private static final int MAXIMUM_PORT = 65_535;
    private static final int MAXIMUM_TRAFFIC_CLASS = 255;

    /** Checks the ranges. */
    public TransmitterOptions {
        if (port < 1 || port > MAXIMUM_PORT) {
            throw new IllegalArgumentException("port=" + port + " is not in 1 to " + MAXIMUM_PORT);
        }
        if (trafficClasses.length == 0) {
            throw new IllegalArgumentException("there is no stream");
        }
        for (final int trafficClass : trafficClasses) {
            if (trafficClass < 0 || trafficClass > MAXIMUM_TRAFFIC_CLASS) {
                throw new IllegalArgumentException("trafficClass=" + trafficClass + " is not in 0 to " + MAXIMUM_TRAFFIC_CLASS);
            }
        }
        if (source != null && UdpLayout.family(source) != UdpLayout.family(target)) {
            throw new IllegalArgumentException("source=" + source.getHostAddress() + " and target=" + target.getHostAddress() +
                " are not of one IP version");
        }
    }
}
