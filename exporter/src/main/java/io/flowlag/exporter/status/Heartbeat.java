package io.flowlag.exporter.status;

import org.agrona.concurrent.Agent;

import java.util.concurrent.atomic.AtomicLong;

/**
 * An agent that counts its duty cycles, so that another thread can check it. The agent's thread runs it; any thread may read the
 * count. Allocates at construction.
 */
public final class Heartbeat implements Agent {
    private final Agent agent;
    private final AtomicLong count = new AtomicLong();

    /** Wraps another agent. */
    public Heartbeat(final Agent agent) {
        this.agent = agent;
    }

    /** {@return number of duty cycles} */
    public long count() {
        return count.get();
    }

    @Override
    public void onStart() {
        agent.onStart();
    }

    @Override
    public int doWork() throws Exception {
        count.lazySet(count.getPlain() + 1);
        return agent.doWork();
    }

    @Override
    public void onClose() {
        agent.onClose();
    }

    @Override
    public String roleName() {
        return agent.roleName();
    }
}
