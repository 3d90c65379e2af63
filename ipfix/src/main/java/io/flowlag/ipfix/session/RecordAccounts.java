package io.flowlag.ipfix.session;

import static io.flowlag.ipfix.session.SessionCounter.OCTETS_NOT_SENT;
import static io.flowlag.ipfix.session.SessionCounter.OPTIONS_RECORDS_ACCEPTED;
import static io.flowlag.ipfix.session.SessionCounter.OPTIONS_RECORDS_EXPORTED;
import static io.flowlag.ipfix.session.SessionCounter.OPTIONS_RECORDS_FAILED;
import static io.flowlag.ipfix.session.SessionCounter.OPTIONS_RECORDS_UNCERTAIN;
import static io.flowlag.ipfix.session.SessionCounter.OPTIONS_RECORDS_WAITING;
import static io.flowlag.ipfix.session.SessionCounter.PACKETS_NOT_SENT;
import static io.flowlag.ipfix.session.SessionCounter.RECORDS_ACCEPTED;
import static io.flowlag.ipfix.session.SessionCounter.RECORDS_EXPORTED;
import static io.flowlag.ipfix.session.SessionCounter.RECORDS_FAILED_SPOOL;
import static io.flowlag.ipfix.session.SessionCounter.RECORDS_RETURNED;
import static io.flowlag.ipfix.session.SessionCounter.RECORDS_UNCERTAIN;
import static io.flowlag.ipfix.session.SessionCounter.RECORDS_WAITING;
import static io.flowlag.ipfix.session.SessionCounter.SEQUENCE;

/**
 * The accounts of a session: the state of every record from acceptance to its end. Each method moves records between accounts in
 * one change of the statistics, so that accepted = exported + failed + waiting + returned between any two. Used by one thread;
 * allocates at construction.
 */
final class RecordAccounts {
    private static final long SEQUENCE_MASK = 0xFFFF_FFFFL;

    private final SessionStatistics statistics;
    private final DeliveryLedger ledger;
    private int flowRecords;
    private int optionsRecords;
    private long packets;
    private long octets;
    private long sequence;

    RecordAccounts(final SessionStatistics statistics, final int ledgerCapacity) {
        this.statistics = statistics;
        this.ledger = new DeliveryLedger(ledgerCapacity);
    }

    /** Data Records of the present Transport Session so far, discarded ones included. */
    long sequence() {
        return sequence;
    }

    boolean isMessageWithoutRecords() {
        return flowRecords + optionsRecords == 0;
    }

    boolean isLedgerFull() {
        return ledger.isFull();
    }

    boolean isNothingWaiting() {
        return isMessageWithoutRecords() && ledger.isSettled();
    }

    /** Restarts the sequence at the records of the message with which a new session begins. */
    void restartSequence() {
        sequence = flowRecords + optionsRecords;
        statistics.begin();
        statistics.set(SEQUENCE, sequence);
        statistics.end();
    }

    void onCommitted(final boolean isOptions, final long recordPackets, final long recordOctets) {
        sequence++;
        packets += recordPackets;
        octets += recordOctets;
        statistics.begin();
        if (isOptions) {
            optionsRecords++;
            statistics.add(OPTIONS_RECORDS_ACCEPTED, 1);
            statistics.add(OPTIONS_RECORDS_WAITING, 1);
        } else {
            flowRecords++;
            statistics.add(RECORDS_ACCEPTED, 1);
            statistics.add(RECORDS_WAITING, 1);
        }
        statistics.set(SEQUENCE, sequence & SEQUENCE_MASK);
        statistics.end();
    }

    void onDiscarded(
        final boolean isOptions, final SessionCounter reason, final long recordPackets, final long recordOctets) {
        sequence++;
        statistics.begin();
        statistics.add(isOptions ? OPTIONS_RECORDS_ACCEPTED : RECORDS_ACCEPTED, 1);
        statistics.add(isOptions ? OPTIONS_RECORDS_FAILED : reason, 1);
        statistics.add(PACKETS_NOT_SENT, recordPackets);
        statistics.add(OCTETS_NOT_SENT, recordOctets);
        statistics.set(SEQUENCE, sequence & SEQUENCE_MASK);
        statistics.end();
    }

