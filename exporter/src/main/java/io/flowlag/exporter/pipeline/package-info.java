/**
 * What joins the stages: the ring between two threads, what happens when it is full, the agent that captures and decodes, the
 * agent that meters (decoded packets into the flow cache, finished flows to the exporting stage), and how agents are put on
 * threads.
 */
package io.flowlag.exporter.pipeline;
