/**
 * The kernel's routing table, read by rtnetlink(7) and followed as it changes: the interfaces by which an address leaves the
 * host. Segments that are made of the routes use it to place lost packets. Never used for a packet that arrived.
 */
package io.flowlag.exporter.capture.route;
