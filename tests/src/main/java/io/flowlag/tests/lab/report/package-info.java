/** What experiments have in common: their interface, tables, plots, and the report. Knows nothing of delays. */
package io.flowlag.tests.lab.report;
