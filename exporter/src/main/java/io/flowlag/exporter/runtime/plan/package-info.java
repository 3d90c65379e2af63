/** What {@code flowlag plan} does: which nodes of a network get points next, and what the exporters there are told and need. */
package io.flowlag.exporter.runtime.plan;
