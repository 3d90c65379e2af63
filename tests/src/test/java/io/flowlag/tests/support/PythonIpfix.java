package io.flowlag.tests.support;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The Python package ipfix: a second independent decoder of a stream of IPFIX Messages. */
public final class PythonIpfix {
    // The distribution's interpreter: the package is installed for that one. -I keeps our directory ipfix out of its path.
    private static final Path PYTHON = Path.of("/usr/bin/python3");
    private static final String SCRIPT = String.join("\n",
        "import sys, datetime",
        "import ipfix.reader, ipfix.ie",
        "ipfix.ie.use_iana_default()",
        "ipfix.ie.use_5103_default()",
        "def ms(time):",
        "    since = time.replace(tzinfo=datetime.timezone.utc) - datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)",
        "    return since // datetime.timedelta(milliseconds=1)",
        "for record in ipfix.reader.from_stream(open(sys.argv[1], 'rb')).namedict_iterator():",
        "    if 'octetDeltaCount' in record:",
        "        version = 'v4' if 'sourceIPv4Address' in record else 'v6'",
        "        print(record['sourceIP' + version + 'Address'], record['destinationIP' + version + 'Address'],",
        "            record['protocolIdentifier'], record.get('sourceTransportPort', 0),",
        "            record.get('destinationTransportPort', 0), record['packetDeltaCount'], record['octetDeltaCount'],",
        "            ms(record['flowStartMilliseconds']), ms(record['flowEndMilliseconds']))");

    private PythonIpfix() {
    }

    /**
     * Reads a file.
     *
     * @param file of IPFIX Messages one after the other.
     * @return the flows, and everything on standard error.
     */
    public static Reception read(final Path file) {
        requirePackage();
        final Command.Result result = Command.of(PYTHON, "-I", "-c", SCRIPT, file).environment("TZ", "UTC").run();
        final List<Flow> flows = result.output().lines().map(line -> flow(line.split(" "))).toList();
        return new Reception(flows, result.errorLines());
    }

    private static void requirePackage() {
        if (!Files.isExecutable(PYTHON) ||
            Command.of(PYTHON, "-I", "-c", "import ipfix.reader").run().exitCode() != 0) {
            throw Tools.missing("the Python package ipfix is not installed (Debian package python3-ipfix)");
        }
    }

    private static Flow flow(final String[] column) {
        return new Flow(column[0], column[1], Integer.parseInt(column[2]), Integer.parseInt(column[3]),
            Integer.parseInt(column[4]), Long.parseLong(column[5]), Long.parseLong(column[6]),
            Long.parseLong(column[7]), Long.parseLong(column[8]));
    }
}
