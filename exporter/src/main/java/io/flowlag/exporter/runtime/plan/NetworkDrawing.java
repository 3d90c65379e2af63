package io.flowlag.exporter.runtime.plan;

import io.flowlag.network.route.PlannedSegments.Selection;
import io.flowlag.network.topology.NetworkMap.Site;
import io.flowlag.network.topology.Topology;

import java.util.Locale;

/**
 * Draws a network with its points and the segments between them, as SVG. Nodes are where the map has them; those without a place
 * are spread by springs: links pull, nodes push each other away (Fruchterman and Reingold). Equal networks give equal drawings.
 */
final class NetworkDrawing {
    private static final int WIDTH = 1200;
    private static final int HEIGHT = 900;
    private static final int MARGIN = 60;
    /** Pairs of nodes that push each other, over all rounds. */
    private static final double EFFORT = 4e7;
    private static final int LEAST_ROUNDS = 20;
    private static final int MOST_ROUNDS = 100;
    private static final double GOLDEN_ANGLE = Math.PI * (3 - Math.sqrt(5));
    private static final double BEND = 0.15;
    private static final double COOLEST = 0.01;

    private final NetworkPlan plan;
    private final Topology topology;
    private final double[] xs;
    private final double[] ys;
    private final boolean[] isPlaced;
    private final StringBuilder svg = new StringBuilder();

    private NetworkDrawing(final NetworkPlan plan) {
        this.plan = plan;
        topology = plan.map().topology();
        xs = new double[topology.nodes()];
        ys = new double[topology.nodes()];
        isPlaced = new boolean[topology.nodes()];
    }

    /** {@return the drawing of a plan} */
    static String of(final NetworkPlan plan) {
        final NetworkDrawing drawing = new NetworkDrawing(plan);
        drawing.place();
        drawing.spread();
        drawing.fit();
        return drawing.draw();
    }

    private void place() {
        double west = Double.POSITIVE_INFINITY;
        double east = Double.NEGATIVE_INFINITY;
        double north = Double.NEGATIVE_INFINITY;
        double south = Double.POSITIVE_INFINITY;
        for (final Site site : plan.map().nodes()) {
            if (!Double.isNaN(site.latitude())) {
                west = Math.min(west, site.longitude());
                east = Math.max(east, site.longitude());
                north = Math.max(north, site.latitude());
                south = Math.min(south, site.latitude());
            }
        }
        final double scale = Math.cos(Math.toRadians((north + south) / 2));
        final double extent = Math.max(1e-6, Math.max((east - west) * scale, north - south));
        for (int node = 0; node < xs.length; node++) {
            final Site site = plan.map().nodes().get(node);
            isPlaced[node] = !Double.isNaN(site.latitude());
            final double radius = Math.sqrt((node + 0.5) / xs.length) / 2;
            xs[node] = isPlaced[node] ? (site.longitude() - west) * scale / extent : 0.5 + radius * Math.cos(node * GOLDEN_ANGLE);
            ys[node] = isPlaced[node] ? (north - site.latitude()) / extent : 0.5 + radius * Math.sin(node * GOLDEN_ANGLE);
        }
    }

    private void spread() {
        final int nodes = xs.length;
        final double ideal = 1 / Math.sqrt(Math.max(1, nodes));
        final int rounds = (int)Math.max(LEAST_ROUNDS, Math.min(MOST_ROUNDS, EFFORT / ((double)nodes * nodes + 1)));
        for (int round = 0; round < rounds; round++) {
            final double[] forceX = new double[nodes];
            final double[] forceY = new double[nodes];
            for (int one = 0; one < nodes; one++) {
                for (int other = 0; other < one; other++) {
                    push(one, other, ideal, forceX, forceY);
                }
            }
            for (int hop = 0; hop < topology.hops(); hop++) {
                pull(topology.from(hop), topology.to(hop), ideal, forceX, forceY);
            }
            final double most = Math.max(COOLEST, 1 - (double)round / rounds) / 10;
            for (int node = 0; node < nodes; node++) {
                final double length = Math.sqrt(forceX[node] * forceX[node] + forceY[node] * forceY[node]);
                if (!isPlaced[node] && length > 0) {
                    xs[node] += forceX[node] / length * Math.min(most, length);
                    ys[node] += forceY[node] / length * Math.min(most, length);
                }
            }
        }
    }

