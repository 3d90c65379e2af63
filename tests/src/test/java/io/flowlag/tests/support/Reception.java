package io.flowlag.tests.support;

import java.util.List;

/** What a collector received, and its complaints about sequence numbers, malformed messages or anything else. */
public record Reception(List<Flow> flows, List<String> complaints) {
    /** {@return this if there are no complaints; fails otherwise} */
    public Reception orFail() {
        if (!complaints.isEmpty()) {
            throw new AssertionError("the collector complains: " + String.join("\n", complaints));
        }
        return this;
    }
}
