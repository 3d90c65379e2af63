package io.flowlag.exporter.exchange.link;

import io.flowlag.exporter.exchange.wire.ExchangeSettings;

/**
 * Settings, and whose they are.
 *
 * @param receiverInstance run of the receiver that handed them out.
 */
public record HeldSettings(long receiverInstance, ExchangeSettings settings) {
}