    private void push(final int one, final int other, final double ideal, final double[] forceX, final double[] forceY) {
        final double x = xs[one] - xs[other];
        final double y = ys[one] - ys[other];
        final double force = ideal * ideal / Math.max(1e-9, x * x + y * y);
        forceX[one] += x * force;
        forceY[one] += y * force;
        forceX[other] -= x * force;
        forceY[other] -= y * force;
    }

    private void pull(final int one, final int other, final double ideal, final double[] forceX, final double[] forceY) {
        final double x = xs[one] - xs[other];
        final double y = ys[one] - ys[other];
        final double force = Math.sqrt(x * x + y * y) / ideal / 2; // a link in both directions pulls twice
        forceX[one] -= x * force;
        forceY[one] -= y * force;
        forceX[other] += x * force;
        forceY[other] += y * force;
    }

    private void fit() {
        fit(xs, WIDTH);
        fit(ys, HEIGHT);
    }

    private static void fit(final double[] places, final int size) {
        double least = Double.POSITIVE_INFINITY;
        double most = Double.NEGATIVE_INFINITY;
        for (final double place : places) {
            least = Math.min(least, place);
            most = Math.max(most, place);
        }
        final double extent = most - least;
        for (int i = 0; i < places.length; i++) {
            places[i] = MARGIN + (size - 2 * MARGIN) * (extent > 0 ? (places[i] - least) / extent : 0.5);
        }
    }

    private String draw() {
        add("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"12\">%n",
            WIDTH, HEIGHT);
        add("<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>%n<g stroke=\"#c0c0c0\">%n", WIDTH, HEIGHT);
        for (int hop = 0; hop < topology.hops(); hop++) {
            final int from = topology.from(hop);
            final int to = topology.to(hop);
            if (from < to || topology.hop(to, from) == Topology.NONE) {
                add("<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"><title>%s - %s, weight %s</title></line>%n", xs[from],
                    ys[from], xs[to], ys[to], name(from), name(to), topology.weightText(hop));
            }
        }
        add("</g>%n<g fill=\"none\" stroke-opacity=\"0.6\">%n");
        plan.selections().forEach(this::segment);
        add("</g>%n");
        for (int node = 0; node < xs.length; node++) {
            node(node);
        }
        add("<text x=\"10\" y=\"20\">%d nodes, %d points (orange: new), %d segments: blue whole, violet in part, red not " +
            "selected by prefixes</text>%n</svg>%n", xs.length, plan.hosts().size(), plan.selections().size());
        return svg.toString();
    }

    private void segment(final Selection segment) {
        final int from = segment.from();
        final int to = segment.to();
        final double x = (xs[from] + xs[to]) / 2 - BEND * (ys[to] - ys[from]);
        final double y = (ys[from] + ys[to]) / 2 + BEND * (xs[to] - xs[from]);
        final String colour = segment.isWhole() ? "#1f77b4" : segment.selected() > 0 ? "#9467bd" : "#d62728";
        add("<path d=\"M%.1f %.1fQ%.1f %.1f %.1f %.1f\" stroke=\"%s\"><title>%s to %s: %d of %d pairs of nodes</title></path>%n",
            xs[from], ys[from], x, y, xs[to], ys[to], colour, name(from), name(to), segment.selected(), segment.pairs());
    }

    private void node(final int node) {
        final boolean isPoint = plan.isPoint()[node];
        final boolean isNew = isPoint && !plan.map().isPoint()[node];
        add("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%d\" fill=\"%s\" stroke=\"#404040\"><title>%s</title></circle>%n", xs[node],
            ys[node], isPoint ? 6 : 3, isNew ? "#ff7f0e" : isPoint ? "#2ca02c" : "#ffffff", name(node));
        if (isPoint) {
            add("<text x=\"%.1f\" y=\"%.1f\">%s</text>%n", xs[node] + 8, ys[node] - 6, name(node));
        }
    }

    private String name(final int node) {
        return topology.name(node).replaceAll("\\p{Cntrl}", "?").replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }

    private void add(final String format, final Object... arguments) {
        svg.append(String.format(Locale.ROOT, format.replace("%n", "\n"), arguments));
    }
}
