package io.flowlag.station.job;

import io.flowlag.station.schema.Alert;
import io.flowlag.station.schema.PathWindow;
import io.flowlag.station.schema.SegmentWindow;
import io.flowlag.station.schema.Verdict;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** What the job's results go to in the same process; the job finds it by its name. Called by the threads of sinks. */
public interface Feed {
    /** One window; may come again, the same or corrected. */
    void onSegment(SegmentWindow window);

    /** One verdict; may come again, the same or corrected. */
    void onVerdict(Verdict verdict);

    /** One flow along its path in a window; may come again, the same or corrected. */
    default void onPath(PathWindow path) {
    }

    /** One alert; comes with each window while it is on, and once with its end. */
    default void onAlert(Alert alert) {
    }

    /** The feeds of this process. */
    final class Registry {
        private static final Map<String, Feed> FEEDS = new ConcurrentHashMap<>();

        private Registry() {
        }

        /** Gives a feed a name; an earlier one of that name gets nothing more. */
        public static void put(final String name, final Feed feed) {
            FEEDS.put(name, feed);
        }

        /** Forgets a feed. */
        public static void remove(final String name) {
            FEEDS.remove(name);
        }

        static Feed get(final String name) {
            final Feed feed = FEEDS.get(name);
            if (feed == null) {
                throw new IllegalStateException(name + ": there is no feed of that name in this process");
            }
            return feed;
        }
    }
}
