/**
 * Messages of the exchange between two measurement points, laid out in {@code docs/exchange.md}: one file for each message, the
 * verifier, authentication and encryption. A message type is a flyweight for one thread; its static methods serve any thread.
 * Settings, enums and records are immutable.
 */
package io.flowlag.exporter.exchange.wire;
