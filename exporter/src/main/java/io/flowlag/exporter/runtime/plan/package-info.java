/** What {@code flowlag plan} does: which nodes of a network get points next, and what the exporters there measure and need. */
package io.flowlag.exporter.runtime.plan;
