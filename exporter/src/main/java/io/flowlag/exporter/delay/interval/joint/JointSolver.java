package io.flowlag.exporter.delay.interval.joint;

import io.flowlag.exporter.delay.interval.records.JointSettings;
import io.flowlag.exporter.status.Heartbeat;
import io.flowlag.sketch.image.SketchGeometry;
import org.agrona.concurrent.Agent;
import org.agrona.concurrent.AgentRunner;
import org.agrona.concurrent.OneToOneConcurrentArrayQueue;
import org.agrona.concurrent.SleepingIdleStrategy;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Solves intervals on its own thread, or synchronously in the caller. Assumption: one thread claims, submits and takes.
 * Guarantees: it blocks only at the end. Every submitted interval comes back, in order. Each side's writes to a task happen
 * before the other side's reads. Allocates at construction.
 */
final class JointSolver implements Agent, AutoCloseable {
    private static final int TASKS = 2;
    /** The thread sleeps so long, unless a task wakes it. */
    private static final long WAIT_NS = TimeUnit.MILLISECONDS.toNanos(50);
    private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long END_PATIENCE_NS = TimeUnit.SECONDS.toNanos(60);

    private final JointWorker worker;
    private final Heartbeat heartbeat = new Heartbeat(this, Heartbeat.PATIENT_NS, Heartbeat::die, () -> { });
    /** Started only if intervals are solved on their own thread. */
    private final AgentRunner runner = new AgentRunner(new SleepingIdleStrategy(WAIT_NS), heartbeat, null, heartbeat);
    private final boolean isThreaded;
    private final OneToOneConcurrentArrayQueue<JointTask> free = new OneToOneConcurrentArrayQueue<>(TASKS);
    private final OneToOneConcurrentArrayQueue<JointTask> submitted = new OneToOneConcurrentArrayQueue<>(TASKS);
    private final OneToOneConcurrentArrayQueue<JointTask> solved = new OneToOneConcurrentArrayQueue<>(TASKS);
    private int underWay;

    JointSolver(final SketchGeometry geometry, final long seed, final JointSettings settings) {
        worker = new JointWorker(geometry, seed, settings);
        for (int i = 0; i < tasks(settings); i++) {
            free.add(new JointTask(geometry, settings));
        }
        isThreaded = settings.isThreaded();
        if (isThreaded) {
            AgentRunner.startOnThread(runner, JointSolver::daemon);
        }
    }

    private static Thread daemon(final Runnable work) {
        final Thread thread = new Thread(work);
        thread.setDaemon(true);
        return thread;
    }

    private static int tasks(final JointSettings settings) {
        return settings.isThreaded() ? TASKS : 1;
    }

    /** {@return octets, by formula} */
    static long memoryBytes(final SketchGeometry geometry, final JointSettings settings) {
        return JointWorker.memoryBytes(geometry, settings) + tasks(settings) * JointTask.memoryBytes(geometry, settings);
    }

    @Override
    public String roleName() {
        return "joint";
    }

    /** Solves the next interval, on the solver's thread if it has one. */
    @Override
    public int doWork() {
        final JointTask task = submitted.poll();
        if (task == null) {
            return 0;
        }
        try {
            worker.solve(task);
        } catch (final RuntimeException ex) {
            task.clearResults();
            task.failure = ex;
        }
        solved.add(task);
        return 1;
    }

    /** {@return a task to fill and submit; null if all are in use} */
    JointTask claim() {
        return free.peek();
    }

    /** Submits a task of {@link #claim}. */
    void submit(final JointTask task) {
        free.poll();
        underWay++;
        submitted.add(task);
        if (isThreaded) {
            LockSupport.unpark(runner.thread());
        } else {
            doWork();
        }
    }

    /** {@return a solved task, to be given back; null if there is none} */
    JointTask take() {
        return underWay == 0 ? null : solved.poll();
    }

    /** {@return whether every task was given back} */
    boolean isIdle() {
        return underWay == 0;
    }

    /** Releases a task whose results are no longer needed. */
    void giveBack(final JointTask task) {
        underWay--;
        free.add(task);
    }

    /** Waits for the next unfinished task, at the end of input. */
    JointTask takeLast() {
        final long deadlineNs = System.nanoTime() + END_PATIENCE_NS;
        JointTask task = take();
        while (task == null && underWay > 0 && !heartbeat.isFailed() && System.nanoTime() - deadlineNs < 0) {
            LockSupport.parkNanos(PAUSE_NS);
            task = take();
        }
        return task;
    }

    @Override
    public void close() {
        runner.close();
    }
}
