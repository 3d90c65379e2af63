package io.flowlag.ipfix.session;

import io.flowlag.ipfix.template.Template;
import org.agrona.collections.Int2ObjectHashMap;

import java.util.ArrayList;

/**
 * The templates in use in one session and their state: which are still to be sent, and for which data may be sent. Used by one
 * thread; allocates when a template is new.
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

        boolean isDue() {
            return copiesLeft > 0 && !inMessage;
        }

        boolean isMissingForMessage() {
            return usedInMessage && !isAnnounced();
        }

        void onPutInMessage() {
            inMessage = true;
        }

        void onPutInAnnouncement() {
            inAnnouncement = true;
        }

        void onUsedInMessage() {
            usedInMessage = true;
        }

        void onSent() {
            sent = true;
            copiesLeft = Math.max(0, copiesLeft - 1);
        }
    }

    private final Int2ObjectHashMap<Entry> byId = new Int2ObjectHashMap<>();
    private final ArrayList<Entry> entries = new ArrayList<>();
    private final int initialCopies;
    private Entry latest;

    ActiveTemplates(final int initialCopies) {
        this.initialCopies = initialCopies;
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

    Entry get(final int index) {
        return entries.get(index);
    }

    boolean isAnyDue() {
        for (int i = 0; i < entries.size(); i++) {
            if (entries.get(i).isDue()) {
                return true;
            }
        }
        return false;
    }

    /** Schedules one more copy of each template. */
    void refresh() {
        for (int i = 0; i < entries.size(); i++) {
            final Entry entry = entries.get(i);
            entry.copiesLeft = Math.max(1, entry.copiesLeft);
        }
    }

    /** Starts a new Transport Session, which has no template; the open message keeps its content. */
    void onNewSession() {
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