    /** Counts flow records kept outside the session as lost; they count in the sequence of a continued session. */
    void onLost(final boolean isInSequence, final long records, final long recordPackets, final long recordOctets) {
        sequence += isInSequence ? records : 0;
        statistics.begin();
        statistics.add(RECORDS_ACCEPTED, records);
        statistics.add(RECORDS_FAILED_SPOOL, records);
        statistics.add(PACKETS_NOT_SENT, recordPackets);
        statistics.add(OCTETS_NOT_SENT, recordOctets);
        statistics.set(SEQUENCE, sequence & SEQUENCE_MASK);
        statistics.end();
    }

    /** Returns the flow records of undelivered messages and of the open message. */
    void returnUnsent() {
        statistics.begin();
        while (!ledger.isSettled()) {
            giveBack(ledger.nextFlowRecords(), ledger.nextOptionsRecords());
            ledger.settleNext();
        }
        ledger.clear();
        giveBack(flowRecords, optionsRecords);
        statistics.set(SEQUENCE, sequence & SEQUENCE_MASK);
        statistics.end();
        closeMessage();
    }

    private void giveBack(final int backFlowRecords, final int backOptionsRecords) {
        sequence -= backFlowRecords + backOptionsRecords;
        statistics.add(RECORDS_RETURNED, backFlowRecords);
        statistics.add(RECORDS_WAITING, -backFlowRecords);
        statistics.add(OPTIONS_RECORDS_FAILED, backOptionsRecords);
        statistics.add(OPTIONS_RECORDS_WAITING, -backOptionsRecords);
    }

    /** Books the open message as accepted by the transport; it ends at an octet of the connection. */
    void onMessageSent(final long messageEndOctets) {
        ledger.add(messageEndOctets, flowRecords, optionsRecords, packets, octets);
        closeMessage();
    }

    /** Books the messages within the delivered octets as exported. */
    void onDelivered(final long deliveredOctets) {
        while (ledger.isNextDelivered(deliveredOctets)) {
            statistics.begin();
            statistics.add(RECORDS_EXPORTED, ledger.nextFlowRecords());
            statistics.add(RECORDS_WAITING, -ledger.nextFlowRecords());
            statistics.add(OPTIONS_RECORDS_EXPORTED, ledger.nextOptionsRecords());
            statistics.add(OPTIONS_RECORDS_WAITING, -ledger.nextOptionsRecords());
            statistics.end();
            ledger.settleNext();
        }
    }

    /** Marks records delivered after an octet as uncertain: a connection broke, or a datagram was refused. */
    void markUncertain(final long certainOctets) {
        statistics.begin();
        statistics.add(RECORDS_UNCERTAIN, ledger.settledFlowRecordsBehind(certainOctets));
        statistics.add(OPTIONS_RECORDS_UNCERTAIN, ledger.settledOptionsRecordsBehind(certainOctets));
        statistics.end();
    }

    /** Books accepted but undelivered messages as failed. */
    void failUndelivered(final SessionCounter reason) {
        while (!ledger.isSettled()) {
            fail(reason, ledger.nextFlowRecords(), ledger.nextOptionsRecords(), ledger.nextPackets(), ledger.nextOctets());
            ledger.settleNext();
        }
        ledger.clear();
    }

    /** Books the open message as failed. */
    void failMessage(final SessionCounter reason) {
        fail(reason, flowRecords, optionsRecords, packets, octets);
        closeMessage();
    }

    private void fail(
        final SessionCounter reason, final int failedFlowRecords, final int failedOptionsRecords, final long failedPackets,
        final long failedOctets) {
        statistics.begin();
        statistics.add(reason, failedFlowRecords);
        statistics.add(RECORDS_WAITING, -failedFlowRecords);
        statistics.add(OPTIONS_RECORDS_FAILED, failedOptionsRecords);
        statistics.add(OPTIONS_RECORDS_WAITING, -failedOptionsRecords);
        statistics.add(PACKETS_NOT_SENT, failedPackets);
        statistics.add(OCTETS_NOT_SENT, failedOctets);
        statistics.end();
    }

    private void closeMessage() {
        flowRecords = 0;
        optionsRecords = 0;
        packets = 0;
        octets = 0;
    }
}
