/* Whose a row is: links and identifiers, and whether two policies of one source agree on it. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "query/plan/policy.h"
#include "reader/format.h"

/* A text file's format; false for other sources, and for what an older version recorded. */
static bool format_of(const brume_policy *policy, brume_text_format *format)
{
    return policy->options && *policy->options == '{' &&
           brume_text_format_parse(policy->options, format, NULL) == BRUME_OK;
}

static bool same_lines(const brume_policy *before, const brume_policy *after)
{
    brume_text_format old, new;
    if (!format_of(before, &old) || !format_of(after, &new))
        return true;
    if (old.multiline != new.multiline || (old.multiline && old.quote != new.quote))
        return false;
    return (!before->unit && !before->link_column) ||
           (old.delimiter == new.delimiter &&old.quote == new.quote &&old.header == new.header);
}

static bool is_headless(const brume_policy *policy)
{
    brume_text_format format;
    return format_of(policy, &format) && !format.header;
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* A column that says whose row it is, by itself or by a link, and where it is. */
static bool same_column(const brume_policy *before, const char *before_name,
                        const brume_policy *after, const char *after_name)
{
    const brume_policy_column *old = brume_policy_find(before, before_name);
    const brume_policy_column *new = brume_policy_find(after, after_name);
    if (!old || !new || strcmp(old->name, new->name) != 0 ||
        !brume_type_equal(old->type, new->type) || old->leaf != new->leaf)
        return false;
    return !is_headless(after) || old - before->columns == new - after->columns;
}

brume_status brume_policy_set_identifier(brume_policy *policy, const char *column,
                                         brume_error *error)
{
    brume_policy_column *found = NULL;
    BRUME_TRY(brume_policy_named(policy, column, &found, error));
    found->is_identifier = true;
    return BRUME_OK;
}

brume_status brume_policy_set_link(brume_policy *policy, const char *column, const char *parent,
                                   const char *parent_column, brume_error *error)
{
    brume_policy_column *found = NULL;
    BRUME_TRY(brume_policy_named(policy, column, &found, error));
    char *names[] = {strdup(found->name), strdup(parent), strdup(parent_column)};
    if (!names[0] || !names[1] || !names[2]) {
        for (size_t i = 0; i < 3; i++)
            free(names[i]);
        return brume_no_memory(error, "a policy");
    }
    free(policy->link_column);
    free(policy->parent);
    free(policy->parent_column);
    policy->link_column = names[0];
    policy->parent = names[1];
    policy->parent_column = names[2];
    return BRUME_OK;
}

bool brume_policy_same_units(const brume_policy *before, const brume_policy *after)
{
    if (!before->unit != !after->unit || !same_lines(before, after) ||
        !same_text(before->parent, after->parent) ||
        !same_text(before->parent_column, after->parent_column))
        return false;
    if (before->unit && !same_column(before, before->unit, after, after->unit))
        return false;
    return !before->link_column ||
           same_column(before, before->link_column, after, after->link_column);
}
