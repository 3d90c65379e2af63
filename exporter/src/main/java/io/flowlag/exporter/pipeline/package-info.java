/**
 * The stages and their connections: the ring between two threads and its overflow policy, the agent that captures and decodes,
 * and the agent that meters (decoded packets into the flow cache, finished flows to the exporting stage).
 */
package io.flowlag.exporter.pipeline;
