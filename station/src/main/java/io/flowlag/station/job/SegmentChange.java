package io.flowlag.station.job;

import io.flowlag.network.window.ChangeDetector;
import io.flowlag.network.window.WindowDelay;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.base.TypeSerializerSingleton;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

import java.io.IOException;

/**
 * Whether the delay of a segment and class has changed. Windows shorter than a minute are judged by the minute. A change is on
 * until there was no alarm for {@value #QUIET} steps. Memory: that of a {@link ChangeDetector}. One thread.
 */
final class SegmentChange {
    private static final long MINUTE_NS = 60_000_000_000L;
    private static final long HOUR_NS = 60 * MINUTE_NS;
    private static final int QUIET = 30;

    private final long stepNs;
    private ChangeDetector detector;
    /** The step that windows are summed of: packets, Σ N m, Σ (N σ)². */
    private long currentNs;
    private double packets;
    private double sum;
    private double squares;
    /** The last step that was judged. */
    private long judgedNs;
    /** 0 while no change is on. */
    private long sinceNs;
    private long alarmNs;
    private double changeNs;

    /** Nothing is known. */
    SegmentChange(final long stepNs) {
        this.stepNs = stepNs;
        detector = new ChangeDetector(stepNs);
    }

    /** {@return the length of the steps in which windows of a length are judged; 0 if they cannot be} */
    static long stepNs(final long windowNs) {
        final long stepNs = Math.max(MINUTE_NS, windowNs);
        return HOUR_NS % stepNs == 0 ? stepNs : 0;
    }

    /**
     * Takes a final window; one of a step that was judged is left out.
     *
     * @param delay with packets and sigma.
     */
    void onWindow(final long startNs, final long endNs, final WindowDelay delay) {
        final long step = Math.floorDiv(startNs, stepNs) * stepNs;
        if (step < currentNs || step <= judgedNs) {
            return;
        }
        if (step > currentNs) {
            judge();
            currentNs = step;
            packets = 0;
            sum = 0;
            squares = 0;
        }
        final double weighted = delay.packets() * delay.sigmaNs();
        packets += delay.packets();
        sum += delay.packets() * delay.meanNs();
        squares += weighted * weighted;
        if (endNs >= step + stepNs) {
            judge();
        }
    }

    private void judge() {
        if (currentNs <= judgedNs || packets == 0) {
            return;
        }
        judgedNs = currentNs;
        if (detector.onWindow(currentNs, sum / packets, Math.sqrt(squares) / packets)) {
            sinceNs = isOn() ? sinceNs : currentNs;
            alarmNs = currentNs;
            changeNs = sum / packets - detector.usualNs();
        }
    }

    /** {@return whether a change was found} */
    boolean isOn() {
        return sinceNs != 0;
    }

    /** {@return when the step began that raised the alarm, ns} */
    long sinceNs() {
        return sinceNs;
    }

    /** {@return by how much the mean was above the usual one, ns} */
    double changeNs() {
        return changeNs;
    }

    /** Ends a change of which there was no alarm for long. Returns whether it does. */
    boolean ends() {
        final boolean isOver = isOn() && judgedNs - alarmNs > QUIET * stepNs;
        if (isOver) {
            end();
        }
        return isOver;
    }

    /** Ends a change. */
    void end() {
        sinceNs = 0;
    }

    /** {@return the length of the steps in which windows are judged} */
    long stepNs() {
        return stepNs;
    }

    /** Writes and reads; windows that are not there take no room. */
    static final class Serializer extends TypeSerializerSingleton<SegmentChange> {
        private static final long serialVersionUID = 1;
        private static final int VERSION = 2;
        private static final int END = -1;
        private static final Serializer INSTANCE = new Serializer();

        private Serializer() {
        }

        static Serializer instance() {
            return INSTANCE;
        }

        @Override
        public boolean isImmutableType() {
            return false;
        }

        @Override
        public SegmentChange createInstance() {
            return new SegmentChange(MINUTE_NS);
        }

