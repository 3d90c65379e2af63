/**
 * The station: receives the records of all exporters of a network ({@code inlet}), joins them by segment, path and time and says
 * where delay arises ({@code job}), and shows it ({@code view}). Messages between them are those of {@code docs/station}.
 */
package io.flowlag.station;
