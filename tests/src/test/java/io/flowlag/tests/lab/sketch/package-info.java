/** The sketch papers' experiments: their traffic, their settings, and their figures beside ours. */
package io.flowlag.tests.lab.sketch;
