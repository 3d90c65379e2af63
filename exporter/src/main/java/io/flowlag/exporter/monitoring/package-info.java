/**
 * What people and programs see of a running process: status file, live view, metrics, health, status page. Beside the packet's
 * way. Reading a state and showing it may allocate; the thread that shows does both, unless a type says otherwise. Layouts and
 * views of a snapshot have no state, or are immutable, and serve any thread.
 *
 * <p>HTTP is Jetty's. The server of the JDK blocks a thread for each slow request: with 32 threads, 200 clients that send an
 * octet a second delayed others by 9 s. With a limit on connections it refuses the newcomer. It accepts heads of 300 KB.
 */
package io.flowlag.exporter.monitoring;
