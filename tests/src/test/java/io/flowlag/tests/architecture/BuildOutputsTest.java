package io.flowlag.tests.architecture;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.flowlag.tests.support.Checkout;
import io.flowlag.tests.support.Tools;
import org.agrona.DirectBuffer;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.Node;

import javax.xml.parsers.DocumentBuilderFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** The metadata of every module and the bill of materials are complete. */
class BuildOutputsTest {
    private static final List<String> SHIPPED = List.of("common", "ipfix", "rli", "sketch", "network", "exporter");

    @Test
    void shouldDescribeEveryModule() throws Exception {
        final Document parent = pom(Checkout.root());
        for (final String path : List.of("name", "description", "licenses/license/name", "licenses/license/url",
            "developers/developer/name")) {
            assertFalse(text(parent.getDocumentElement(), path).isBlank(), path);
        }
        for (final String module : SHIPPED) {
            final Element project = pom(Checkout.root().resolve(module)).getDocumentElement();
            assertEquals("flowlag " + module, text(project, "name"));
            assertFalse(text(project, "description").isBlank(), module);
        }
    }

    /** Accesses to buffers are checked in whatever ships, runs tests or measures: nothing turns Agrona's checks off. */
    @Test
    void shouldCheckBoundsEverywhere() throws Exception {
        assertTrue(DirectBuffer.SHOULD_BOUNDS_CHECK);
        final List<Path> places = new ArrayList<>(List.of("bin", ".ci", ".mvn", "exporter/packaging", "pom.xml",
            "tests/computing/bin", "tests/computing/pom.xml").stream().map(Checkout.root()::resolve).toList());
        for (final String module : List.of("common", "ipfix", "rli", "sketch", "network", "exporter", "tests")) {
            places.addAll(List.of(Checkout.root().resolve(module + "/src"), Checkout.root().resolve(module + "/pom.xml")));
        }
        for (final Path place : places) {
            try (Stream<Path> files = Files.walk(place)) {
                for (final Path file : files.filter(Files::isRegularFile).toList()) {
                    assertFalse(new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1)
                        .contains("agrona.disable" + ".bounds.checks"), file.toString());
                }
            }
        }
    }

    @Test
    void shouldListEveryLibraryWithItsVersionAndLicence() throws Exception {
        final Path bom = Checkout.root().resolve("target/bom.json");
        if (!Files.isRegularFile(bom)) {
            throw Tools.missing(bom + " is not built: package builds it");
        }
        final Set<String> listed = new TreeSet<>();
        for (final JsonNode component : new ObjectMapper().readTree(bom.toFile()).get("components")) {
            final String name = component.get("group").asText() + ":" + component.get("name").asText();
            assertFalse(component.path("version").asText().isBlank(), name);
            assertTrue(component.path("licenses").size() > 0, name);
            listed.add(name);
        }
        final Set<String> needed = new TreeSet<>();
        for (final String module : SHIPPED) {
            final Element project = pom(Checkout.root().resolve(module)).getDocumentElement();
            needed.add("io.flowlag:" + text(project, "artifactId"));
            for (final Element dependency : children(child(project, "dependencies"))) {
                if (child(dependency, "scope") == null) {
                    needed.add(text(dependency, "groupId") + ":" + text(dependency, "artifactId"));
                }
            }
        }
        needed.removeAll(listed);
        assertEquals(Set.of(), needed, "missing from the bill of materials");
        assertFalse(listed.contains("io.flowlag:flowlag-tests"), listed::toString);
    }

    private static Document pom(final Path folder) throws Exception {
        return DocumentBuilderFactory.newDefaultInstance().newDocumentBuilder().parse(folder.resolve("pom.xml").toFile());
    }

    private static String text(final Element from, final String path) {
        Element element = from;
        for (final String name : path.split("/")) {
            element = element == null ? null : child(element, name);
        }
        return element == null ? "" : element.getTextContent();
    }

    private static Element child(final Element parent, final String name) {
        return children(parent).stream().filter((each) -> each.getTagName().equals(name)).findFirst().orElse(null);
    }

    private static List<Element> children(final Element parent) {
        final List<Element> children = new ArrayList<>();
        for (Node node = parent.getFirstChild(); node != null; node = node.getNextSibling()) {
            if (node instanceof Element element) {
                children.add(element);
            }
        }
        return children;
    }
}
