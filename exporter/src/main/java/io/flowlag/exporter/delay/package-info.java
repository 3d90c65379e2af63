/**
 * Delay between two measurement points: which packets belong to the segment, when references are sent, and what each packet's
 * delay was. Runs on the metering thread, between the flow cache and the records. Allocates at construction, and a summary at
 * each measurement interval. What is static has no state.
 */
package io.flowlag.exporter.delay;
