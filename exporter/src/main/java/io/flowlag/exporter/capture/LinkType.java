package io.flowlag.exporter.capture;

/**
 * Link-layer header types as capture files number them (the tcpdump group's LINKTYPE_ registry). Only supported types have a
 * name here. The decoder refuses and counts all others, and one message names each. Constants, for any thread.
 */
public final class LinkType {
    /** BSD loopback: four octets of address family in the byte order of the capturing host. */
    public static final int NULL = 0;
    /** Ethernet. */
    public static final int ETHERNET = 1;
    /** PPP, with or without the HDLC-like address and control octets. */
    public static final int PPP = 9;
    /** Raw IP, as some BSDs numbered it in files. */
    public static final int RAW_BSD = 12;
    /** Raw IP, OpenBSD's number. */
    public static final int RAW_OPENBSD = 14;
    /** PPP in HDLC-like framing, or Cisco HDLC where the first octet says so. */
    public static final int PPP_HDLC = 50;
    /** Raw IP; the version is in the first nibble. */
    public static final int RAW = 101;
    /** Cisco HDLC. */
    public static final int CISCO_HDLC = 104;
    /** OpenBSD loopback: address family in network byte order. */
    public static final int LOOP = 108;
    /** Linux cooked capture v1. */
    public static final int LINUX_SLL = 113;
    /** Raw IPv4. */
    public static final int IPV4 = 228;
    /** Raw IPv6. */
    public static final int IPV6 = 229;
    /** Linux cooked capture v2. */
    public static final int LINUX_SLL2 = 276;

    private LinkType() {
    }
}
