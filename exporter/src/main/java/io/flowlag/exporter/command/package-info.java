/**
 * The commands: options over configuration, one line for every error, an exit code for every end. Nothing depends on this
 * package. Commands run once, on the main thread, and allocate as they like.
 */
package io.flowlag.exporter.command;
