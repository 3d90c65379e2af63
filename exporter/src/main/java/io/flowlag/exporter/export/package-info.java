/**
 * From finished flows to IPFIX: which elements a record has, its templates by presence groups, its octets, and the exporting
 * stage with its destinations. Enums, profiles and what is static are immutable or have no state, for any thread.
 */
package io.flowlag.exporter.export;
