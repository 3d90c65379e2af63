/**
 * The exchange between the two measurement points: the receiver hands out the settings, the senders ship what they measured,
 * interval by interval. Messages are laid out in {@code docs/exchange.md}; one file owns each.
 */
package io.flowlag.exporter.exchange;
