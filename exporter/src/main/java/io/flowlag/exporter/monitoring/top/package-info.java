/** The flows for display: the slowest and the largest, gathered by the metering thread. */
package io.flowlag.exporter.monitoring.top;
