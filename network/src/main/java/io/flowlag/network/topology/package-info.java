/** Nodes and links, and the readers of the formats that other tools write. */
package io.flowlag.network.topology;
