package io.flowlag.exporter.export;

import io.flowlag.ipfix.element.DataType;
import io.flowlag.ipfix.element.FlowElements;
import io.flowlag.ipfix.element.InformationElement;
import io.flowlag.ipfix.element.Semantics;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * The files of {@code docs/collectors/} that tell collectors of the elements they may not know, each in its own syntax. Made from
 * the same table as the encoder. Has no state.
 */
final class CollectorDefinitions {
    private static final long ENTERPRISE_NUMBER = FlowElements.DOCUMENTATION_ENTERPRISE_NUMBER;
    private static final String NOTICE = "Made from flowlag's element table; replace 32473 by your enterprise number.";
    private static final int FIRST_PROTOBUF_INDEX = 1000;

    private CollectorDefinitions() {
    }

    /** Every file: name and text. */
    static Map<String, String> files() {
        final List<InformationElement> elements = RecordReference.elementsToDefine();
        final List<InformationElement> numbers = only(elements, (element) -> element.type() != DataType.OCTET_ARRAY);
        final Map<String, String> files = new LinkedHashMap<>();
        files.put("goflow2-mapping.yaml", goflow2(numbers));
        files.put("ipfixcol2-flowlag.xml",
            ipfixcol2(only(elements, InformationElement::isEnterprise), ENTERPRISE_NUMBER, "flowlag"));
        files.put("ipfixcol2-iana.xml", ipfixcol2(only(elements, (element) -> !element.isEnterprise()), 0, "iana"));
        files.put("libfixbuf-elements.xml", libfixbuf(elements));
        files.put("logstash-ipfix-definitions.yaml", logstash(elements));
        files.put("nprobe-custom-fields.txt", nprobe(numbers));
        files.put("pmacct-primitives.lst", pmacctPrimitives(numbers));
        files.put("pmacct-nfacctd.conf", pmacctConfiguration(elements));
        files.put("telegraf-flowlag.csv", telegraf(numbers));
        return files;
    }

    private static String goflow2(final List<InformationElement> elements) {
        final StringBuilder text = new StringBuilder("# goflow2 -mapping=goflow2-mapping.yaml\n# ").append(NOTICE).append('\n')
            .append("# Values are unsigned there: a negative delay shows as 2^64 minus its size, a float64 as its bits.\n")
            .append("formatter:\n  fields:\n");
        for (final String field : List.of("type", "time_received_ns", "sampler_address", "sequence_num", "time_flow_start_ns",
            "time_flow_end_ns", "src_addr", "dst_addr", "proto", "src_port", "dst_port", "bytes", "packets")) {
            text.append("    - ").append(field).append('\n');
        }
        elements.forEach((element) -> text.append("    - ").append(snakeCase(element.name())).append('\n'));
        text.append("  protobuf:\n");
        int index = FIRST_PROTOBUF_INDEX;
        for (final InformationElement element : elements) {
            text.append("    - name: ").append(snakeCase(element.name())).append("\n      index: ").append(index++)
                .append("\n      type: varint\n");
        }
        text.append("ipfix:\n  mapping:\n");
        for (final InformationElement element : elements) {
            text.append("    - field: ").append(element.elementId()).append('\n');
            if (element.isEnterprise()) {
                text.append("      penprovided: true\n      pen: ").append(ENTERPRISE_NUMBER).append('\n');
            }
            text.append("      destination: ").append(snakeCase(element.name())).append('\n');
        }
        return text.toString();
    }

    private static String ipfixcol2(final List<InformationElement> elements, final long enterpriseNumber, final String scope) {
        final StringBuilder text = new StringBuilder("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<!-- IPFIXcol2 (libfds). ")
            .append(NOTICE).append(" -->\n<ipfix-elements>\n    <scope>\n        <pen>").append(enterpriseNumber)
            .append("</pen>\n        <name>").append(scope)
            .append("</name>\n        <biflow mode=\"none\"></biflow>\n    </scope>\n");
        for (final InformationElement element : elements) {
            text.append("    <element>\n        <id>").append(element.elementId()).append("</id>\n        <name>")
                .append(element.name()).append("</name>\n        <dataType>").append(element.type().registryName())
                .append("</dataType>\n").append(semantics(element, "        <dataSemantics>%s</dataSemantics>%n"))
                .append(units(element, "        <units>%s</units>%n")).append("    </element>\n");
        }
        return text.append("</ipfix-elements>\n").toString();
    }

    private static String libfixbuf(final List<InformationElement> elements) {
        final StringBuilder text = new StringBuilder("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n")
            .append("<!-- libfixbuf 2: ipfixDump -e libfixbuf-elements.xml. ").append(NOTICE).append(" -->\n")
            .append("<registry xmlns=\"http://www.iana.org/assignments\"")
            .append(" xmlns:cert=\"http://www.cert.org/ipfix\" id=\"ipfix\">\n")
            .append("  <registry id=\"ipfix-information-elements\">\n");
        for (final InformationElement element : elements) {
            text.append("    <record>\n      <name>").append(element.name()).append("</name>\n      <dataType>")
                .append(element.type().registryName()).append("</dataType>\n")
                .append(semantics(element, "      <dataTypeSemantics>%s</dataTypeSemantics>%n"))
                .append("      <elementId>").append(element.elementId()).append("</elementId>\n");
            if (element.isEnterprise()) {
                text.append("      <cert:enterpriseId>").append(ENTERPRISE_NUMBER).append("</cert:enterpriseId>\n");
            }
            text.append(units(element, "      <units>%s</units>%n")).append("    </record>\n");
        }
        return text.append("  </registry>\n</registry>\n").toString();
    }

