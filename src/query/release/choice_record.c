/* Choices of limits in the ledger: their keys, what is recorded, and how it is read again. */
#include "query/release/choice.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ledger/digest.h"
#include "query/plan/plan_distinct.h"
#include "query/plan/plan_limit.h"

/* ---- all limits of a plan, one after the other ---- */

/* A limit of the terms, and what its histogram is made of and costs. */
typedef struct chosen {
    const brume_found_limit *limit;
    const brume_measurement *distinct; /* a count of values; NULL: a limit of the groups */
    size_t index;                      /* of the limit, or of the measurement */
    double bought;       /* standard deviation of the noise on a bin that is paid for now, */
    double bought_first; /* and of that on the first count of a limit of the groups */
} chosen;

/* Standard deviation of the noise on a bin. */
static double noise_of(bool gaussian, double scale)
{
    return gaussian ? scale : sqrt(2) * scale;
}

/* The next limit from *at on; false: there are no more. */
static bool next_limit(const brume_terms *terms, size_t *at, chosen *next)
{
    const brume_plan *plan = terms->plan;
    if (*at < plan->limit_count) {
        bool gaussian = terms->limited.noise != BRUME_NOISE_DISCRETE_LAPLACE;
        *next = (chosen){.limit = &terms->limits[*at],
                         .index = *at,
                         .bought = noise_of(gaussian, terms->limited.histogram_scale),
                         .bought_first = noise_of(gaussian, terms->limited.count_scale)};
        ++*at;
        return true;
    }
    while (*at - plan->limit_count < plan->measurement_count) {
        size_t index = (*at)++ - plan->limit_count;
        const brume_measurement *one = &plan->measurements[index];
        if (one->kind != BRUME_MEASUREMENT_DISTINCT)
            continue;
        bool gaussian = one->noise != BRUME_NOISE_DISCRETE_LAPLACE;
        *next = (chosen){.limit = &terms->distinct[index].limit,
                         .distinct = one,
                         .index = index,
                         .bought = noise_of(gaussian, terms->distinct[index].histogram_scale)};
        return true;
    }
    return false;
}

/* ---- keys ---- */

/* The key of a choice: everything that the histogram is a function of, all of it public. The rows,
 * groups and values are known by the statement that reads them. */
static brume_status key_of(const brume_question *question, const brume_plan *plan, const chosen *of,
                           char key[65], brume_error *error)
{
    const brume_plan_limit *limit = of->limit->of;
    brume_collection collection = of->distinct ? of->distinct->collection
                                               : plan->measurements[0].collection;
    bool has_value = limit->of.kind == BRUME_TOTAL_VALUES || limit->of.kind == BRUME_TOTAL_SUM;
    collection.values = has_value ? &plan->values[limit->of.value] : NULL;
    collection.value_count = has_value;
    char **names = calloc(question->table_count + 1, sizeof *names);
    char *statement = NULL, shape[96];
    brume_status status = names ? BRUME_OK : brume_no_memory(error, "the limits");
    for (size_t i = 0; status == BRUME_OK && i < question->table_count; i++) {
        /* a dataset may have several tables: the source tells them apart */
        const brume_policy *policy = question->policies[i];
        if (asprintf(&names[i], "%s %s %s", question->datasets[i]->name, policy->location,
                     policy->table ? policy->table : "") < 0) {
            names[i] = NULL;
            status = brume_no_memory(error, "the limits");
        }
    }
    if (status == BRUME_OK)
        status = brume_collect_statement(&collection, BRUME_DIALECT_DUCKDB,
                                         (const char *const *)names, &statement, error);
    for (size_t i = 0; names && i < question->table_count; i++)
        free(names[i]);
    free(names);
    if (status != BRUME_OK)
        return status;
    /* "counted": earlier choices under a ceiling did not count the units above it */
    snprintf(shape, sizeof shape, "limit %d norm %d ceiling %llu%s cells %llu", (int)limit->of.kind,
             limit->norm, (unsigned long long)limit->ceiling, limit->ceiling ? " counted" : "",
             (unsigned long long)plan->shape.cells);
    const char *what = of->distinct ? "choice of a limit on distinct values" : "choice of a limit";
    const char *first[] = {what, statement, shape};
    status = brume_digest(first, 3, key, error);
    free(statement);
    for (size_t i = 0; status == BRUME_OK && i < question->table_count; i++) {
        const brume_dataset *dataset = question->datasets[i];
        char *policy = json_dumps(dataset->policy, JSON_COMPACT | JSON_SORT_KEYS);
        if (!policy)
            return brume_no_memory(error, "the limits");
        const char *parts[] = {key, dataset->name, dataset->data_version, dataset->source, policy};
        status = brume_digest(parts, 5, key, error);
        free(policy);
    }
    return status;
}

