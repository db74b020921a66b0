/* The owner's policy of a dataset. */
#include "query/plan/policy.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <brume/decimal.h>

#include "base/error.h"
#include "base/text.h"
#include "query/expression/literal.h"
#include "reader/format.h"

/* Limits of users: read, written, in force. */

/* More than what a number takes while an answer is drawn, shown and recorded, which
 * tests/serve/run_limits.py measures. */
static const double BYTES_OF_NUMBER = 1024;

static const brume_user_limits defaults = {
    .memory = UINT64_C(1) << 30, .cells = UINT64_C(1) << 17, .ledger_bytes = UINT64_C(1) << 28};

static const struct {
    const char *word;
    size_t offset;
    bool is_size;
} members[] = {
    {"memory", offsetof(brume_user_limits, memory), true},
    {"cells", offsetof(brume_user_limits, cells), false},
    {"ledger-bytes", offsetof(brume_user_limits, ledger_bytes), true},
};

enum { MEMBERS = sizeof members / sizeof *members };

static brume_status policy_named(const brume_policy *policy, const char *name,
                                 brume_policy_column **out, brume_error *error);

static uint64_t *member_of(brume_user_limits *limits, size_t i)
{
    return (uint64_t *)(void *)((char *)limits + members[i].offset);
}

/* "64MiB"; 0: it is none. */
static uint64_t read_size(const char *text, size_t length, bool is_size)
{
    static const char *const units[] = {"", "KiB", "MiB", "GiB"};
    uint64_t value = 0;
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > 15 || digits > length)
        return 0;
    value = strtoull(text, NULL, 10);
    for (size_t i = 0; i < (is_size ? 4 : 1); i++)
        if (strlen(units[i]) == length - digits &&
            strncmp(text + digits, units[i], length - digits) == 0)
            return value <= (UINT64_MAX >> 11) >> (10 * i) ? value << (10 * i) : 0;
    return 0;
}

static brume_status read_member(const char *text, size_t length, brume_user_limits *out,
                                brume_error *error)
{
    for (size_t i = 0; i < MEMBERS; i++) {
        size_t word = strlen(members[i].word);
        if (length <= word || strncmp(text, members[i].word, word) != 0 || text[word] != '=')
            continue;
        uint64_t value = read_size(text + word + 1, length - word - 1, members[i].is_size);
        if (value == 0 || *member_of(out, i))
            return brume_fail(error, BRUME_EARGUMENT,
                              members[i].is_size ? "a whole number of bytes, KiB, MiB or GiB"
                                                 : "a whole number",
                              "'%.60s' of the limits per user cannot be read, or is there twice",
                              members[i].word);
        *member_of(out, i) = value;
        return BRUME_OK;
    }
    return brume_fail(error, BRUME_ESYNTAX, "memory=512MiB,cells=20000,ledger-bytes=64MiB",
                      "'%.*s' is no limit per user", (int)(length < 60 ? length : 60), text);
}

brume_status brume_user_limits_parse(const char *text, brume_user_limits *out, brume_error *error)
{
    brume_user_limits read = {0};
    for (;;) {
        size_t length = strcspn(text, ",");
        BRUME_TRY(read_member(text, length, &read, error));
        if (!text[length])
            break;
        text += length + 1;
    }
    *out = read;
    return BRUME_OK;
}

void brume_user_limits_print(const brume_user_limits *limits, char text[BRUME_USER_LIMITS_TEXT])
{
    brume_user_limits copy = *limits;
    size_t used = 0;
    text[0] = 0;
    for (size_t i = 0; i < MEMBERS; i++)
        if (*member_of(&copy, i))
            used += (size_t)snprintf(text + used, BRUME_USER_LIMITS_TEXT - used, "%s%s=%llu",
                                     used ? "," : "", members[i].word,
                                     (unsigned long long)*member_of(&copy, i));
}

brume_user_limits brume_user_limits_in_force(const brume_user_limits *said)
{
    brume_user_limits all = *said, standard = defaults;
    for (size_t i = 0; i < MEMBERS; i++)
        if (!*member_of(&all, i))
            *member_of(&all, i) = *member_of(&standard, i);
    return all;
}

brume_status brume_user_limits_check(const brume_user_limits *said, const char *dataset,
                                     double cells, double numbers, brume_error *error)
{
    static const char hint[] = "group by less, ask in several queries, or ask the owner";
    brume_user_limits all = brume_user_limits_in_force(said);
    if (cells > (double)all.cells)
        return brume_fail(error, BRUME_EPOLICY, hint,
                          "the answer would have %.15g cells, at most %llu are for a user of '%s'; "
                          "nothing was spent",
                          cells, (unsigned long long)all.cells, dataset);
    if (numbers * BYTES_OF_NUMBER > (double)all.memory)
        return brume_fail(error, BRUME_EPOLICY, hint,
                          "the answer would take about %.3g MiB of memory, at most %.4g are for a "
                          "user of '%s'; nothing was spent",
                          numbers * BYTES_OF_NUMBER / 1048576, (double)all.memory / 1048576,
                          dataset);
    return BRUME_OK;
}

