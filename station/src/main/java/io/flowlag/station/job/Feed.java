package io.flowlag.station.job;

import com.google.protobuf.Message;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** What the job's results go to in the same process; the job finds it by its name. Called by the threads of sinks. */
@FunctionalInterface
public interface Feed {
    /**
     * One window of a segment, verdict, or flow along its path in a window, which may come again, the same or corrected; or an
     * alert, which comes with each window while it is on, and once with its end.
     */
    void onResult(Message result);

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