/* A histogram that was not drawn has no numbers. */
static json_t *to_json(const brume_found_limit *limit)
{
    json_t *noisy = json_array(), *parts = json_array();
    for (size_t i = 0; limit->scale > 0 && i < limit->bins; i++)
        json_array_append_new(noisy, json_real(limit->noisy[i]));
    for (size_t i = 0; i < BRUME_LIMIT_PARTS; i++)
        json_array_append_new(parts, json_real(limit->tail.noisy[i]));
    return json_pack("{s:o,s:I,s:b,s:f,s:{s:I,s:f,s:f},s:{s:I,s:i,s:f,s:o}}", "noisy", noisy,
                     "bins", (json_int_t)limit->bins, "gaussian", limit->gaussian, "scale",
                     limit->scale, "first", "from", (json_int_t)limit->first.from, "noisy",
                     limit->first.noisy, "scale", limit->first.scale, "tail", "from",
                     (json_int_t)limit->tail.from, "looks", limit->tail.looks, "scale",
                     limit->tail.scale, "noisy", parts);
}

static double number_of(const json_t *json, const char *name)
{
    return json_number_value(json_object_get(json, name));
}

/* Choices that were recorded before there were first counts and tails have none. */
static bool counts_from_json(const json_t *json, brume_found_limit *limit)
{
    const json_t *first = json_object_get(json, "first"), *tail = json_object_get(json, "tail");
    const json_t *parts = json_object_get(tail, "noisy");
    double from = number_of(first, "from"), above = number_of(tail, "from");
    limit->first = (brume_limit_count){0};
    limit->tail = (brume_limit_tail){0};
    if (number_of(first, "scale") > 0) {
        if (!(from >= 1 && from <= (double)limit->bins))
            return false;
        limit->first = (brume_limit_count){.from = (size_t)from,
                                           .noisy = number_of(first, "noisy"),
                                           .scale = number_of(first, "scale")};
    }
    if (number_of(tail, "scale") > 0) {
        if (!(above >= 1 && above <= (double)limit->bins) ||
            json_array_size(parts) != BRUME_LIMIT_PARTS)
            return false;
        limit->tail = (brume_limit_tail){.from = (size_t)above,
                                         .looks = number_of(tail, "looks") > 1 ? 2 : 1,
                                         .scale = number_of(tail, "scale")};
        for (size_t i = 0; i < BRUME_LIMIT_PARTS; i++)
            limit->tail.noisy[i] = json_number_value(json_array_get(parts, i));
    }
    return limit->scale > 0 || limit->first.scale > 0;
}

static bool from_json(const json_t *json, brume_found_limit *limit)
{
    const json_t *noisy = json_object_get(json, "noisy");
    size_t drawn = json_array_size(noisy);
    double scale = number_of(json, "scale"), bins = number_of(json, "bins");
    bins = bins > 0 ? bins : (double)drawn; /* older choices say it by their numbers alone */
    if (!(bins >= 1 && bins <= BRUME_LIMIT_BINS) || !(scale >= 0) ||
        drawn != (scale > 0 ? (size_t)bins : 0))
        return false;
    memset(limit->noisy, 0, sizeof limit->noisy);
    for (size_t i = 0; i < drawn; i++)
        limit->noisy[i] = json_number_value(json_array_get(noisy, i));
    limit->bins = (size_t)bins;
    limit->scale = scale;
    limit->gaussian = json_is_true(json_object_get(json, "gaussian"));
    return counts_from_json(json, limit);
}

/* ---- several choices of one limit ---- */

/* The key of the n-th choice under a key, from 0. */
static brume_status numbered(const char key[65], size_t number, char out[65], brume_error *error)
{
    char text[32];
    snprintf(text, sizeof text, "%zu", number);
    const char *parts[] = {"choice again", key, text};
    if (number > 0)
        return brume_digest(parts, 3, out, error);
    memcpy(out, key, 65);
    return BRUME_OK;
}

static bool finds(const brume_found_limit *limit)
{
    brume_limit_histogram histogram = brume_found_histogram(limit);
    return brume_limit_choose(&histogram, 1) != BRUME_LIMIT_NO_BIN;
}

/* How much noise there is on what a choice rests on, to that which is paid for now; of a choice
 * without a histogram, on its first count. */
static double noise_ratio(const chosen *of, const brume_found_limit *limit)
{
    return limit->scale > 0 ? noise_of(limit->gaussian, limit->scale) / of->bought
                            : noise_of(limit->gaussian, limit->first.scale) / of->bought_first;
}

/* The choices that are recorded: how many, and in *best the one with the least noise of those that
 * found a limit; without bins where none did. */
