/** Opens an interface by the configured implementation. */
package io.flowlag.exporter.capture.live;