/* Values of declared domains, as an engine sends them in a key column. */

static bool read_integer(const char *text, int64_t *out)
{
    char *end = NULL;
    long long value = strtoll(text, &end, 10);
    char again[24];
    snprintf(again, sizeof again, "%lld", value);
    *out = value;
    return *text && !*end && strcmp(again, text) == 0; /* the canonical writing only */
}

/* The canonical writing only: one date must not be two values. */
static bool read_date(const char *text, int64_t *out)
{
    char canonical[32];
    if (!brume_literal_date(text, canonical) || strcmp(canonical, text) != 0)
        return false;
    *out = brume_literal_days(canonical);
    return true;
}

brume_status brume_policy_domain_value(brume_type type, const char *text, brume_key_value *out,
                                       brume_error *error)
{
    brume_key_value cell = {.wire = BRUME_WIRE_INTEGER};
    bool good = false;
    switch (type.kind) {
    case BRUME_TYPE_TEXT:
        cell.wire = BRUME_WIRE_TEXT;
        cell.text = (brume_text){text, strlen(text)};
        good = true;
        break;
    case BRUME_TYPE_BOOLEAN:
        cell.integer = strcmp(text, "true") == 0;
        good = cell.integer || strcmp(text, "false") == 0;
        break;
    case BRUME_TYPE_INTEGER:
    case BRUME_TYPE_BIGINT:
        good = read_integer(text, &cell.integer);
        break;
    case BRUME_TYPE_DATE:
        good = read_date(text, &cell.integer);
        break;
    case BRUME_TYPE_REFUSED:
    case BRUME_TYPE_DECIMAL:
    case BRUME_TYPE_DOUBLE:
    case BRUME_TYPE_TIMESTAMP:
        break;
    }
    char name[BRUME_TYPE_NAME_SIZE];
    if (!good)
        return brume_fail(error, BRUME_EARGUMENT,
                          "domains are declared for text, whole numbers, dates and booleans",
                          "'%s' is not a value of type %s for a domain", text,
                          brume_type_name(type, name));
    *out = cell;
    return BRUME_OK;
}

/* Whose a row is: links and identifiers, and whether two policies of one source agree on it. */

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
    return (!before->unit && !before->link_column && !before->window.column) ||
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
    BRUME_TRY(policy_named(policy, column, &found, error));
    found->is_identifier = true;
    return BRUME_OK;
}

