/**
 * Where delay arises: hops that segments tell apart, and the slow ones among them, with clocks as unknowns. Delays are ns.
 * <p>
 * Against drawn numbers on AS1239 (three slow hops of 1 ms and more, exponential excess of 50 µs elsewhere, errors of 3 % and of
 * 0.3 ms over the root of a segment's flows; the module tests draw them):
 * <pre>
 * | measured                          | found | suspects hold | mean suspects | of groups |
 * | 3000 routes, their ends           | 0.81  | 1.00          | 1.00          | 1.00      |
 * | the same, errors of 3 % alone     | 1.00  | 1.00          | 1.00          | 1.00      |
 * | 15 points                         | 0.89  | 0.97          | 1.24          | 1.28      |
 * | 45 points, clocks 0.5 ms off      | 0.92  | 1.00          | 1.15          | 1.19      |
 * | the same, clocks taken for exact  | 0.19  | 0.41          | 1.06          | 1.19      |
 * </pre>
 * On the first of these, all that a lasso names holds every slow hop, but a third of it is wrong; of non-negative least squares
 * four fifths are wrong; a Boolean cover finds two thirds, and a third of it is wrong.
 */
package io.flowlag.network.locate;
