package io.flowlag.exporter.capture.route;

/** Receives what {@link RouteReader} reads. */
interface RouteHandler {
    /** How a route changes. */
    enum Change {
        /** It is part of a dump. */
        DUMPED,
        /** It was added beside what was there. */
        ADDED,
        /** It took the place of one with its table, prefix and metric. */
        REPLACED,
        /** It was deleted. */
        DELETED
    }

    void onRoute(Route route, Change change);

    /** A rule of a dump; the table is 0 for a rule that is not one of the default rules. */
    void onRule(boolean isIpv6, int table);

    /** A dump ended, or failed: then it is to be repeated. */
    void onDumpEnd(boolean isSuccess);

    /** Something changed on which routes depend: only a dump can tell what they are now. */
    void onDoubt();
}
