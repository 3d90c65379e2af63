/**
 * Where delay arises: hops that segments tell apart, and the slow ones among them, with clocks as unknowns. Delays are ns.
 * <p>
 * Against drawn numbers on AS1239 (three slow hops of 1 ms and more, exponential excess of 50 µs elsewhere, errors of 3 % and of
 * 0.3 ms over the root of a segment's flows; the module tests draw them):
 * <pre>
 * | measured                          | found | suspects hold | mean suspects | of groups |
 * | 3000 routes, their ends           | 0.92  | 1.00          | 1.01          | 1.03      |
 * | the same, errors of 3 % alone     | 1.00  | 1.00          | 1.00          | 1.00      |
 * | 15 points                         | 0.89  | 1.00          | 1.32          | 1.34      |
 * | 45 points, clocks 0.5 ms off      | 0.89  | 0.99          | 1.15          | 1.16      |
 * | the same, clocks taken for exact  | 0.43  | 0.14          | 1.02          | 1.18      |
 * </pre>
 * On the first of these, a lasso finds every slow hop, but two fifths of what it names is wrong; of non-negative least squares
 * five sixths are wrong; a Boolean cover finds 0.7, and nearly half of it is wrong.
 */
package io.flowlag.network.locate;
