/* What an owner declares of a dataset: limits, bounds and domains. */
#include "command/owner/declare.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* "COLUMN=REST": cut at the first '='. */
static brume_status cut(const char *typed, const char *option, const char *how, char **column,
                        char **rest, brume_error *error)
{
    char *copy = strdup(typed);
    char *equals = copy ? strchr(copy, '=') : NULL;
    if (!copy)
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    if (!equals || equals == copy) {
        free(copy);
        return brume_fail(error, BRUME_EARGUMENT, how, "'--%s' is '%s'", option, typed);
    }
    *equals = 0;
    *column = copy;
    *rest = equals + 1;
    return BRUME_OK;
}

brume_status brume_split_bounds(const char *typed, char **column, char **low, char **high,
                                brume_error *error)
{
    static const char how[] = "write COLUMN=LO..HI";
    char *first = NULL, *second = NULL;
    BRUME_TRY(cut(typed, "bounds", how, &first, &second, error));
    char *dots = strstr(second, "..");
    if (!dots) {
        free(first);
        return brume_fail(error, BRUME_EARGUMENT, how, "'--bounds' is '%s'", typed);
    }
    *dots = 0;
    *column = first;
    *low = second;
    *high = dots + 2;
    return BRUME_OK;
}

bool brume_declares_column(const brume_call *call, const char *option, const char *column)
{
    size_t length = strlen(column);
    for (size_t i = 0; i < brume_call_times(call, option); i++) {
        const char *typed = brume_call_text_at(call, option, i);
        if (strncasecmp(typed, column, length) == 0 && typed[length] == '=')
            return true;
    }
    return false;
}

/* Is the column named by one of the first `before` options of this name? */
static bool is_named_before(const brume_call *call, const char *option, size_t before,
                            const char *column)
{
    size_t length = strlen(column);
    for (size_t i = 0; i < before; i++) {
        const char *typed = brume_call_text_at(call, option, i);
        if (strncasecmp(typed, column, length) == 0 && typed[length] == '=')
            return true;
    }
    return false;
}

static brume_status declare_bounds(const brume_call *call, size_t index, brume_policy *policy,
                                   brume_error *error)
{
    char *column = NULL, *low = NULL, *high = NULL;
    BRUME_TRY(
        brume_split_bounds(brume_call_text_at(call, "bounds", index), &column, &low, &high, error));
    const brume_policy_column *known = brume_policy_find(policy, column);
    brume_status status = BRUME_OK;
    if (known && is_named_before(call, "bounds", index, known->name))
        status = brume_fail(error, BRUME_EARGUMENT, NULL, "column '%s' is given bounds twice",
                            known->name);
    else
        status = brume_policy_set_bounds(policy, column, low, high, error);
    free(column);
    return status;
}

/* The values of one option, after those that options before it gave to the same column: a long
 * domain may take several. */
static brume_status declare_domain(const brume_call *call, size_t index, brume_policy *policy,
                                   brume_error *error)
{
    char *column = NULL, *rest = NULL, *part = NULL;
    BRUME_TRY(cut(brume_call_text_at(call, "domain", index), "domain", "write COLUMN=V1,V2,...",
                  &column, &rest, error));
    const brume_policy_column *known = brume_policy_find(policy, column);
    bool goes_on = known && is_named_before(call, "domain", index, known->name);
    size_t count = 0, before = goes_on ? known->domain_count : 0, room = before + 1;
    for (const char *c = rest; *c; c++)
        room += *c == ',';
    const char **values = calloc(room, sizeof *values);
    brume_status status = values ? BRUME_OK
                                 : brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    while (status == BRUME_OK && count < before) {
        values[count] = known->domain[count];
        count++;
    }
    while (status == BRUME_OK && (part = strsep(&rest, ",")))
        values[count++] = part;
    if (status == BRUME_OK)
        status = brume_policy_set_domain(policy, column, values, count, error);
    free(values);
    free(column);
    return status;
}

static void write_ceiling(FILE *out, const char *name, uint64_t ceiling, const char *meaning)
{
    if (ceiling)
        fprintf(out, "  %s  %llu   (%s)\n", name, (unsigned long long)ceiling, meaning);
    else
        fprintf(out, "  %s  no ceiling   (%s)\n", name, meaning);
}

void brume_write_ceilings(FILE *out, uint64_t max_groups, uint64_t max_rows, bool fixed)
{
    write_ceiling(out, "max groups", max_groups, "groups that one unit may be in");
    write_ceiling(out, "max rows  ", max_rows, "rows of one unit in a group");
    if (fixed)
        fprintf(out, "  limits      fixed   (the ceilings are the limits)\n");
}

const char *const brume_limits_words[] = {"chosen", "fixed", NULL};
const char *const brume_stay_words[] = {"true", "false", NULL};

/* Only a server has rows that can stay. */
static brume_status declare_stay(const brume_call *call, brume_policy *policy, brume_error *error)
{
    brume_dialect dialect;
    if (brume_call_text(call, "rows-stay"))
        policy->rows_stay = strcmp(brume_call_text(call, "rows-stay"), "true") == 0;
    if (policy->is_public)
        policy->rows_stay = false; /* of a dataset of several tables */
    if (policy->rows_stay &&
        (!brume_engine_dialect_of(policy->location, &dialect) || dialect == BRUME_DIALECT_DUCKDB))
        return brume_fail(error, BRUME_EARGUMENT, "load the file into a server, or leave it out",
                          "'--rows-stay' is for tables of a server: files are read by brume");
    return BRUME_OK;
}

brume_status brume_declare_policy(const brume_call *call, brume_policy *policy, brume_error *error)
{
    policy->max_groups = brume_call_count(call, "max-groups", policy->max_groups);
    policy->max_rows = brume_call_count(call, "max-rows", policy->max_rows);
    policy->timeout = brume_call_real(call, "timeout", policy->timeout);
    policy->rows_about = brume_call_real(call, "rows-about", policy->rows_about);
    if (brume_call_text(call, "limits-per-user"))
        BRUME_TRY(brume_user_limits_parse(brume_call_text(call, "limits-per-user"),
                                          &policy->per_user, error));
    BRUME_TRY(declare_stay(call, policy, error));
    if (brume_call_text(call, "limits"))
        policy->limits_fixed = strcmp(brume_call_text(call, "limits"), "fixed") == 0;
    if (brume_call_text(call, "unit-name"))
        BRUME_TRY(brume_policy_set_unit_name(policy, brume_call_text(call, "unit-name"), error));
    if (policy->limits_fixed && (!policy->max_groups || !policy->max_rows))
        return brume_fail(error, BRUME_EARGUMENT, "give --max-groups and --max-rows as well",
                          "fixed limits need ceilings");
    if (brume_call_text(call, "estimate-bias"))
        BRUME_TRY(
            brume_policy_set_bias_share(policy, brume_call_text(call, "estimate-bias"), error));
    for (size_t i = 0; i < brume_call_times(call, "bounds"); i++)
        BRUME_TRY(declare_bounds(call, i, policy, error));
    for (size_t i = 0; i < brume_call_times(call, "domain"); i++)
        BRUME_TRY(declare_domain(call, i, policy, error));
    return BRUME_OK;
}
