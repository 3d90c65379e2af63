/** RLI's estimates and LDS's cells solved together: the delays of all flows of an interval, each with a bound. */
package io.flowlag.sketch.joint;
