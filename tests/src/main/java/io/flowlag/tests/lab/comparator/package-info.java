/** Comparison methods of the papers, which the product does not use. One thread each. */
package io.flowlag.tests.lab.comparator;
