/**
 * What people and programs see of a running process: status file, live view, metrics, health, status page. Beside the packet's
 * way. Reading a state and showing it may allocate; the thread that shows does both, unless a type says otherwise. Layouts and
 * views of a snapshot have no state, or are immutable, and serve any thread.
 */
package io.flowlag.exporter.monitoring;