brume_status brume_policy_set_link(brume_policy *policy, const char *column, const char *parent,
                                   const char *parent_column, brume_error *error)
{
    brume_policy_column *found = NULL;
    BRUME_TRY(policy_named(policy, column, &found, error));
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

/* ---- windows ---- */

/* The domain as values of a grid. */
static brume_status copy_values(const brume_policy_column *column, brume_policy_window *window,
                                brume_error *error)
{
    window->values = calloc(column->domain_count + 1, sizeof *window->values);
    for (size_t i = 0; window->values && i < column->domain_count; i++) {
        if (!(window->values[i] = strdup(column->domain[i])))
            return brume_no_memory(error, "a policy");
        window->grid.value_count = i + 1;
    }
    window->grid.values = (const char *const *)window->values;
    return window->values ? BRUME_OK : brume_no_memory(error, "a policy");
}

static void clear_window(brume_policy_window *window)
{
    for (size_t i = 0; i < window->grid.value_count; i++)
        free(window->values[i]);
    free(window->values);
    free(window->column);
    *window = (brume_policy_window){0};
}

/* Has every value of the column a window of this grid? */
static brume_status check_window_column(const brume_policy_column *column,
                                        const brume_window_grid *grid, bool has_offset,
                                        brume_error *error)
{
    bool date = column->type.kind == BRUME_TYPE_DATE;
    bool timestamp = column->type.kind == BRUME_TYPE_TIMESTAMP;
    char type[BRUME_TYPE_NAME_SIZE];
    if (grid->length == BRUME_WINDOW_VALUES) {
        if (column->domain_count == 0)
            return brume_fail(error, BRUME_EARGUMENT,
                              "declare its values with --domain: each is a window, and all others "
                              "are one more",
                              "column '%s' has no declared values to make windows of",
                              column->name);
        if (has_offset)
            return brume_fail(error, BRUME_EARGUMENT, "leave it out",
                              "an offset moves windows of time, not of values");
        return BRUME_OK;
    }
    if (!date && !timestamp)
        return brume_fail(
            error, BRUME_EARGUMENT,
            "name a column of dates or timestamps (of a CSV file: --columns '... DATE "
            "date ...' gives it the type), or windows of 'values' and a domain",
            "column '%s' is %s: it has no windows of time", column->name,
            brume_type_name(column->type, type));
    if (date && grid->length == BRUME_WINDOW_HOUR)
        return brume_fail(error, BRUME_EARGUMENT,
                          "day, week, month, quarter, year, or Nd from DATE",
                          "column '%s' is a date: it has no hours", column->name);
    if (date && has_offset)
        return brume_fail(error, BRUME_EARGUMENT, "leave it out",
                          "column '%s' is a date, which has no zone: an offset does not move it",
                          column->name);
    return BRUME_OK;
}

brume_status brume_policy_set_window(brume_policy *policy, const char *place, const char *length,
                                     const char *offset, brume_error *error)
{
    brume_policy_window made = {.place = BRUME_WINDOW_BY_COLUMN};
    brume_policy_column *column = NULL;
    BRUME_TRY(brume_window_grid_parse(length, offset, &made.grid, error));
    if (strcmp(place, "none") == 0)
        made.place = BRUME_WINDOW_TIMELESS;
    else if (strcmp(place, "link") == 0)
        made.place = BRUME_WINDOW_BY_LINK;
    else
        BRUME_TRY(policy_named(policy, place, &column, error));
    if (made.place == BRUME_WINDOW_BY_LINK && !policy->link_column)
        return brume_fail(error, BRUME_EARGUMENT, "name its column of dates, or none",
                          "'window: link' in a table that has no link");
    made.close_after = policy->window.close_after;
    brume_status status = column ? check_window_column(column, &made.grid, offset && *offset, error)
                                 : BRUME_OK;
    if (status == BRUME_OK && column && !(made.column = strdup(column->name)))
        status = brume_no_memory(error, "a policy");
    if (status == BRUME_OK && column && made.grid.length == BRUME_WINDOW_VALUES)
        status = copy_values(column, &made, error);
    if (status != BRUME_OK) {
        clear_window(&made);
        return status;
    }
    clear_window(&policy->window);
    policy->window = made;
    return BRUME_OK;
}

brume_status brume_policy_keep_window(brume_policy *policy, const brume_policy *before,
                                      brume_error *error)
{
    const brume_policy_window *old = &before->window;
    brume_policy_window made = *old;
    brume_policy_column *column = NULL;
    if (!old->place)
        return BRUME_OK;
    made.column = NULL;
    made.values = NULL;
    made.grid.value_count = 0;
    if (old->column) {
        BRUME_TRY(policy_named(policy, old->column, &column, error));
        if (old->grid.length != BRUME_WINDOW_VALUES)
            BRUME_TRY(check_window_column(column, &old->grid, false, error));
        made.column = strdup(column->name);
    }
    made.values = calloc(old->grid.value_count + 1, sizeof *made.values);
    bool good = made.values && (!column || made.column);
    for (size_t i = 0; good && i < old->grid.value_count; i++) {
        good = (made.values[i] = strdup(old->values[i])) != NULL;
        made.grid.value_count += good;
    }
    made.grid.values = (const char *const *)made.values;
    if (!good) {
        clear_window(&made);
        return brume_no_memory(error, "a policy");
    }
    clear_window(&policy->window);
    policy->window = made;
    return BRUME_OK;
}

bool brume_policy_same_grid(const brume_policy *a, const brume_policy *b)
{
    const brume_window_grid *one = &a->window.grid, *two = &b->window.grid;
    if (one->length != two->length || one->days != two->days || one->origin != two->origin ||
        one->offset != two->offset || one->value_count != two->value_count)
        return false;
    for (size_t i = 0; i < one->value_count; i++)
        if (strcmp(one->values[i], two->values[i]) != 0)
            return false;
    return true;
}

static bool same_window(const brume_policy *before, const brume_policy *after)
{
    if (before->window.place != after->window.place || !brume_policy_same_grid(before, after))
        return false;
    return !before->window.column ||
           same_column(before, before->window.column, after, after->window.column);
}

bool brume_policy_same_units(const brume_policy *before, const brume_policy *after)
{
    if (!same_window(before, after))
        return false;
    if (!before->unit != !after->unit || !same_lines(before, after) ||
        !same_text(before->parent, after->parent) ||
        !same_text(before->parent_column, after->parent_column))
        return false;
    if (before->unit && !same_column(before, before->unit, after, after->unit))
        return false;
    return !before->link_column ||
           same_column(before, before->link_column, after, after->link_column);
}

/* ---- making and freeing ---- */

static void clear_column(brume_policy_column *column)
{
    free(column->name);
    free(column->native);
    free(column->low);
    free(column->high);
    for (size_t i = 0; i < column->domain_count; i++)
        free(column->domain[i]);
    free(column->domain);
}

void brume_policy_close(brume_policy *policy)
{
    if (!policy)
        return;
    for (size_t i = 0; i < policy->column_count; i++)
        clear_column(&policy->columns[i]);
    free(policy->columns);
    free(policy->location);
    free(policy->table);
    free(policy->options);
    free(policy->unit);
    free(policy->link_column);
    free(policy->parent);
    free(policy->parent_column);
    free(policy->bias_share);
    free(policy->unit_name);
    clear_window(&policy->window);
    free(policy);
}

/* Copy a text that may be NULL; false if memory is out. */
static bool copy(char **to, const char *from)
{
    free(*to);
    *to = from ? strdup(from) : NULL;
    return !from || *to;
}

static brume_status fill(brume_policy *policy, const char *location, const char *table,
                         const brume_description *description, brume_error *error)
{
    policy->columns = calloc(description->column_count + 1, sizeof *policy->columns);
    if (!policy->columns || !copy(&policy->location, location) || !copy(&policy->table, table) ||
        !copy(&policy->options, description->options))
        return brume_no_memory(error, "a policy");
    policy->column_count = description->column_count;
    for (size_t i = 0; i < policy->column_count; i++) {
        const brume_column *from = &description->columns[i];
        brume_policy_column *to = &policy->columns[i];
        to->type = from->type;
        to->leaf = from->leaf;
        to->not_null = from->not_null;
        if (!copy(&to->name, from->name) || !copy(&to->native, from->native))
            return brume_no_memory(error, "a policy");
    }
    return BRUME_OK;
}

brume_status brume_policy_make(const char *location, const char *table,
                               const brume_description *description, brume_policy **out,
                               brume_error *error)
{
    brume_policy *policy = calloc(1, sizeof *policy);
    if (!policy)
        return brume_no_memory(error, "a policy");
    brume_status status = fill(policy, location, table, description, error);
    if (status != BRUME_OK) {
        brume_policy_close(policy);
        return status;
    }
    *out = policy;
    return BRUME_OK;
}

/* ---- declarations ---- */

brume_policy_column *brume_policy_find(const brume_policy *policy, const char *name)
{
    for (size_t i = 0; i < policy->column_count; i++)
        if (strcmp(policy->columns[i].name, name) == 0)
            return &policy->columns[i];
    for (size_t i = 0; i < policy->column_count; i++)
        if (strcasecmp(policy->columns[i].name, name) == 0)
            return &policy->columns[i];
    return NULL;
}

/* The same; EUNKNOWN with the nearest name if there is none. */
static brume_status policy_named(const brume_policy *policy, const char *name,
                                 brume_policy_column **out, brume_error *error)
{
    *out = brume_policy_find(policy, name);
    if (*out)
        return BRUME_OK;
    char hint[BRUME_COLUMN_HINT] = "";
    const char **names = calloc(policy->column_count + 1, sizeof *names);
    for (size_t i = 0; names && i < policy->column_count; i++)
        names[i] = policy->columns[i].name;
    if (names)
        brume_text_column_hint(name, names, policy->column_count, hint);
    free(names);
    return brume_fail(error, BRUME_EUNKNOWN, hint, "the source has no column '%s'", name);
}

brume_status brume_policy_set_unit(brume_policy *policy, const char *column, brume_error *error)
{
    brume_policy_column *found = NULL;
    BRUME_TRY(policy_named(policy, column, &found, error));
    if (found->type.kind == BRUME_TYPE_REFUSED)
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "column '%s' has the type %s, which brume does not read", found->name,
                          found->native);
    const char *blurs = brume_leaf_blurs_units(found->leaf, found->native);
    if (blurs)
        return brume_fail(error, BRUME_EARGUMENT, BRUME_UNIT_HINT,
                          "column '%s' cannot be the unit, because %s", found->name, blurs);
    return copy(&policy->unit, found->name) ? BRUME_OK : brume_no_memory(error, "a policy");
}