        @Override
        public SegmentChange copy(final SegmentChange from) {
            final SegmentChange copy = new SegmentChange(from.stepNs);
            copy.detector = new ChangeDetector(from.stepNs, from.detector.state());
            copy.currentNs = from.currentNs;
            copy.judgedNs = from.judgedNs;
            copy.packets = from.packets;
            copy.sum = from.sum;
            copy.squares = from.squares;
            copy.sinceNs = from.sinceNs;
            copy.alarmNs = from.alarmNs;
            copy.changeNs = from.changeNs;
            return copy;
        }

        @Override
        public SegmentChange copy(final SegmentChange from, final SegmentChange reuse) {
            return copy(from);
        }

        @Override
        public int getLength() {
            return -1;
        }

        @Override
        public void serialize(final SegmentChange change, final DataOutputView out) throws IOException {
            final ChangeDetector.State state = change.detector.state();
            out.writeByte(VERSION);
            for (final long each : new long[] {change.stepNs, change.currentNs, change.judgedNs, change.sinceNs,
                change.alarmNs, state.newest(), state.riseBegin()}) {
                out.writeLong(each);
            }
            for (final double each : new double[] {change.packets, change.sum, change.squares, change.changeNs}) {
                out.writeDouble(each);
            }
            out.writeInt(state.statistics().length);
            for (final double each : state.statistics()) {
                out.writeDouble(each);
            }
            for (int begin = 0; begin < state.means().length; begin++) {
                int end = begin;
                while (end < state.means().length && !Float.isNaN(state.means()[end])) {
                    end++;
                }
                if (end > begin) {
                    writeRun(state, begin, end, out);
                    begin = end;
                }
            }
            out.writeInt(END);
        }

        /** Windows without a gap. */
        private static void writeRun(final ChangeDetector.State state, final int begin, final int end, final DataOutputView out)
            throws IOException {
            out.writeInt(begin);
            out.writeInt(end);
            for (int slot = begin; slot < end; slot++) {
                out.writeFloat(state.means()[slot]);
                out.writeFloat(state.sigmas()[slot]);
            }
            out.write(state.rises(), begin, end - begin);
        }

        @Override
        public SegmentChange deserialize(final DataInputView in) throws IOException {
            final int version = in.readByte();
            if (version != VERSION) {
                throw new IOException("state of changes is of version " + version + ", this one reads " + VERSION);
            }
            final SegmentChange change = new SegmentChange(in.readLong());
            change.currentNs = in.readLong();
            change.judgedNs = in.readLong();
            change.sinceNs = in.readLong();
            change.alarmNs = in.readLong();
            final long newest = in.readLong();
            final long riseBegin = in.readLong();
            change.packets = in.readDouble();
            change.sum = in.readDouble();
            change.squares = in.readDouble();
            change.changeNs = in.readDouble();
            final double[] statistics = new double[in.readInt()];
            for (int i = 0; i < statistics.length; i++) {
                statistics[i] = in.readDouble();
            }
            final ChangeDetector.State empty = change.detector.state();
            for (int begin = in.readInt(); begin != END; begin = in.readInt()) {
                final int end = in.readInt();
                for (int slot = begin; slot < end; slot++) {
                    empty.means()[slot] = in.readFloat();
                    empty.sigmas()[slot] = in.readFloat();
                }
                in.readFully(empty.rises(), begin, end - begin);
            }
            change.detector = new ChangeDetector(change.stepNs, new ChangeDetector.State(
                empty.means(), empty.sigmas(), empty.rises(), statistics, newest, riseBegin));
            return change;
        }

        @Override
        public SegmentChange deserialize(final SegmentChange reuse, final DataInputView in) throws IOException {
            return deserialize(in);
        }

        @Override
        public void copy(final DataInputView in, final DataOutputView out) throws IOException {
            serialize(deserialize(in), out);
        }

        @Override
        public Snapshot snapshotConfiguration() {
            return new Snapshot();
        }
    }

    /** That state was of this type. Public, since Flink makes it by its name. */
    public static final class Snapshot extends SimpleTypeSerializerSnapshot<SegmentChange> {
        /** To be read. */
        public Snapshot() {
            super(Serializer::instance);
        }
    }
}
