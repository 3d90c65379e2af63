/** What estimates delays of flows, side by side: the product's estimators and those of the papers that they are compared with. */
package io.flowlag.tests.lab.method;