/* A decimal with an optional sign: digits brume_decimal reads after it. */
static brume_status read_bound(const char *text, const char *column, double *out,
                               brume_error *error)
{
    brume_decimal magnitude;
    bool negative = *text == '-';
    if (brume_decimal_parse(text + negative, &magnitude, NULL) != BRUME_OK)
        return brume_fail(error, BRUME_EARGUMENT, "bounds are written COLUMN=LO..HI, two numbers",
                          "bound '%s' of column '%s' is not a number", text, column);
    *out = brume_decimal_nearest(&magnitude) * (negative ? -1 : 1);
    return BRUME_OK;
}

/* Canonical texts of times have their order. */
static brume_status read_time_bound(const char *text, const brume_policy_column *column,
                                    char canonical[32], brume_error *error)
{
    bool is_date = column->type.kind == BRUME_TYPE_DATE;
    if (is_date ? brume_literal_date(text, canonical) : brume_literal_timestamp(text, canonical))
        return BRUME_OK;
    return brume_fail(error, BRUME_EARGUMENT,
                      is_date ? "bounds are written COLUMN=2020-01-01..2025-12-31"
                              : "bounds are written 'COLUMN=2020-01-01..2025-12-31 23:59:59'",
                      "bound '%s' of column '%s' is not a %s", text, column->name,
                      is_date ? "date" : "timestamp");
}

