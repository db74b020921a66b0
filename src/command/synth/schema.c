/* The columns of `brume synth`: from the words typed, else from the owner's policy. */
#include "command/synth/synth.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

enum { BINS = 10 };

/* What follows "NAME=" in a repeated option, the last one typed; NULL if there is none. */
static const char *typed_for(const brume_call *call, const char *option, const char *name)
{
    size_t length = strlen(name);
    const char *found = NULL;
    for (size_t i = 0; i < brume_call_times(call, option); i++) {
        const char *text = brume_call_text_at(call, option, i);
        if (strncmp(text, name, length) == 0 && text[length] == '=')
            found = text + length + 1;
    }
    return found;
}

static bool is_listed(const char *list, const char *name)
{
    size_t length = strlen(name);
    while (list && *list) {
        size_t word = strcspn(list, ",");
        if (word == length && strncmp(list, name, length) == 0)
            return true;
        list += word + (list[word] == ',');
    }
    return false;
}

/* ---- domains ---- */

static brume_status add_labels(brume_synth *synth, const char *name, const char *const *labels,
                               size_t count, brume_error *error)
{
    bool other = is_listed(brume_call_text(synth->call, "other"), name);
    return brume_schema_add_labels(synth->schema, name, labels, count, other, error);
}

/* LO..HI of whole numbers: each of them. */
static brume_status add_whole(brume_synth *synth, const char *name, long long low, long long high,
                              brume_error *error)
{
    if (low > high || high - low >= BRUME_SCHEMA_VALUES)
        return brume_fail(error, BRUME_EARGUMENT, "or cut it with --bounds and --bins",
                          "'--domain %s=%lld..%lld' must be 1 to %d whole numbers", name, low, high,
                          BRUME_SCHEMA_VALUES);
    size_t count = (size_t)(high - low) + 1;
    enum { WIDTH = 24 };
    char(*texts)[WIDTH] = malloc(count * WIDTH);
    const char **labels = malloc(count * sizeof *labels);
    brume_status status = texts && labels ? BRUME_OK
                                          : brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    for (size_t i = 0; status == BRUME_OK && i < count; i++) {
        snprintf(texts[i], WIDTH, "%lld", low + (long long)i);
        labels[i] = texts[i];
    }
    if (status == BRUME_OK)
        status = add_labels(synth, name, labels, count, error);
    free(texts);
    free(labels);
    return status;
}

/* V1,V2,... or LO..HI */
static brume_status add_domain(brume_synth *synth, const char *name, const char *typed,
                               brume_error *error)
{
    char *copy = strdup(typed), *rest = copy, *part = NULL, *end = NULL;
    size_t count = 0, room = 1;
    for (const char *c = typed; *c; c++)
        room += *c == ',';
    const char **labels = calloc(room, sizeof *labels);
    brume_status status = copy && labels ? BRUME_OK
                                         : brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    const char *dots = strstr(typed, "..");
    if (status == BRUME_OK && dots && room == 1 && dots - typed < 18 && strlen(dots) < 20) {
        long long low = strtoll(typed, &end, 10);
        bool whole = end == dots && end != typed;
        long long high = strtoll(dots + 2, &end, 10);
        if (whole && *end == 0 && end != dots + 2) {
            status = add_whole(synth, name, low, high, error);
            free(labels);
            free(copy);
            return status;
        }
    }
    while (status == BRUME_OK && (part = strsep(&rest, ",")))
        labels[count++] = part;
    if (status == BRUME_OK)
        status = add_labels(synth, name, labels, count, error);
    free(labels);
    free(copy);
    return status;
}

static brume_status read_bins(const brume_call *call, const char *name, uint64_t *bins,
                              brume_error *error)
{
    const char *typed = typed_for(call, "bins", name);
    for (size_t i = 0; !typed && i < brume_call_times(call, "bins"); i++)
        if (!strchr(brume_call_text_at(call, "bins", i), '='))
            typed = brume_call_text_at(call, "bins", i);
    *bins = BINS;
    if (typed)
        BRUME_TRY(brume_read_count(typed, "'--bins'", bins, error));
    if (*bins < 1 || *bins > BRUME_SCHEMA_VALUES)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'--bins' is %s, must be from 1 to %d",
                          typed, BRUME_SCHEMA_VALUES);
    return BRUME_OK;
}

static brume_status add_bins(brume_synth *synth, const char *name, const char *low,
                             const char *high, brume_error *error)
{
    double lower, upper;
    uint64_t bins;
    bool other = is_listed(brume_call_text(synth->call, "other"), name);
    brume_error inner = {0};
    if (brume_read_real(low, "the lower bound", &lower, &inner) != BRUME_OK ||
        brume_read_real(high, "the upper bound", &upper, &inner) != BRUME_OK)
        return brume_fail(error, BRUME_EARGUMENT, "say --domain NAME=V1,V2,...",
                          "the bounds of '%s' are no numbers: %s..%s", name, low, high);
    BRUME_TRY(read_bins(synth->call, name, &bins, error));
    return brume_schema_add_bins(synth->schema, name, lower, upper, (uint32_t)bins, other, error);
}

