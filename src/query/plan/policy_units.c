/* Whether two policies of one source agree on whose row is whose. */
#include <string.h>

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
    return !before->unit ||
           (old.delimiter == new.delimiter &&old.quote == new.quote &&old.header == new.header);
}

static bool is_headless(const brume_policy *policy)
{
    brume_text_format format;
    return format_of(policy, &format) && !format.header;
}

bool brume_policy_same_units(const brume_policy *before, const brume_policy *after)
{
    if (!before->unit != !after->unit || !same_lines(before, after))
        return false;
    if (!before->unit)
        return true;
    const brume_policy_column *old = brume_policy_find(before, before->unit);
    const brume_policy_column *new = brume_policy_find(after, after->unit);
    if (!old || !new || strcmp(old->name, new->name) != 0 ||
        !brume_type_equal(old->type, new->type) || old->leaf != new->leaf)
        return false;
    return !is_headless(after) || old - before->columns == new - after->columns;
}
