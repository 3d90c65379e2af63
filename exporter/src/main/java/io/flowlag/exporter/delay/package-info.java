/**
 * Delay between two measurement points: the packets of the segment, the schedule of references, and the delay of each packet.
 * Runs on the metering thread, between the flow cache and the records. Allocates at construction, and a summary at each
 * measurement interval. Static members are stateless.
 */
package io.flowlag.exporter.delay;
