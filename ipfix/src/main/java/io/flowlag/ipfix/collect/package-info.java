/**
 * The Collecting Process as a library (RFC 7011): octets in, records out. A transport ({@link
 * io.flowlag.ipfix.collect.CollectorServer} for UDP, TCP and TLS, {@link io.flowlag.ipfix.collect.MessageStreamReader} for files)
 * cuts messages and hands them to the {@link io.flowlag.ipfix.collect.CollectingProcess}, which verifies each message as a whole
 * before using any of it. It keeps the templates of every Transport Session and Observation Domain, and passes each record to a
 * {@link io.flowlag.ipfix.collect.RecordHandler} in place.
 * <p> A peer's octets never cause an exception: a message is accepted or refused with a {@link
 * io.flowlag.ipfix.collect.MessageResult}, and {@link io.flowlag.ipfix.collect.CollectorCounter} counts everything. {@link
 * io.flowlag.ipfix.collect.CollectorLimits} bounds the memory that a peer can use. Enums and limits are immutable, for any
 * thread; everything else belongs to the thread of the process and owns its memory, unless its type states otherwise.
 */
package io.flowlag.ipfix.collect;