static brume_status read_choices(brume_ledger *ledger, const char key[65], const chosen *of,
                                 const brume_found_limit *limit, brume_found_limit *best,
                                 size_t *count, brume_error *error)
{
    *best = *limit;
    best->bins = 0;
    for (*count = 0;; ++*count) {
        char one_key[65];
        json_t *found = NULL;
        brume_found_limit one = *limit;
        BRUME_TRY(numbered(key, *count, one_key, error));
        BRUME_TRY(brume_ledger_recall(ledger, one_key, &found, error));
        if (!found)
            return BRUME_OK;
        bool good = from_json(found, &one);
        json_decref(found);
        if (!good)
            return brume_fail(error, BRUME_EDAMAGED, "run 'brume ledger verify'",
                              "a recorded choice of a limit cannot be read");
        if (finds(&one) && (best->bins == 0 || noise_ratio(of, &one) < noise_ratio(of, best)))
            *best = one;
    }
}

/* May a recorded choice be used where this price would buy a histogram of its own? At least one of
 * half the sharpness: a little more noise costs less than another choice. The 2^-20 is for prices
 * that are twice as high to the last digit. */
static bool is_sharp(const chosen *of, const brume_found_limit *best)
{
    return noise_ratio(of, best) <= 2 * (1 + 0x1p-20);
}

brume_status brume_choice_record(brume_ledger *ledger, uint64_t reservation,
                                 const brume_question *question, const brume_terms *terms,
                                 brume_error *error)
{
    chosen one;
    for (size_t at = 0; next_limit(terms, &at, &one);) {
        const brume_found_limit *limit = one.limit;
        char key[65], next[65];
        brume_found_limit best;
        size_t count = 0;
        if (limit->source != BRUME_LIMIT_AUTO)
            continue;
        BRUME_TRY(key_of(question, terms->plan, &one, key, error));
        BRUME_TRY(read_choices(ledger, key, &one, limit, &best, &count, error));
        BRUME_TRY(numbered(key, count, next, error));
        json_t *json = to_json(limit);
        brume_status status = json ? brume_ledger_note(ledger, reservation, next, json, error)
                                   : brume_no_memory(error, "the limits");
        json_decref(json);
        if (status != BRUME_OK)
            return status;
    }
    return BRUME_OK;
}

/* Of a limit that is to be chosen: the recorded choice that may be used, or why there is none.
 * Private groups: which of them are shown is drawn anew by each query, and the recorded counts are
 * of units by what they have in the groups that were shown then. With other groups the limit would
 * be another, and more units cut than the counts say. So none is used. */
static brume_status recall_one(brume_ledger *ledger, const brume_question *question,
                               const brume_plan *plan, bool noisy_too, const chosen *of,
                               brume_found_limit *limit, brume_error *error)
{
    char key[65];
    brume_found_limit best;
    size_t count = 0;
    if (limit->source != BRUME_LIMIT_AUTO || plan->shape.private_keys)
        return BRUME_OK;
    BRUME_TRY(key_of(question, plan, of, key, error));
    BRUME_TRY(read_choices(ledger, key, of, limit, &best, &count, error));
    if (best.bins > 0 && (noisy_too || is_sharp(of, &best))) {
        *limit = best;
        limit->source = BRUME_LIMIT_LEDGER;
    } else {
        limit->earlier = best.bins > 0 ? BRUME_EARLIER_NOISY
                         : count > 0   ? BRUME_EARLIER_NOT_FOUND
                                       : BRUME_EARLIER_NONE;
    }
    return BRUME_OK;
}

brume_status brume_choice_recall(brume_ledger *ledger, const brume_question *question,
                                 bool noisy_too, const brume_plan *plan, brume_terms **out,
                                 brume_error *error)
{
    brume_terms *bought = NULL, *found = NULL; /* `bought`: what this price would buy */
    BRUME_TRY(brume_terms_make(plan, NULL, 0, &bought, error));
    brume_status status = brume_terms_copy(bought, &found, error);
    chosen one;
    for (size_t at = 0; status == BRUME_OK && next_limit(bought, &at, &one);)
        status = recall_one(
            ledger, question, plan, noisy_too, &one,
            one.distinct ? &found->distinct[one.index].limit : &found->limits[one.index], error);
    if (status == BRUME_OK) /* what the choices would have cost buys less noise */
        status = brume_terms_make(plan, found, 0, out, error);
    brume_terms_close(found);
    brume_terms_close(bought);
    return status;
}

brume_status brume_choice_check_new(brume_ledger *ledger, const brume_question *question,
                                    const brume_terms *terms, brume_error *error)
{
    chosen one;
    for (size_t at = 0; next_limit(terms, &at, &one);) {
        brume_found_limit limit = *one.limit;
        BRUME_TRY(recall_one(ledger, question, terms->plan, false, &one, &limit, error));
        if (limit.source == BRUME_LIMIT_AUTO)
            return BRUME_OK;
    }
    return brume_fail(error, BRUME_EARGUMENT,
                      "ask with 'brume query': it costs nothing to use them",
                      "the limits of this query are in the ledger already, no more than twice as "
                      "noisy as this price would buy them");
}
