/** The command size: what a configuration needs for the traffic of a capture. */
package io.flowlag.exporter.runtime.size;
