/**
 * The exchange between the two measurement points: the receiver hands out the settings, the senders ship what they measured,
 * interval by interval. Messages are laid out in {@code docs/exchange.md}; one file owns each. A message's type is a flyweight
 * over octets of others, for one thread; its static methods have no state and serve any thread. Settings, enums and records are
 * immutable, for any thread.
 */
package io.flowlag.exporter.exchange;
