/**
 * Shortest routes with every equal-cost one, the segments between points, and which nodes get points next.
 * <p>
 * Rocketfuel's networks, and how many of their routers need points so that the probe hop count is a hundredth (the LDA paper: 15
 * % on average):
 * <pre>
 * | network | routers | routes  | probe hops | points for a hundredth |
 * | AS1221  | 108     | 14 686  | 73 522     | 16, 15 %               |
 * | AS1239  | 315     | 207 138 | 965 384    | 35, 11 %               |
 * | AS1755  | 87      | 15 502  | 91 056     | 25, 29 %               |
 * | AS3257  | 161     | 55 162  | 377 424    | 17, 11 %               |
 * | AS3967  | 79      | 11 628  | 67 722     | 26, 33 %               |
 * | AS6461  | 141     | 47 886  | 287 368    | 24, 17 %               |
 * </pre>
 */
package io.flowlag.network.route;
