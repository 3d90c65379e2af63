/** Flows as lines: what they show, which are asked for, and how they are written. */
package io.flowlag.exporter.listing;