static brume_status check_bounds(const brume_policy_column *column, const char *low,
                                 const char *high, brume_error *error)
{
    double least = 0, most = 0;
    char first[32] = "", last[32] = "";
    bool is_time = brume_type_is_time(column->type);
    if (is_time) {
        BRUME_TRY(read_time_bound(low, column, first, error));
        BRUME_TRY(read_time_bound(high, column, last, error));
    } else if (brume_type_is_number(column->type)) {
        BRUME_TRY(read_bound(low, column->name, &least, error));
        BRUME_TRY(read_bound(high, column->name, &most, error));
    } else {
        return brume_fail(error, BRUME_EARGUMENT, "only columns of numbers and dates have bounds",
                          "column '%s' is of type %s", column->name, column->native);
    }
    if (is_time ? strcmp(first, last) >= 0 : !(least < most))
        return brume_fail(error, BRUME_EARGUMENT, "the lower bound comes first",
                          "bounds %s..%s of column '%s' are empty", low, high, column->name);
    return BRUME_OK;
}

brume_status brume_policy_set_bounds(brume_policy *policy, const char *column, const char *low,
                                     const char *high, brume_error *error)
{
    brume_policy_column *found = NULL;
    BRUME_TRY(policy_named(policy, column, &found, error));
    BRUME_TRY(check_bounds(found, low, high, error));
    return copy(&found->low, low) && copy(&found->high, high) ? BRUME_OK
                                                              : brume_no_memory(error, "a policy");
}

/* Above 0 and at most 1/2: most of a price is for what was asked. */
static bool is_share(const char *text)
{
    brume_decimal share;
    return brume_decimal_parse(text, &share, NULL) == BRUME_OK && brume_decimal_lower(&share) > 0 &&
           brume_decimal_upper(&share) <= 0.5;
}

brume_status brume_policy_set_bias_share(brume_policy *policy, const char *share,
                                         brume_error *error)
{
    if (!is_share(share))
        return brume_fail(error, BRUME_EARGUMENT, "a share of each price, such as 0.1",
                          "'%s' is no share above 0 and at most 0.5", share);
    return copy(&policy->bias_share, share) ? BRUME_OK : brume_no_memory(error, "a policy");
}

static brume_status check_utf8(const char *text, const char *column, brume_error *error)
{
    json_t *taken = json_string(text); /* NULL if it is not UTF-8 */
    bool good = taken != NULL;
    json_decref(taken);
    return good ? BRUME_OK
                : brume_fail(error, BRUME_EARGUMENT, "write it in UTF-8",
                             "a value in the domain of column '%s' is not UTF-8", column);
}

/* A noun, or two: for one and for many. */
static bool is_noun(const char *text, size_t length)
{
    bool letter = false;
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        if (!isalpha(c) && c < 0x80 && !strchr(" -'", c))
            return false;
        letter = letter || isalpha(c) || c >= 0x80;
    }
    return letter && length <= BRUME_UNIT_NAME && text[0] != ' ' && text[length - 1] != ' ';
}

static bool is_unit_name(const char *text)
{
    size_t one = strcspn(text, "/");
    return is_noun(text, one) && (!text[one] || is_noun(text + one + 1, strlen(text + one + 1)));
}

