/**
 * What people and programs see of a running process: status file, live view, metrics, health, status page. Beside the
 * packet's way.
 */
package io.flowlag.exporter.observe;
