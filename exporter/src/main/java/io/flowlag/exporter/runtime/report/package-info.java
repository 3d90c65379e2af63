/** The page that {@code flowlag report} writes of captures or IPFIX files. */
package io.flowlag.exporter.runtime.report;