brume_status brume_policy_set_unit_name(brume_policy *policy, const char *name, brume_error *error)
{
    if (!is_unit_name(name) || check_utf8(name, "unit-name", NULL) != BRUME_OK)
        return brume_fail(error, BRUME_EARGUMENT,
                          "write a noun of at most 40 letters: patient, or patient/patients",
                          "'%.60s' is no name of a unit", name);
    return copy(&policy->unit_name, name) ? BRUME_OK : brume_no_memory(error, "a policy");
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static brume_status check_different(const char *const *values, size_t count, const char *column,
                                    brume_error *error)
{
    const char **sorted = calloc(count + 1, sizeof *sorted);
    if (!sorted)
        return brume_no_memory(error, "a policy");
    memcpy(sorted, values, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare_texts);
    brume_status status = BRUME_OK;
    for (size_t i = 1; status == BRUME_OK && i < count; i++)
        if (strcmp(sorted[i - 1], sorted[i]) == 0)
            status = brume_fail(error, BRUME_EARGUMENT, NULL,
                                "'%s' is twice in the domain of column '%s'", sorted[i], column);
    free(sorted);
    return status;
}

brume_status brume_policy_set_domain(brume_policy *policy, const char *column,
                                     const char *const *values, size_t count, brume_error *error)
{
    brume_policy_column *found = NULL;
    brume_key_value cell;
    BRUME_TRY(policy_named(policy, column, &found, error));
    if (count == 0)
        return brume_fail(error, BRUME_EARGUMENT, "write --domain COLUMN=V1,V2,...",
                          "the domain of column '%s' is empty", found->name);
    for (size_t i = 0; i < count; i++) {
        BRUME_TRY(brume_policy_domain_value(found->type, values[i], &cell, error));
        BRUME_TRY(check_utf8(values[i], found->name, error));
    }
    BRUME_TRY(check_different(values, count, found->name, error));
    char **domain = calloc(count, sizeof *domain);
    bool good = domain != NULL;
    for (size_t i = 0; good && i < count; i++)
        good = copy(&domain[i], values[i]);
    if (!good) {
        for (size_t i = 0; domain && i < count; i++)
            free(domain[i]);
        free(domain);
        return brume_no_memory(error, "a policy");
    }
    for (size_t i = 0; i < found->domain_count; i++)
        free(found->domain[i]);
    free(found->domain);
    found->domain = domain;
    found->domain_count = count;
    return BRUME_OK;
}

/* ---- the source ---- */

brume_status brume_policy_source(const brume_policy *policy, brume_source *out,
                                 brume_column **columns, brume_error *error)
{
    brume_column *list = calloc(policy->column_count + 1, sizeof *list);
    if (!list)
        return brume_no_memory(error, "a policy");
    for (size_t i = 0; i < policy->column_count; i++) {
        const brume_policy_column *from = &policy->columns[i];
        list[i] = (brume_column){from->name, from->type, from->leaf, from->native, from->not_null};
    }
    *columns = list;
    *out = (brume_source){.location = policy->location,
                          .table = policy->table,
                          .options = policy->options,
                          .columns = list,
                          .column_count = policy->column_count};
    return BRUME_OK;
}

/* ---- JSON ---- */

static json_t *column_to_json(const brume_policy_column *column)
{
    char type[BRUME_TYPE_NAME_SIZE];
    json_t *domain = column->domain_count ? json_array() : json_null();
    for (size_t i = 0; i < column->domain_count; i++)
        if (json_array_append_new(domain, json_string(column->domain[i])) != 0) {
            json_decref(domain);
            return NULL;
        }
    json_t *json = json_pack("{s:s,s:s,s:i,s:s?,s:b,s:s?,s:s?,s:o}", "name", column->name, "type",
                             brume_type_name(column->type, type), "leaf", (int)column->leaf,
                             "native", column->native, "not_null", column->not_null, "low",
                             column->low, "high", column->high, "domain", domain);
    if (json && column->is_identifier &&
        json_object_set_new(json, "identifier", json_true()) != 0) {
        json_decref(json);
        return NULL;
    }
    return json;
}

static const char *const place_words[] = {"", "column", "link", "none"};

static json_t *window_to_json(const brume_policy_window *window)
{
    char length[BRUME_WINDOW_TEXT], offset[BRUME_WINDOW_TEXT];
    json_t *values = window->grid.value_count ? json_array() : NULL;
    for (size_t i = 0; i < window->grid.value_count; i++)
        if (json_array_append_new(values, json_string(window->values[i])) != 0) {
            json_decref(values);
            return NULL;
        }
    return json_pack("{s:s,s:s*,s:s,s:s,s:I,s:o*}", "place", place_words[window->place], "column",
                     window->column, "length", brume_window_length_text(&window->grid, length),
                     "offset", brume_window_offset_text(&window->grid, offset), "close_after",
                     (json_int_t)window->close_after, "values", values);
}

json_t *brume_policy_to_json(const brume_policy *policy)
{
    json_t *columns = json_array();
    for (size_t i = 0; columns && i < policy->column_count; i++)
        if (json_array_append_new(columns, column_to_json(&policy->columns[i])) != 0) {
            json_decref(columns);
            return NULL;
        }
    json_t *json = json_pack(
        "{s:s,s:s?,s:s?,s:b,s:s?,s:o,s:o,s:o}", "location", policy->location, "table",
        policy->table, "options", policy->options, "public", policy->is_public, "unit",
        policy->unit, "max_groups",
        policy->max_groups ? json_integer((json_int_t)policy->max_groups) : json_null(), "max_rows",
        policy->max_rows ? json_integer((json_int_t)policy->max_rows) : json_null(), "columns",
        columns);
    /* written only where it was said: a policy without it reads as it always did */
    bool whole = json != NULL;
    if (whole && policy->bias_share)
        whole = json_object_set_new(json, "bias_share", json_string(policy->bias_share)) == 0;
    if (whole && policy->unit_name)
        whole = json_object_set_new(json, "unit_name", json_string(policy->unit_name)) == 0;
    if (whole && policy->link_column)
        whole = json_object_set_new(json, "link",
                                    json_pack("{s:s,s:s,s:s}", "column", policy->link_column,
                                              "table", policy->parent, "parent_column",
                                              policy->parent_column)) == 0;
    if (whole && policy->table_rows)
        whole = json_object_set_new(json, "table_rows",
                                    json_integer((json_int_t)policy->table_rows)) == 0;
    if (whole && policy->limits_fixed)
        whole = json_object_set_new(json, "limits", json_string("fixed")) == 0;
    if (whole && policy->timeout > 0)
        whole = json_object_set_new(json, "timeout", json_real(policy->timeout)) == 0;
    char per_user[BRUME_USER_LIMITS_TEXT];
    brume_user_limits_print(&policy->per_user, per_user);
    if (whole && *per_user)
        whole = json_object_set_new(json, "limits_per_user", json_string(per_user)) == 0;
    if (whole && policy->rows_stay)
        whole = json_object_set_new(json, "rows_stay", json_true()) == 0;
    if (whole && policy->append_only)
        whole = json_object_set_new(json, "append_only", json_true()) == 0;
    if (whole && policy->rows_about > 0)
        whole = json_object_set_new(json, "rows_about", json_real(policy->rows_about)) == 0;
    if (whole && policy->window.place)
        whole = json_object_set_new(json, "window", window_to_json(&policy->window)) == 0;
    if (whole && policy->max_age > 0)
        whole = json_object_set_new(json, "max_age", json_real(policy->max_age)) == 0;
    if (whole)
        return json;
    json_decref(json);
    return NULL;
}

static brume_status damaged(brume_error *error)
{
    return brume_fail(error, BRUME_EDAMAGED, "run 'brume ledger verify'",
                      "a recorded policy cannot be read");
}

static const char *text_of(const json_t *json, const char *key)
{
    return json_string_value(json_object_get(json, key)); /* NULL for null */
}

static bool column_from_json(const json_t *json, brume_policy_column *column)
{
    const char *name = text_of(json, "name"), *type = text_of(json, "type");
    const json_t *domain = json_object_get(json, "domain"), *place = json_object_get(json, "leaf");
    json_int_t leaf = json_integer_value(place);
    if (!name || !type || !text_of(json, "native") || !json_is_integer(place))
        return false;
    if (leaf < 0 || leaf > BRUME_LEAF_CUT || !brume_type_parse(type, &column->type) ||
        !copy(&column->name, name) || !copy(&column->native, text_of(json, "native")) ||
        !copy(&column->low, text_of(json, "low")) || !copy(&column->high, text_of(json, "high")))
        return false;
    column->leaf = (brume_leaf)leaf;
    column->not_null = json_is_true(json_object_get(json, "not_null"));
    column->is_identifier = json_is_true(json_object_get(json, "identifier"));
    size_t count = json_array_size(domain);
    column->domain = count ? calloc(count, sizeof *column->domain) : NULL;
    for (size_t i = 0; i < count; i++) {
        const char *value = json_string_value(json_array_get(domain, i));
        if (!column->domain || !value || !copy(&column->domain[i], value))
            return false;
        column->domain_count = i + 1;
    }
    return true;
}

/* Absent: no windows. */
static bool window_from_json(const json_t *json, brume_policy_window *window)
{
    const char *place = text_of(json, "place"), *length = text_of(json, "length");
    const json_t *values = json_object_get(json, "values");
    size_t count = json_array_size(values);
    if (!json)
        return true;
    for (int i = 1; place && i <= BRUME_WINDOW_TIMELESS; i++)
        if (strcmp(place, place_words[i]) == 0)
            window->place = (brume_window_place)i;
    if (!window->place || !length || !copy(&window->column, text_of(json, "column")) ||
        brume_window_grid_parse(length, text_of(json, "offset"), &window->grid, NULL) != BRUME_OK)
        return false;
    window->close_after = json_integer_value(json_object_get(json, "close_after"));
    window->values = calloc(count + 1, sizeof *window->values);
    window->grid.values = (const char *const *)window->values;
    for (size_t i = 0; window->values && i < count; i++) {
        const char *value = json_string_value(json_array_get(values, i));
        if (!value || !(window->values[i] = strdup(value)))
            return false;
        window->grid.value_count = i + 1;
    }
    return window->values && window->close_after >= 0;
}

/* Absent, or a number of seconds. */
static bool timeout_from_json(const json_t *json, double *timeout)
{
    *timeout = json_number_value(json); /* 0 for none */
    return !json || *timeout > 0;
}

/* What the owner may declare, and nothing else: the declarations decide what is charged. */
static bool is_sound(const brume_policy *policy)
{
    for (size_t i = 0; i < policy->column_count; i++) {
        const brume_policy_column *column = &policy->columns[i];
        brume_key_value cell;
        if (!column->low != !column->high)
            return false;
        if (column->low && check_bounds(column, column->low, column->high, NULL) != BRUME_OK)
            return false;
        const char *const *domain = (const char *const *)column->domain;
        for (size_t j = 0; domain && j < column->domain_count; j++)
            if (brume_policy_domain_value(column->type, domain[j], &cell, NULL) != BRUME_OK)
                return false;
    }
    if (policy->bias_share && !is_share(policy->bias_share))
        return false;
    if (policy->unit_name && !is_unit_name(policy->unit_name))
        return false;
    if (!policy->link_column != !policy->parent || !policy->link_column != !policy->parent_column ||
        (policy->link_column && (policy->unit || !brume_policy_find(policy, policy->link_column))))
        return false;
    const brume_policy_window *window = &policy->window;
    const brume_policy_column *dated = window->column ? brume_policy_find(policy, window->column)
                                                      : NULL;
    if ((window->place == BRUME_WINDOW_BY_COLUMN) != (dated != NULL) ||
        (window->place == BRUME_WINDOW_BY_LINK && !policy->link_column) ||
        (dated && (window->grid.length == BRUME_WINDOW_VALUES
                       ? window->grid.value_count == 0
                       : check_window_column(dated, &window->grid, false, NULL) != BRUME_OK)))
        return false;
    return !policy->unit || brume_policy_find(policy, policy->unit);
}

brume_status brume_policy_from_json(const json_t *json, brume_policy **out, brume_error *error)
{
    const char *location = text_of(json, "location");
    json_int_t max_groups = json_integer_value(json_object_get(json, "max_groups")); /* null: 0 */
    json_int_t max_rows = json_integer_value(json_object_get(json, "max_rows"));
    json_int_t table_rows = json_integer_value(json_object_get(json, "table_rows"));
    const json_t *columns = json_object_get(json, "columns"), *link = json_object_get(json, "link");
    if (json_object_get(json, "tables"))
        return brume_fail(error, BRUME_EUNSUPPORTED, "ask in SQL: DATASET.TABLE",
                          "this dataset has several tables");
    if (!location || max_groups < 0 || max_rows < 0 || table_rows < 0)
        return damaged(error);
    brume_policy *policy = calloc(1, sizeof *policy);
    bool good = policy && copy(&policy->location, location) &&
                copy(&policy->table, text_of(json, "table")) &&
                copy(&policy->options, text_of(json, "options")) &&
                copy(&policy->unit, text_of(json, "unit")) &&
                copy(&policy->link_column, text_of(link, "column")) &&
                copy(&policy->parent, text_of(link, "table")) &&
                copy(&policy->parent_column, text_of(link, "parent_column")) &&
                copy(&policy->bias_share, text_of(json, "bias_share")) &&
                copy(&policy->unit_name, text_of(json, "unit_name"));
    size_t count = json_array_size(columns);
    if (good)
        good = timeout_from_json(json_object_get(json, "timeout"), &policy->timeout) &&
               timeout_from_json(json_object_get(json, "max_age"), &policy->max_age) &&
               window_from_json(json_object_get(json, "window"), &policy->window) &&
               (!text_of(json, "limits_per_user") ||
                brume_user_limits_parse(text_of(json, "limits_per_user"), &policy->per_user,
                                        NULL) == BRUME_OK);
    if (good)
        good = (policy->columns = calloc(count + 1, sizeof *policy->columns)) != NULL;
    for (size_t i = 0; good && i < count; i++) {
        policy->column_count = i + 1;
        good = column_from_json(json_array_get(columns, i), &policy->columns[i]);
    }
    if (!good || !is_sound(policy)) {
        brume_policy_close(policy);
        return damaged(error);
    }
    policy->is_public = json_is_true(json_object_get(json, "public"));
    policy->max_groups = (uint64_t)max_groups;
    policy->max_rows = (uint64_t)max_rows;
    policy->table_rows = (uint64_t)table_rows;
    policy->rows_stay = json_is_true(json_object_get(json, "rows_stay"));
    policy->append_only = json_is_true(json_object_get(json, "append_only"));
    policy->rows_about = fmax(0, json_number_value(json_object_get(json, "rows_about")));
    policy->limits_fixed = text_of(json, "limits") != NULL; /* written where they are fixed */
    *out = policy;
    return BRUME_OK;
}
