/** Tests of the Collecting Process. Messages are written octet by octet, so that no encoder of ours is the only witness. */
package io.flowlag.ipfix.collect;
