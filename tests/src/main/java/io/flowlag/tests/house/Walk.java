package io.flowlag.tests.house;

import java.util.List;

/**
 * Steps on the way of a packet or an interval. A step is a method call with everything that it calls. A call counts if it enters
 * a second method too: polls of an empty queue are left out. Names of methods lack {@code io.flowlag.}; that of the second may be
 * a class, with a dot at its end.
 */
enum Walk {
    /** From the kernel's ring, or a capture file, to the ring of descriptors. */
    CAPTURE(Way.PACKET, "exporter.pipeline.CaptureAgent.doWork", "exporter.pipeline.CaptureAgent.onPacket"),
    /** A batch, without what is done for the passing of time, packets of the sender point and references. */
    METER(Way.PACKET, "exporter.pipeline.MeteringAgent.onDescriptors", "exporter.delay.DelayStage.onReceived",
        "exporter.delay.DelayStage.onTime", "exporter.delay.DelayStage.onSent", "exporter.delay.DelayStage.onReference"),
    /** The flow of the packet ends. */
    FLOW_END(Way.PACKET, "exporter.delay.FlowEnd.onFlowRecord", "exporter.delay.FlowEnd.onFlowRecord"),
    /** Its record has waited for the interval of its last packet. */
    RECORD(Way.PACKET, "exporter.delay.FlowEnd.onWaited", "exporter.delay.FlowEnd.onWaited"),
    /** Its record is encoded. */
    EXPORT(Way.PACKET, "exporter.export.ExportingAgent.onFlowRecord", "exporter.export.ExportingAgent.onFlowRecord"),
    /** The message with the record is finished and given to the transport. */
    MESSAGE(Way.PACKET, "ipfix.session.ExportingSession.trySend", "ipfix.session.ExportingSession.onSent"),

    /** The next reference packet: the delays of the packets before it are interpolated. */
    REFERENCE(Way.REFERENCE, "exporter.delay.DelayStage.onReference", "exporter.delay.SampleWriter."),

    /** Messages of the sender become an interval. */
    ASSEMBLE(Way.INTERVAL, "exporter.exchange.link.ExchangeListener.doWork", "exporter.exchange.link.IntervalAssembler."),
    /** An interval is due: it is taken, and its repair begins. */
    CONCLUDE(Way.INTERVAL, "exporter.delay.interval.IntervalReceiver.work",
        "exporter.delay.interval.IntervalReceiver.conclude"),
    /** The cells of both points are compared. */
    COMPARE(Way.INTERVAL, "exporter.delay.interval.IntervalReceiver.work",
        "exporter.delay.interval.compare.IntervalComparison.compare"),
    /** Cells and references are solved as one problem. */
    SOLVE(Way.INTERVAL, "exporter.delay.interval.joint.JointWorker.solve", "exporter.delay.interval.joint.JointWorker.solve"),
    /** The solution is written into the flows' records. */
    WRITE(Way.INTERVAL, "exporter.delay.interval.joint.JointStage.onSolved", "exporter.delay.SketchWriter.");

    /** What goes the way. */
    enum Way {
        PACKET, REFERENCE, INTERVAL
    }

    private final String required;
    final Way way;
    final String root;
    final List<String> leftOut;

    Walk(final Way way, final String root, final String required, final String... leftOut) {
        this.way = way;
        this.root = root;
        this.required = required;
        this.leftOut = List.of(leftOut);
    }

    /** {@return whether a call that enters a method counts} */
    boolean isRequired(final String method) {
        return required.endsWith(".") ? method.startsWith(required) : method.equals(required);
    }
}
