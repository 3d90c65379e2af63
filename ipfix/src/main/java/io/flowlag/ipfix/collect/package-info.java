/**
 * The Collecting Process as a library (RFC 7011): octets in, records out. A transport
 * ({@link io.flowlag.ipfix.collect.CollectorServer} for UDP, TCP and TLS, {@link io.flowlag.ipfix.collect.MessageStreamReader}
 * for files) cuts messages and hands them to the {@link io.flowlag.ipfix.collect.CollectingProcess}, which verifies each
 * message whole before it believes any of it, keeps the templates of every Transport Session and Observation Domain, and shows
 * each record to a {@link io.flowlag.ipfix.collect.RecordHandler} in place.
 * <p>
 * Nothing in here throws because of what a peer sent: a message is accepted or refused with a
 * {@link io.flowlag.ipfix.collect.MessageResult}, and everything is counted by
 * {@link io.flowlag.ipfix.collect.CollectorCounter}. What a peer can make the process remember is bounded by
 * {@link io.flowlag.ipfix.collect.CollectorLimits}. Enums and limits are immutable, for any thread; everything else belongs to
 * the thread of the process, and owns the memory that it takes, unless its type says otherwise.
 */
package io.flowlag.ipfix.collect;
