package io.flowlag.tests.support;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A router with a real queue, in network namespaces of its own:
 * <pre>
 *   source       10.1.0.2 -- in0 \                          / -- 10.4.0.2  destination
 *                                 router  out0 [queue] -- exit
 *   crossSource  10.2.0.2 -- in1 /                          \ -- 10.5.0.2  crossDestination
 * </pre>
 * All is routed by IPv4, both ways; only what leaves the router towards the exit meets the queue. Everything is deleted on close.
 */
public final class RouterTopology implements AutoCloseable {
    /** The router's interface towards the source. */
    public static final String INGRESS = "in0";
    /** The router's interface towards the source of cross traffic. */
    public static final String CROSS_INGRESS = "in1";
    /** The router's interface with the queue. */
    public static final String EGRESS = "out0";
    /** The prefix of the source. */
    public static final String SOURCE_PREFIX = "10.1.0.0/24";
    /** The prefix of the destination. */
    public static final String DESTINATION_PREFIX = "10.4.0.0/24";
    /** The source's address. */
    public static final String SOURCE = "10.1.0.2";
    /** The destination's address. */
    public static final String DESTINATION = "10.4.0.2";
    /** The address of the destination of cross traffic. */
    public static final String CROSS_DESTINATION = "10.5.0.2";
    /** The router's address on the link behind the queue. */
    public static final String ROUTER = "10.3.0.1";
    /** The exit's address on the link behind the queue. */
    public static final String EXIT = "10.3.0.2";
    /** The exit's interface at the other end of the queue's link. */
    public static final String EXIT_INGRESS = "up0";

    /** The only interface of each host. */
    public static final String HOST_INTERFACE = "eth0";

    private static final Pattern DROPPED = Pattern.compile("dropped (\\d+)");
    private static final Pattern QUEUED = Pattern.compile("backlog \\w+ (\\d+)p");
    private static final String[] OFFLOADS = {"gro", "off", "gso", "off", "tso", "off", "tx-udp-segmentation", "off"};

    private final List<NetworkNamespace> namespaces = new ArrayList<>();
    private final List<NetworkNamespace> interfaceOwners = new ArrayList<>();
    private final List<String> interfaceNames = new ArrayList<>();
    private final NetworkNamespace source;
    private final NetworkNamespace crossSource;
    private final NetworkNamespace router;
    private final NetworkNamespace exit;
    private final NetworkNamespace destination;
    private final NetworkNamespace crossDestination;

    private RouterTopology() throws IOException {
        source = add("source");
        crossSource = add("cross");
        router = add("router");
        exit = add("exit");
        destination = add("sink");
        crossDestination = add("crosssink");
    }

    /**
     * Builds it; offloads are as the system makes them, and there is no queue yet.
     *
     * @return the topology, everything routed.
     */
    public static RouterTopology create() throws IOException {
        final RouterTopology topology = new RouterTopology();
        try {
            topology.connect();
            return topology;
        } catch (final IOException ex) {
            topology.close();
            throw ex;
        }
    }

    private NetworkNamespace add(final String purpose) throws IOException {
        final NetworkNamespace namespace = NetworkNamespace.create(purpose);
        namespaces.add(namespace);
        return namespace;
    }

    private void connect() throws IOException {
        link(source, HOST_INTERFACE, "10.1.0.2/24", router, INGRESS, "10.1.0.1/24");
        link(crossSource, HOST_INTERFACE, "10.2.0.2/24", router, CROSS_INGRESS, "10.2.0.1/24");
        link(exit, EXIT_INGRESS, "10.3.0.2/24", router, EGRESS, ROUTER + "/24");
        link(destination, HOST_INTERFACE, "10.4.0.2/24", exit, "down0", "10.4.0.1/24");
        link(crossDestination, HOST_INTERFACE, "10.5.0.2/24", exit, "down1", "10.5.0.1/24");
        for (final NetworkNamespace forwarder : List.of(router, exit)) {
            forwarder.exec("sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward");
        }
        source.ip("route", "add", "default", "via", "10.1.0.1");
        crossSource.ip("route", "add", "default", "via", "10.2.0.1");
        router.ip("route", "add", "default", "via", "10.3.0.2");
        exit.ip("route", "add", "default", "via", ROUTER);
        destination.ip("route", "add", "default", "via", "10.4.0.1");
        crossDestination.ip("route", "add", "default", "via", "10.5.0.1");
    }

    private void link(final NetworkNamespace here, final String interfaceHere, final String prefixHere,
        final NetworkNamespace there, final String interfaceThere, final String prefixThere) throws IOException {
        here.connect(interfaceHere, there, interfaceThere);
        here.addAddress(interfaceHere, prefixHere);
        there.addAddress(interfaceThere, prefixThere);
        Collections.addAll(interfaceOwners, here, there);
        Collections.addAll(interfaceNames, interfaceHere, interfaceThere);
    }

    /** Switches off, on every interface, what joins and splits packets. */
    public void offloadsOff() throws IOException {
        Tools.require("ethtool", "ethtool");
        for (int i = 0; i < interfaceNames.size(); i++) {
            final List<String> line = new ArrayList<>(List.of("ethtool", "-K", interfaceNames.get(i)));
            Collections.addAll(line, OFFLOADS);
            interfaceOwners.get(i).exec(line.toArray(new String[0]));
        }
    }

