/**
 * Connections of the exchange: the sender's connector, the receiver's listener, and what joins them to the delay stage. The
 * receiver hands out the settings; senders ship what they measured, interval by interval.
 */
package io.flowlag.exporter.exchange.link;
