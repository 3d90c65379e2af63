/**
 * What joins the stages: the ring between two threads, what happens when it is full, the agent that captures and decodes, and
 * how agents are put on threads.
 */
package io.flowlag.exporter.pipeline;
