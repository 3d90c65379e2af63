package io.flowlag.exporter.capture.filter;

import io.flowlag.exporter.capture.CaptureException;
import io.flowlag.exporter.capture.FilterSupplier;
import io.flowlag.exporter.capture.LinkType;
import io.flowlag.exporter.capture.LiveCaptureOptions;
import io.flowlag.exporter.capture.PacketFilter;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/**
 * One filter expression for all link types of a source. The constructor checks the expression and refuses one that is wrong for
 * every link type. Safe from any thread; allocates for every requested link type.
 */
public final class BpfFilterSupplier implements FilterSupplier {
    private static final PacketFilter NOTHING = packet -> false;
    /** The link types whose headers differ most; Ethernet first, for its message. */
    private static final int[] TRIED = {LinkType.ETHERNET, LinkType.RAW, LinkType.LINUX_SLL, LinkType.PPP, LinkType.NULL};

    private final String expression;
    private final Consumer<String> handler;
    private final Set<Integer> toldLinkTypes = ConcurrentHashMap.newKeySet();

    /**
     * A supplier for one expression.
     *
     * @param expression in the syntax of pcap-filter(7).
     * @param handler    receives the reason once for each link type that the expression cannot be compiled for; its packets are
     *                   dropped. Called by the thread that asks for the filter.
     * @throws CaptureException of kind {@link CaptureException.Kind#BAD_FILTER} if it is wrong for every link type, of kind
     *         {@link CaptureException.Kind#UNAVAILABLE} without libpcap.
     */
    public BpfFilterSupplier(final String expression, final Consumer<String> handler) {
        this.expression = expression;
        this.handler = handler;
        checkSomewhereRight();
    }

    @Override
    public PacketFilter filterFor(final int linkType) {
        try {
            return new BpfFilter(compile(linkType));
        } catch (final CaptureException ex) {
            if (ex.kind() != CaptureException.Kind.BAD_FILTER) {
                throw ex;
            }
            if (toldLinkTypes.add(linkType)) {
                handler.accept(ex.getMessage() + "; packets of link type " + linkType + " are filtered, all of them");
            }
            return NOTHING;
        }
    }

    private void checkSomewhereRight() {
        CaptureException first = null;
        for (final int linkType : TRIED) {
            try {
                compile(linkType);
                return;
            } catch (final CaptureException ex) {
                if (ex.kind() != CaptureException.Kind.BAD_FILTER) {
                    throw ex;
                }
                first = first == null ? ex : first;
            }
        }
        throw first;
    }

    private BpfProgram compile(final int linkType) {
        return BpfCompiler.compile(expression, linkType, LiveCaptureOptions.MAX_SNAP_LENGTH_BYTES);
    }
}
