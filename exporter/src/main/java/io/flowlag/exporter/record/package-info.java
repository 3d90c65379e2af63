/**
 * From finished flows to IPFIX: which elements a record has, its templates by presence groups, its octets, and the exporting
 * stage with its destinations.
 */
package io.flowlag.exporter.record;
