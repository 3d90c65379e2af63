package io.flowlag.exporter.runtime;

import io.flowlag.exporter.capture.LivePacketSource;
import io.flowlag.exporter.capture.PacketSource;

import java.util.List;

/** Another source's packets as of an interface with a small MTU. */
final class SmallLink extends WrappedSource implements LivePacketSource {
    private final int mtuBytes;

    SmallLink(final PacketSource source, final int mtuBytes) {
        super(source);
        this.mtuBytes = mtuBytes;
    }

    @Override
    public int mtuBytes() {
        return mtuBytes;
    }

    @Override
    public int interfaceId() {
        return 1;
    }

    @Override
    public int linkType() {
        return 1;
    }

    @Override
    public List<String> notices() {
        return List.of();
    }

    @Override
    public boolean awaitArrival(final int timeoutMs) {
        return true;
    }

    @Override
    public void stop() {
        close();
    }
}
