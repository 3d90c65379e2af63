package io.flowlag.ipfix.collect;

import org.agrona.collections.Int2ObjectHashMap;
import org.agrona.collections.IntHashSet;

import java.util.ArrayList;
import java.util.List;

/**
 * The actions of one message's template Sets in order. They are noted during verification and executed only when the message is
 * accepted. Until then {@link #find} answers as if they were executed. Not thread-safe; allocates when a message has more
 * template records than any before.
 */
final class TemplateActions {
    private final Int2ObjectHashMap<CollectedTemplate> overlay = new Int2ObjectHashMap<>();
    private final IntHashSet withdrawn = new IntHashSet();
    private final List<Action> actions = new ArrayList<>();
    private int count;
    private int position;
    private boolean dataWithdrawn;
    private boolean optionsWithdrawn;
    private boolean isInstalling;

    /** One template record. */
    static final class Action {
        private Kind kind;
        private int setOffset;
        private int templateId;
        private CollectedTemplate template;

        Kind kind() {
            return kind;
        }

        int templateId() {
            return templateId;
        }

        CollectedTemplate template() {
            return template;
        }
    }

    /** What a template record does. */
    enum Kind {
        /** A template that is new, or new under its id. */
        INSTALL,
        /** A template that is known already. */
        REFRESH,
        /** One template ends. */
        WITHDRAW,
        /** All templates of the domain end. */
        WITHDRAW_ALL,
        /** All options templates of the domain end. */
        WITHDRAW_ALL_OPTIONS
    }

    void clear() {
        if (count == 0) {
            return;
        }
        overlay.clear();
        withdrawn.clear();
        for (int i = 0; i < count; i++) {
            actions.get(i).template = null;
        }
        count = 0;
        position = 0;
        dataWithdrawn = false;
        optionsWithdrawn = false;
        isInstalling = false;
    }

    /** Whether there is a new template. */
    boolean isInstalling() {
        return isInstalling;
    }

    void install(final int setOffset, final CollectedTemplate template) {
        add(Kind.INSTALL, setOffset, template.template().templateId(), template);
        overlay.put(template.template().templateId(), template);
        isInstalling = true;
    }

    void refresh(final int setOffset, final CollectedTemplate template) {
        add(Kind.REFRESH, setOffset, template.template().templateId(), template);
    }

    /** Notes a withdrawal; over UDP it is only counted. */
    void withdraw(final int setOffset, final int templateId, final boolean isEffective) {
        add(Kind.WITHDRAW, setOffset, templateId, null);
        if (isEffective) {
            overlay.remove(templateId);
            withdrawn.add(templateId);
        }
    }

    void withdrawAll(final int setOffset, final boolean isOptions, final boolean isEffective) {
        add(isOptions ? Kind.WITHDRAW_ALL_OPTIONS : Kind.WITHDRAW_ALL, setOffset, 0, null);
        if (!isEffective) {
            return;
        }
        dataWithdrawn |= !isOptions;
        optionsWithdrawn |= isOptions;
        if (!overlay.isEmpty()) {
            overlay.values().removeIf(template -> template.template().isOptions() == isOptions);
        }
    }

    /** The template under an id after all actions noted so far; {@code before} is what it was before the message. */
    CollectedTemplate find(final int templateId, final CollectedTemplate before) {
        final CollectedTemplate noted = overlay.get(templateId);
        if (noted != null) {
            return noted;
        }
        if (before == null || withdrawn.contains(templateId)) {
            return null;
        }
        return (before.template().isOptions() ? optionsWithdrawn : dataWithdrawn) ? null : before;
    }

    /** The next action of a template Set, or null when that Set has no more. */
    Action next(final int setOffset) {
        if (position < count && actions.get(position).setOffset == setOffset) {
            return actions.get(position++);
        }
        return null;
    }

    private void add(
        final Kind kind, final int setOffset, final int templateId, final CollectedTemplate template) {
        if (count == actions.size()) {
            actions.add(new Action());
        }
        final Action action = actions.get(count++);
        action.kind = kind;
        action.setOffset = setOffset;
        action.templateId = templateId;
        action.template = template;
    }
}
