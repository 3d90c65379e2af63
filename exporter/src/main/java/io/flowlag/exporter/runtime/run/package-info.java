/** The command run: exporter process, live segment, advice on its settings. */
package io.flowlag.exporter.runtime.run;
