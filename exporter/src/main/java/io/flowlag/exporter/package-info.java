/** The exporter process; the packet's way is its sub-packages in the order of the architecture page. */
package io.flowlag.exporter;
