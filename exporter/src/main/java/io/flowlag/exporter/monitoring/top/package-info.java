/** Which flows are worth a look now: the slowest and the largest, gathered by the metering thread for others to show. */
package io.flowlag.exporter.monitoring.top;
