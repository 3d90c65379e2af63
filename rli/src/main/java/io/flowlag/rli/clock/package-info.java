/**
 * The difference of two clocks from delays measured in both directions between them: offset, drift, and bounds that hold whatever
 * the queues do (after Moon, Skelly and Towsley, INFOCOM 1999; Zhang, Liu and Xia, INFOCOM 2002; Marzullo, 1984). No socket and
 * no clock: delays and times are parameters.
 */
package io.flowlag.rli.clock;
