package io.flowlag.ipfix.session;

import io.flowlag.ipfix.template.Template;
import org.agrona.collections.Int2ObjectHashMap;

import java.util.ArrayList;

/**
 * The templates in use in one session and their state: which are still to be sent or are due again, and for which data may be
 * sent. Used by one thread; allocates when a template is new.
 */
final class ActiveTemplates {
    /** The state of one template. */
    static final class Entry {
        private final Template template;
        private int copiesLeft;
        private boolean sent;
        private boolean inMessage;
        private boolean usedInMessage;
        private boolean inAnnouncement;

        Entry(final Template template, final int copiesLeft) {
            this.template = template;
            this.copiesLeft = copiesLeft;
        }

        Template template() {
            return template;
        }

        /** Whether data may follow: the template was sent in this session or is at the beginning of the open message. */
        boolean isAnnounced() {
            return sent || inMessage;
        }

        private boolean isDue() {
            return copiesLeft > 0 && !inMessage;
        }

        private boolean isMissingForMessage() {
            return usedInMessage && !isAnnounced();
        }

        /** Puts the template into a message if it is due and fits; returns whether it is not due any longer. */
        boolean putDue(final MessageBuilder message, final int reserveBytes) {
            inMessage |= isDue() && message.offer(template, reserveBytes);
            return !isDue();
        }

        void onUsedInMessage() {
            usedInMessage = true;
        }

        private void onSent() {
            sent = true;
            copiesLeft = Math.max(0, copiesLeft - 1);
        }
    }

    private final Int2ObjectHashMap<Entry> byId = new Int2ObjectHashMap<>();
    private final ArrayList<Entry> entries = new ArrayList<>();
    private final int initialCopies;
    private final long refreshIntervalMs;
    private final int refreshMessages;
    private Entry latest;
    private long lastRefreshMs;
    private long messagesSinceRefresh;

    ActiveTemplates(final SessionSettings settings, final boolean isDatagram) {
        initialCopies = isDatagram ? SessionSettings.INITIAL_TEMPLATE_COPIES : 1;
        refreshIntervalMs = settings.templateRefreshIntervalMs();
        refreshMessages = settings.templateRefreshMessages();
    }

    /** The entry of a template, which is made if the template is new. */
    Entry entry(final Template template) {
        if (latest != null && latest.template == template) {
            return latest;
        }
        latest = lookUp(template);
        return latest;
    }

    private Entry lookUp(final Template template) {
        final Entry known = byId.get(template.templateId());
        if (known == null) {
            final Entry added = new Entry(template, initialCopies);
            byId.put(template.templateId(), added);
            entries.add(added);
            return added;
        }
        if (!known.template.hasSameContent(template)) {
            throw new IllegalArgumentException(template + " has the id of " + known.template +
                "; templates of one session must come from one catalog");
        }
        return known;
    }

    /** The template with an id, or null. */
    Template find(final int templateId) {
        final Entry entry = byId.get(templateId);
        return entry == null ? null : entry.template;
    }

    int size() {
        return entries.size();
    }

    /** Puts the templates that are due into a message; returns whether none is left. */
    boolean putDue(final MessageBuilder message, final int reserveBytes) {
        boolean isComplete = true;
        for (int i = 0; i < entries.size(); i++) {
            isComplete &= entries.get(i).putDue(message, reserveBytes);
        }
        return isComplete;
    }

    /** Puts the templates of an open message that its session has not seen into an announcement; returns how many. */
    int putMissing(final MessageBuilder announcement) {
        int count = 0;
        for (int i = 0; i < entries.size(); i++) {
            final Entry entry = entries.get(i);
            if (entry.isMissingForMessage() && announcement.offer(entry.template, 0)) {
                entry.inAnnouncement = true;
                count++;
            }
        }
        return count;
    }

    boolean isAnyDue() {
        for (int i = 0; i < entries.size(); i++) {
            if (entries.get(i).isDue()) {
                return true;
            }
        }
        return false;
    }

    /** Schedules one more copy of each template over UDP, if the interval is over; returns whether it is. */
    boolean refreshInTime(final long nowMs) {
        if (!isElapsed(lastRefreshMs, refreshIntervalMs, nowMs)) {
            return false;
        }
        lastRefreshMs = nowMs;
        messagesSinceRefresh = 0;
        refresh();
        return true;
    }

    /** Schedules one more copy of each template after a number of datagrams with data. */
    void onDataSent() {
        if (refreshMessages > 0 && ++messagesSinceRefresh >= refreshMessages) {
            messagesSinceRefresh = 0;
            refresh();
        }
    }

    /** Marks the templates that the open message has data of, but not in itself, as not sent. */
    void forgetForMessage() {
        for (int i = 0; i < entries.size(); i++) {
            final Entry entry = entries.get(i);
            if (entry.usedInMessage && !entry.inMessage) {
                entry.sent = false;
                entry.copiesLeft = Math.max(1, entry.copiesLeft);
            }
        }
    }

    /** A clock that was set back makes everything due, or it might never be. */
    private static boolean isElapsed(final long sinceMs, final long intervalMs, final long nowMs) {
        return nowMs < sinceMs || nowMs - sinceMs >= intervalMs;
    }

    /** Schedules one more copy of each template. */
    void refresh() {
        for (int i = 0; i < entries.size(); i++) {
            final Entry entry = entries.get(i);
            entry.copiesLeft = Math.max(1, entry.copiesLeft);
        }
    }

    /** Starts a new Transport Session, which has no template; the open message keeps its content. */
    void onNewSession(final long nowMs) {
        lastRefreshMs = nowMs;
        for (int i = 0; i < entries.size(); i++) {
            final Entry entry = entries.get(i);
            entry.sent = false;
            entry.inAnnouncement = false;
            entry.copiesLeft = initialCopies;
        }
    }

    /** Whether the open message has data of a template that the present session has not seen. */
    boolean isAnyMissingForMessage() {
        for (int i = 0; i < entries.size(); i++) {
            if (entries.get(i).isMissingForMessage()) {
                return true;
            }
        }
        return false;
    }

    /** Marks the templates sent ahead of a message that outlived its session as sent. */
    void onAnnouncementSent() {
        for (int i = 0; i < entries.size(); i++) {
            final Entry entry = entries.get(i);
            if (entry.inAnnouncement) {
                entry.onSent();
            }
            entry.inAnnouncement = false;
        }
    }

    /** Marks the open message as sent; returns its number of templates. */
    int onMessageSent() {
        int count = 0;
        for (int i = 0; i < entries.size(); i++) {
            final Entry entry = entries.get(i);
            if (entry.inMessage) {
                entry.onSent();
                count++;
            }
            entry.inMessage = false;
            entry.usedInMessage = false;
        }
        return count;
    }

    /** Marks the open message as lost; its templates are due again. */
    void onMessageDropped() {
        for (int i = 0; i < entries.size(); i++) {
            final Entry entry = entries.get(i);
            if (entry.inMessage) {
                entry.copiesLeft = Math.max(1, entry.copiesLeft);
            }
            entry.inMessage = false;
            entry.usedInMessage = false;
        }
    }
}
