/**
 * Shows what the job says: pages, REST, metrics, and the history of what is final. It reads nothing but segments' windows and
 * verdicts.
 */
package io.flowlag.station.view;
