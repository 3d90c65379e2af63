/**
 * What the intervals of a segment say over a window, over a path, and over days: means with bounds, floors, changes, and service
 * levels. Times are ns since the epoch and come from the records; delays are ns. Histograms are those of the library sketch,
 * whose sum is exact.
 */
package io.flowlag.network.window;
