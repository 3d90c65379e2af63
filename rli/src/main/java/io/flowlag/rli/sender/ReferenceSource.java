package io.flowlag.rli.sender;

import io.flowlag.rli.reference.ReferenceEncoder;
import io.flowlag.rli.reference.ReferenceMac;
import io.flowlag.rli.reference.ReferenceSession;
import io.flowlag.rli.reference.TimestampMethod;
import org.agrona.MutableDirectBuffer;

/**
 * Makes the packets of one session: numbers and stamps them, and adds the effective send time of an earlier one, taken at the
 * sender's observation point. A packet carries one follow-up. Live capture delivers packets in blocks, so send times may queue.
 * The oldest is dropped after 100 ms, or when more than {@value #WAITING} wait: a backlog would never shrink, and the receiver
 * does not wait that long. One thread. Allocates at construction.
 */
public final class ReferenceSource {
    private static final int WAITING = 64;
    private static final long STALE_NS = 100_000_000L;
    private static final int WAITING_MASK = WAITING - 1;

    private final ReferenceSession session;
    private volatile ReferenceMac mac;
    private final ReferenceEncoder encoder = new ReferenceEncoder();
    private final int[] observedNumbers = new int[WAITING];
    private final long[] observedNs = new long[WAITING];
    private final TimestampMethod[] observedMethods = new TimestampMethod[WAITING];

    private int nextSequenceNumber;
    private int errorEstimate;
    private long observedHead;
    private long observedTail;
    private long carriedTail;
    private volatile long forgottenCount;

    /** A session that begins with sequence number 0; see {@link io.flowlag.rli.reference.ErrorEstimate#of}. */
    public ReferenceSource(final ReferenceSession session, final int errorEstimate) {
        this.session = session;
        this.errorEstimate = errorEstimate;
        renew(session);
    }

    /** Signs with the key of the same session as it is now. Any thread; allocates. */
    public void renew(final ReferenceSession newer) {
        mac = newer.isAuthenticated() ? new ReferenceMac(newer.keys().get(0)) : null;
    }

    /** Changes the error estimate of the packets from now on, see {@link io.flowlag.rli.reference.ErrorEstimate#of}. */
    public void errorEstimate(final int errorEstimate) {
        this.errorEstimate = errorEstimate;
    }

    /**
     * Writes the next packet. It counts as sent once {@link #onSent} is called; until then this writes the same number again.
     *
     * @param stampNs the time, ns since 1970, read as late as possible.
     * @return its length, octets.
     */
    public int encode(final MutableDirectBuffer buffer, final int offset, final long stampNs) {
        final ReferenceMac current = mac;
        encoder.wrap(buffer, offset, current != null)
            .sequenceNumber(nextSequenceNumber)
            .stampNs(stampNs)
            .errorEstimate(errorEstimate)
            .ssid(session.ssid());
        while (observedTail - observedHead > 1 && stampNs - observedNs[(int)observedHead & WAITING_MASK] > STALE_NS) {
            forgetOldest();
        }
        carriedTail = observedHead;
        if (observedHead != observedTail) {
            final int index = (int)carriedTail++ & WAITING_MASK;
            encoder.followUp(observedNumbers[index], observedNs[index], observedMethods[index]);
        }
        if (current != null) {
            encoder.sign(current);
        }
        return encoder.encodedLength();
    }

    /** The packet that was written last is on its way. */
    public int onSent() {
        observedHead = Math.max(observedHead, carriedTail);
        return nextSequenceNumber++;
    }

    /**
     * One of the packets was seen at the sender's observation point.
     *
     * @param sentNs its effective send time, ns since 1970.
     * @param method by which it was taken.
     */
    public void onObserved(final int sequenceNumber, final long sentNs, final TimestampMethod method) {
        if (observedTail - observedHead == WAITING) {
            forgetOldest();
        }
        final int index = (int)observedTail++ & WAITING_MASK;
        observedNumbers[index] = sequenceNumber;
        observedNs[index] = sentNs;
        observedMethods[index] = method;
    }

    private void forgetOldest() {
        observedHead++;
        forgottenCount = forgottenCount + 1;
    }

    /** {@return the number that the next packet gets} */
    public int nextSequenceNumber() {
        return nextSequenceNumber;
    }

    /** {@return effective send times that no packet carried; safe from any thread} */
    public long forgottenCount() {
        return forgottenCount;
    }
}