    private static String logstash(final List<InformationElement> elements) {
        final StringBuilder text = new StringBuilder("# Logstash codec netflow: ipfix_definitions => \"this file\".\n# ")
            .append(NOTICE).append("\n# A top-level key replaces the codec's own block of that number.")
            .append(" So the elements of IANA below are comments:\n")
            .append("# add them to a copy of the block \"0:\" of the codec's ipfix.yaml, and put that copy here.\n# 0:\n");
        only(elements, (element) -> !element.isEnterprise()).forEach((element) -> text.append(logstash(element, "# ")));
        text.append(ENTERPRISE_NUMBER).append(":\n");
        only(elements, InformationElement::isEnterprise).forEach((element) -> text.append(logstash(element, "")));
        return text.toString();
    }

    private static String logstash(final InformationElement element, final String lineStart) {
        if (element.type() == DataType.OCTET_ARRAY) {
            return lineStart + "  " + element.elementId() + ":\n" + lineStart + "    - :skip\n";
        }
        final int bits = element.type().lengthBytes() * Byte.SIZE;
        final String type = element.type() == DataType.FLOAT64 ? "double" : (element.type().isSigned() ? "int" : "uint") + bits;
        return lineStart + "  " + element.elementId() + ":\n" + lineStart + "    - :" + type + "\n" + lineStart + "    - :" +
            element.name() + "\n";
    }

    private static String nprobe(final List<InformationElement> elements) {
        final StringBuilder text = new StringBuilder("# nprobe --load-custom-fields this-file (Professional). ").append(NOTICE)
            .append("\n# A negative delay shows as 2^64 minus its size.\n# Name STANDARD_ALIAS PEN FieldId Len Format\n");
        for (final InformationElement element : elements) {
            text.append(snakeCase(element.name()).toUpperCase(Locale.ROOT)).append("\tNONE\t")
                .append(element.isEnterprise() ? ENTERPRISE_NUMBER : 0).append('\t').append(element.elementId()).append('\t')
                .append(element.type().lengthBytes()).append('\t')
                .append(element.type() == DataType.FLOAT64 ? "dump_as_hex" : "dump_as_uint").append('\n');
        }
        return text.toString();
    }

    private static String pmacctPrimitives(final List<InformationElement> elements) {
        final StringBuilder text = new StringBuilder("! pmacct: aggregate_primitives: this file. ").append(NOTICE)
            .append("\n! A negative delay shows as 2^64 minus its size.\n");
        for (final InformationElement element : elements) {
            text.append("name=").append(snakeCase(element.name())).append(" field_type=")
                .append(element.isEnterprise() ? ENTERPRISE_NUMBER + ":" : "").append(element.elementId()).append(" len=")
                .append(element.type().lengthBytes()).append(" semantics=")
                .append(element.type() == DataType.FLOAT64 ? "hex" : "u_int").append('\n');
        }
        return text.toString();
    }

    private static String pmacctConfiguration(final List<InformationElement> elements) {
        final List<InformationElement> sent =
            only(elements, (element) -> RecordReference.isField(element) && element.type() != DataType.FLOAT64);
        return "! nfacctd -f pmacct-nfacctd.conf (started in this directory)\n" +
            "! A plugin sees only the records that have every primitive in its aggregate. There are three: flows for all of\n" +
            "! them, delay for those with a delay (profile full), path for those whose delay RFC 9951 can carry.\n" +
            "daemonize: false\n" +
            "nfacctd_ip: 127.0.0.1\n" +
            "nfacctd_port: 4739\n" +
            "nfacctd_time_new: false\n" +
            "timestamps_since_epoch: true\n" +
            "aggregate_primitives: pmacct-primitives.lst\n" +
            "plugins: print[flows], print[delay], print[path]\n" +
            pmacctPlugin("flows", List.of()) +
            pmacctPlugin("delay", only(sent, InformationElement::isEnterprise)) +
            pmacctPlugin("path", only(sent, (element) -> !element.isEnterprise() && !element.name().contains("Sum"))) +
            "print_output: json\nprint_output_file_append: true\n" +
            "print_refresh_time: 10\n";
    }

    private static String pmacctPlugin(final String name, final List<InformationElement> elements) {
        return "aggregate[" + name + "]: src_host, dst_host, src_port, dst_port, proto, timestamp_start, timestamp_end" +
            elements.stream().map((element) -> ", " + snakeCase(element.name())).collect(Collectors.joining()) + "\n" +
            "print_output_file[" + name + "]: " + name + ".json\n";
    }

    private static String telegraf(final List<InformationElement> elements) {
        final StringBuilder text = new StringBuilder(
            "# Telegraf: [[inputs.netflow]] private_enterprise_number_files = [\"this file\"]. ").append(NOTICE)
            .append("\n# Older versions know neither int nor float64: write uint and hex for them.\n");
        elements.stream().filter(InformationElement::isEnterprise).forEach((element) -> text.append(ENTERPRISE_NUMBER).append('.')
            .append(element.elementId()).append(',').append(snakeCase(element.name())).append(',')
            .append(element.type() == DataType.FLOAT64 ? "float64" : element.type().isSigned() ? "int" : "uint").append('\n'));
        return text.toString();
    }

    private static String semantics(final InformationElement element, final String format) {
        return element.semantics() == Semantics.DEFAULT ? "" : String.format(format, element.semantics().registryName());
    }

    private static String units(final InformationElement element, final String format) {
        return element.units().registryName().isEmpty() ? "" : String.format(format, element.units().registryName());
    }

    private static List<InformationElement> only(
        final List<InformationElement> elements, final Predicate<InformationElement> condition) {
        return elements.stream().filter(condition).toList();
    }

    private static String snakeCase(final String name) {
        return name.replaceAll("([a-z0-9])([A-Z])", "$1_$2").toLowerCase(Locale.ROOT);
    }
}
