/** The common part of experiments: interface, tables, plots, and the report. Independent of delays. */
package io.flowlag.tests.lab.report;
