/** Delay estimation methods: the product's and those of the papers that it is compared with. */
package io.flowlag.tests.lab.method;
