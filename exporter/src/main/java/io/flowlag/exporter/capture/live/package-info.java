/** Opens an interface by whichever implementation is configured. */
package io.flowlag.exporter.capture.live;
