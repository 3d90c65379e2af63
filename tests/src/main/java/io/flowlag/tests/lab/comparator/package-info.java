/** Methods of the papers that the product is compared with, and which it does not use. One thread each. */
package io.flowlag.tests.lab.comparator;
