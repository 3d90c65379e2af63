/**
 * The commands: options over configuration, one line for every error, an exit code for every end. Nothing depends on this
 * package.
 */
package io.flowlag.exporter.command;
