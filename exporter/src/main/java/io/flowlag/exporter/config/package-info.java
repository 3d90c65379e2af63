/** The configuration: one table of keys, checked whole before anything starts. Used by every stage. */
package io.flowlag.exporter.config;
