/**
 * Reconciles an interval between two points: finds which packets only one of them has. The receiver point requests synopses and
 * packets from the sender point and lists the difference; the caller uses the list. Handlers run on the reconciling thread, which
 * is the receiver point's.
 */
package io.flowlag.exporter.delay.interval.repair;
