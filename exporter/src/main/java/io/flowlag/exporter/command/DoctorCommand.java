package io.flowlag.exporter.command;

import io.flowlag.common.command.ExitCode;
import io.flowlag.exporter.runtime.doctor.Finding;
import io.flowlag.exporter.runtime.doctor.HostExamination;
import io.flowlag.exporter.terminal.Terminal;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;

/** {@code flowlag doctor}. */
@Command(name = "doctor", description = {
    "Looks at this host: what would spoil a measurement, and how to mend it. Changes nothing.",
    "Ends with 78 if something is bad, else with 0."})
final class DoctorCommand implements Callable<Integer> {
    @Parameters(arity = "0..*", paramLabel = "INTERFACE", description = "Interfaces to look at; all that are up if not given.")
    private List<String> interfaces = List.of();

    private final Terminal terminal;

    DoctorCommand(final Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        final List<Finding> findings = HostExamination.ofThisHost(interfaces);
        final int width = findings.stream().mapToInt((finding) -> finding.subject().length()).max().orElse(0);
        final String format = "%-6s%-" + (width + 2) + "s%s%n";
        for (final Finding finding : findings) {
            terminal.out().printf(Locale.ROOT, format, finding.verdict().name().toLowerCase(Locale.ROOT), finding.subject(),
                finding.what());
            if (!finding.remedy().isEmpty()) {
                terminal.out().printf(Locale.ROOT, format, "", "", "-> " + finding.remedy());
            }
        }
        final long bad = findings.stream().filter((finding) -> finding.verdict() == Finding.Verdict.BAD).count();
        terminal.out().println(bad == 0 ? "nothing spoils a measurement" : bad + " to mend");
        return (bad == 0 ? ExitCode.DONE : ExitCode.CONFIGURATION).number();
    }
}
