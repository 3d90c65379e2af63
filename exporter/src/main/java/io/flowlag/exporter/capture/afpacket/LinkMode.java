package io.flowlag.exporter.capture.afpacket;

import io.flowlag.exporter.capture.LinkType;

/**
 * How the packets of a kind of interface are captured: with the kernel's link header, or with a Linux cooked header instead of
 * it where link headers differ between drivers. Stateless.
 */
enum LinkMode {
    /** Frames with an Ethernet header. */
    ETHERNET(LinkType.ETHERNET, false),
    /** Packets that begin with the IP header. */
    RAW(LinkType.RAW, false),
    /** The kernel removes the link header; a cooked header names the protocol. */
    COOKED(LinkType.LINUX_SLL, true);

    /** Numbers of {@code if_arp.h}. */
    static final int HARDWARE_ETHERNET = 1;
    static final int HARDWARE_LOOPBACK = 772;
    private static final int HARDWARE_EXPERIMENTAL_ETHERNET = 2;
    private static final int HARDWARE_INFINIBAND = 32;
    private static final int HARDWARE_SLIP = 256;
    private static final int HARDWARE_CSLIP6 = 259;
    private static final int HARDWARE_PPP = 512;
    private static final int HARDWARE_CISCO_HDLC = 513;
    private static final int HARDWARE_RAW_IP = 519;
    private static final int HARDWARE_TUNNEL = 768;
    private static final int HARDWARE_TUNNEL6 = 769;
    private static final int HARDWARE_SIT = 776;
    private static final int HARDWARE_IPGRE = 778;
    private static final int HARDWARE_PIM_REGISTER = 779;
    private static final int HARDWARE_IP6GRE = 823;
    private static final int HARDWARE_NONE = 0xfffe;

    private final int linkType;
    private final boolean isCooked;

    LinkMode(final int linkType, final boolean isCooked) {
        this.linkType = linkType;
        this.isCooked = isCooked;
    }

    int linkType() {
        return linkType;
    }

    boolean isCooked() {
        return isCooked;
    }

    /** The mode for a hardware type, as the kernel numbers it; null if its packets cannot be metered. */
    static LinkMode of(final int hardwareType) {
        switch (hardwareType) {
            case HARDWARE_ETHERNET:
            case HARDWARE_EXPERIMENTAL_ETHERNET:
            case HARDWARE_LOOPBACK:
                return ETHERNET;
            case HARDWARE_NONE:
            case HARDWARE_RAW_IP:
                return RAW;
            case HARDWARE_INFINIBAND:
            case HARDWARE_PPP:
            case HARDWARE_CISCO_HDLC:
            case HARDWARE_TUNNEL:
            case HARDWARE_TUNNEL6:
            case HARDWARE_SIT:
            case HARDWARE_IPGRE:
            case HARDWARE_PIM_REGISTER:
            case HARDWARE_IP6GRE:
                return COOKED;
            default:
                return hardwareType >= HARDWARE_SLIP && hardwareType <= HARDWARE_CSLIP6 ? COOKED : null;
        }
    }
}
