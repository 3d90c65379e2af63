/**
 * From finished flows to IPFIX: the elements of a record, its templates by presence groups, its encoding, and the exporting stage
 * with its destinations. Enums, profiles and static members are immutable or stateless, for any thread.
 */
package io.flowlag.exporter.export;