/* LO..HI */
static brume_status add_typed_bins(brume_synth *synth, const char *name, const char *typed,
                                   brume_error *error)
{
    const char *dots = strstr(typed, "..");
    char low[64];
    if (!dots || (size_t)(dots - typed) >= sizeof low)
        return brume_fail(error, BRUME_EARGUMENT, "for example --bounds age=0..100",
                          "'--bounds %s=%s' is not NAME=LO..HI", name, typed);
    memcpy(low, typed, (size_t)(dots - typed));
    low[dots - typed] = 0;
    return add_bins(synth, name, low, dots + 2, error);
}

/* ---- columns ---- */

static brume_status unknown_column(const brume_policy *policy, const char *name, brume_error *error)
{
    const char **names = calloc(policy->column_count + 1, sizeof *names);
    char hint[120] = "see 'brume show'";
    for (size_t i = 0; names && i < policy->column_count; i++)
        names[i] = policy->columns[i].name;
    const char *nearest = names ? brume_text_nearest(name, names, policy->column_count) : NULL;
    if (nearest)
        snprintf(hint, sizeof hint, "did you mean '%.80s'?", nearest);
    free(names);
    return brume_fail(error, BRUME_EUNKNOWN, hint, "the dataset has no column '%s'", name);
}

static brume_status add_column(brume_synth *synth, const char *name, brume_error *error)
{
    static const char *const booleans[] = {"false", "true"};
    const brume_policy_column *column = NULL;
    if (synth->policy && !(column = brume_policy_find(synth->policy, name)))
        return unknown_column(synth->policy, name, error);
    if (column)
        name = column->name;
    const char *domain = typed_for(synth->call, "domain", name);
    const char *bounds = typed_for(synth->call, "bounds", name);
    if (domain && bounds)
        return brume_fail(error, BRUME_EARGUMENT, "give one of them",
                          "'%s' has both '--domain' and '--bounds'", name);
    if (domain)
        return add_domain(synth, name, domain, error);
    if (bounds)
        return add_typed_bins(synth, name, bounds, error);
    if (column && column->domain)
        return add_labels(synth, name, (const char *const *)column->domain, column->domain_count,
                          error);
    if (column && column->low && column->high)
        return add_bins(synth, name, column->low, column->high, error);
    if (column && column->type.kind == BRUME_TYPE_BOOLEAN)
        return add_labels(synth, name, booleans, 2, error);
    return brume_fail(error, BRUME_EARGUMENT,
                      "say --domain NAME=V1,V2,... or --bounds NAME=LO..HI: public, not from the "
                      "data",
                      "nothing is known of the values of '%s'", name);
}

/* Every NAME of a repeated NAME=... option, and of --other, must be a column. */
static brume_status check_names(const brume_synth *synth, const char *option, brume_error *error)
{
    for (size_t i = 0; i < brume_call_times(synth->call, option); i++) {
        const char *typed = brume_call_text_at(synth->call, option, i);
        bool list = strcmp(option, "other") == 0;
        const char *equals = strchr(typed, '=');
        uint64_t bins;
        if (strcmp(option, "bins") == 0)
            BRUME_TRY(brume_read_count(equals ? equals + 1 : typed, "'--bins'", &bins, error));
        if (strcmp(option, "bins") == 0 && !equals)
            continue;
        if (!list && !equals)
            return brume_fail(error, BRUME_EARGUMENT, NULL, "'--%s %s' is not NAME=...", option,
                              typed);
        while (*typed) {
            size_t length = list ? strcspn(typed, ",") : (size_t)(equals - typed);
            char name[256];
            snprintf(name, sizeof name, "%.*s", (int)length, typed);
            if (brume_schema_find(synth->schema, name) == SIZE_MAX)
                return brume_fail(error, BRUME_EUNKNOWN, "columns are those of --columns",
                                  "'--%s' names '%s', which is no column here", option, name);
            if (strcmp(option, "bins") == 0 &&
                !brume_schema_has_bins(synth->schema, brume_schema_find(synth->schema, name)))
                return brume_fail(error, BRUME_EARGUMENT, "bins are cut between --bounds",
                                  "'--bins' names '%s', which has a domain of values", name);
            typed += length + (typed[length] == ',');
            if (!list)
                break;
        }
    }
    return BRUME_OK;
}

brume_status brume_synth_schema(brume_synth *synth, brume_error *error)
{
    static const char *const named[] = {"domain", "bounds", "bins", "other"};
    const char *typed = brume_call_text(synth->call, "columns");
    if (!typed || !*typed)
        return brume_fail(error, BRUME_EARGUMENT, "for example --columns age,city",
                          "'--columns' is missing");
    BRUME_TRY(brume_schema_open(&synth->schema, error));
    char *copy = strdup(typed), *rest = copy, *name = NULL;
    brume_status status = copy ? BRUME_OK : brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    while (status == BRUME_OK && (name = strsep(&rest, ",")))
        status = add_column(synth, name, error);
    free(copy);
    for (size_t i = 0; status == BRUME_OK && i < sizeof named / sizeof *named; i++)
        status = check_names(synth, named[i], error);
    if (status == BRUME_OK)
        status = brume_schema_universe(synth->schema, &synth->universe, error);
    return status;
}
