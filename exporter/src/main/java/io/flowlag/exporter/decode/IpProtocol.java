package io.flowlag.exporter.decode;

/** Protocol numbers of the IANA registry that the decoder supports. */
final class IpProtocol {
    static final int HOP_BY_HOP = 0;
    static final int ICMP = 1;
    static final int IPV4 = 4;
    static final int TCP = 6;
    static final int UDP = 17;
    static final int DCCP = 33;
    static final int IPV6 = 41;
    static final int ROUTING = 43;
    static final int FRAGMENT = 44;
    static final int GRE = 47;
    static final int AUTHENTICATION = 51;
    static final int ICMPV6 = 58;
    static final int DESTINATION_OPTIONS = 60;
    static final int SCTP = 132;
    static final int MOBILITY = 135;
    static final int UDP_LITE = 136;
    static final int HIP = 139;
    static final int SHIM6 = 140;

    private IpProtocol() {
    }
}
