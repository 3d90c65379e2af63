/**
 * Reconciliation of an interval between two points: which packets only one of them has. The receiver point asks the sender
 * point for synopses and packets, and lists the difference; what is done with the list is the sketches' matter. Handlers are
 * called by the thread that reconciles, the receiver point's.
 */
package io.flowlag.exporter.delay.interval.repair;