    /**
     * Makes the queue: a token bucket with one packet of burst, and a FIFO.
     *
     * @param rateBps    of the link, bits/s, link headers among them.
     * @param limitBytes of the FIFO.
     */
    public void shape(final long rateBps, final int limitBytes) throws IOException {
        router.exec("tc", "qdisc", "replace", "dev", EGRESS, "root", "tbf", "rate", rateBps + "bit", "burst", "3000",
            "limit", Integer.toString(limitBytes));
    }

    /** {@return packets that the queue has dropped} */
    public long droppedPackets() throws IOException {
        return queueCounter(DROPPED);
    }

    /** {@return packets in the queue} */
    public long queuedPackets() throws IOException {
        return queueCounter(QUEUED);
    }

    private long queueCounter(final Pattern pattern) throws IOException {
        final Matcher matcher = pattern.matcher(router.exec("tc", "-s", "qdisc", "show", "dev", EGRESS));
        if (!matcher.find()) {
            throw new IOException("tc does not show " + pattern + " of " + EGRESS);
        }
        return Long.parseLong(matcher.group(1));
    }

    /** Whatever leaves the router has {@link #ROUTER} as its source from now on. */
    public void translateSources() throws Exception {
        router.call(() -> {
            SourceTranslation.begin();
            return null;
        });
    }

    /** Ends all traffic from the source to the destination: connections that close may go on to send for long. */
    public void silenceSource() throws IOException {
        source.ip("route", "add", "blackhole", DESTINATION_PREFIX);
    }

    /**
     * Makes two queues of strict priority behind one rate: packets of a DSCP in the upper one, which has a part of the rate at
     * the most.
     *
     * @param rateBps        of the link, bits/s, link headers among them.
     * @param dscp           of the upper class.
     * @param upperBps       of the upper class at the most.
     * @param upperPackets   the length of the upper queue.
     * @param lowerPackets   the length of the lower queue.
     */
    public void shapeByPriority(final long rateBps, final int dscp, final long upperBps, final int upperPackets,
        final int lowerPackets) throws IOException {
        final String rate = rateBps + "bit";
        router.exec("tc", "qdisc", "replace", "dev", EGRESS, "root", "handle", "1:", "htb", "default", "20");
        router.exec("tc", "class", "add", "dev", EGRESS, "parent", "1:", "classid", "1:1", "htb", "rate", rate,
            "burst", "3000", "cburst", "3000");
        htbClass("1:10", upperBps, upperBps + "bit", "0");
        htbClass("1:20", rateBps - upperBps, rate, "1");
        router.exec("tc", "qdisc", "add", "dev", EGRESS, "parent", "1:10", "handle", "10:", "pfifo", "limit",
            Integer.toString(upperPackets));
        router.exec("tc", "qdisc", "add", "dev", EGRESS, "parent", "1:20", "handle", "20:", "pfifo", "limit",
            Integer.toString(lowerPackets));
        router.exec("tc", "filter", "add", "dev", EGRESS, "parent", "1:", "protocol", "ip", "prio", "1", "u32",
            "match", "ip", "tos", Integer.toString(dscp << 2), "0xfc", "flowid", "1:10");
    }

    /** Gives the egress a queue for each rate; the source port, modulo their number, decides which one a packet takes. */
    public void shapeByPort(final long[] ratesBps, final int limitPackets) throws IOException {
        router.exec("tc", "qdisc", "replace", "dev", EGRESS, "root", "pfifo");
        router.exec("tc", "qdisc", "replace", "dev", EGRESS, "root", "handle", "1:", "htb");
        for (int i = 0; i < ratesBps.length; i++) {
            final String number = Integer.toString(i + 1);
            router.exec("tc", "class", "add", "dev", EGRESS, "parent", "1:", "classid", "1:" + number, "htb",
                "rate", ratesBps[i] + "bit", "burst", "3000", "cburst", "3000", "quantum", "3000");
            router.exec("tc", "qdisc", "add", "dev", EGRESS, "parent", "1:" + number, "handle", number + "0:", "pfifo", "limit",
                Integer.toString(limitPackets));
            router.exec("tc", "filter", "add", "dev", EGRESS, "parent", "1:", "protocol", "ip", "prio", "1", "u32",
                "match", "ip", "sport", Integer.toString(i), Integer.toString(ratesBps.length - 1), "flowid", "1:" + number);
        }
    }

    private void htbClass(final String id, final long rateBps, final String ceiling, final String priority)
        throws IOException {
        router.exec("tc", "class", "add", "dev", EGRESS, "parent", "1:1", "classid", id, "htb", "rate", rateBps + "bit",
            "ceil", ceiling, "burst", "3000", "cburst", "3000", "prio", priority, "quantum", "3000");
    }

    /** {@return where the segment's traffic comes from} */
    public NetworkNamespace source() {
        return source;
    }

    /** {@return where cross traffic comes from} */
    public NetworkNamespace crossSource() {
        return crossSource;
    }

    /** {@return the router} */
    public NetworkNamespace router() {
        return router;
    }

    /** {@return the other end of the link behind the queue} */
    public NetworkNamespace exit() {
        return exit;
    }

    /** {@return where the segment's traffic goes} */
    public NetworkNamespace destination() {
        return destination;
    }

    /** {@return where cross traffic goes} */
    public NetworkNamespace crossDestination() {
        return crossDestination;
    }

    @Override
    public void close() throws IOException {
        for (final NetworkNamespace namespace : namespaces) {
            namespace.close();
        }
    }
}
