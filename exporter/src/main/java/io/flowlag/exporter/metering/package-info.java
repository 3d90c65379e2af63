/** The Metering Process: decoded packets into the flow cache, finished flows to the exporting stage. */
package io.flowlag.exporter.metering;
