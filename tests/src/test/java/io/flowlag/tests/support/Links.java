package io.flowlag.tests.support;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** Links between pages in Markdown. */
public final class Links {
    private static final Pattern LINK = Pattern.compile("\\]\\(([^)#]+)?(?:#([^)]+))?\\)");

    private Links() {
    }

    /**
     * Links that lead to no file, out of a folder, or to no heading; those to other machines are not followed.
     *
     * @param root  the folder.
     * @param pages that may hold links.
     * @return page and link of each.
     * @throws IOException if a page cannot be read.
     */
    public static List<String> broken(final Path root, final List<Path> pages) throws IOException {
        final List<String> broken = new ArrayList<>();
        for (final Path page : pages) {
            for (final MatchResult link : LINK.matcher(Files.readString(page)).results().toList()) {
                final boolean isExternal = link.group(1) != null && link.group(1).contains("://");
                final Path target = link.group(1) == null ? page : page.resolveSibling(link.group(1));
                if (!isExternal && !isWhole(root, target, link.group(2))) {
                    broken.add(page + ": " + link.group());
                }
            }
        }
        return broken;
    }

    private static boolean isWhole(final Path root, final Path target, final String heading) throws IOException {
        return Files.exists(target) && target.toRealPath().startsWith(root.toRealPath()) &&
            (heading == null || headings(target).contains(heading));
    }

    private static List<String> headings(final Path page) throws IOException {
        return Files.readString(page).lines().filter((line) -> line.startsWith("#"))
            .map((line) -> line.replaceFirst("#+ ", "").toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9 -]", "").replace(' ', '-'))
            .toList();
    }
}
