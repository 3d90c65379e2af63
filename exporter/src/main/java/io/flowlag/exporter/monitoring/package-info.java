/**
 * What users and programs see of a running process: status file, live view, metrics, health, status page. None of it is on the
 * packet path. Taking and showing a snapshot may allocate; the thread that shows it does both, unless a type says otherwise.
 * Layouts and views of a snapshot are stateless or immutable, and serve any thread.
 * <p>HTTP is Jetty's. The JDK's server blocks a thread for each slow request: with 32 threads, 200 clients that sent an octet a
 * second delayed others by 9 s. With a limit on connections it refuses new ones. It accepts heads of 300 KB.
 */
package io.flowlag.exporter.monitoring;
