/* The choice of limits: noisy histograms, and sums under the limits.
 *
 * Promise: every bin gets its noise, also the empty ones; what is chosen is a function of the noisy
 * numbers and public ones. */
#include "query/release/choice.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ledger/digest.h"
#include "query/plan/plan_distinct.h"
#include "query/plan/plan_limit.h"
#include "query/release/centre.h"
#include "query/release/draw_distinct.h"
#include "query/release/draw_look.h"

/* Choices of limits in the ledger: their keys, what is recorded, and how it is read again. */

/* ---- all limits of a plan, one after the other ---- */

/* A limit of the terms, and what its histogram is made of and costs. */
typedef struct to_choose {
    const brume_found_limit *limit;
    const brume_measurement *distinct; /* a count of values; NULL: a limit of the groups */
    size_t index;                      /* of the limit, or of the measurement */
    double bought;       /* standard deviation of the noise on a bin that is paid for now, */
    double bought_first; /* and of that on the first count of a limit of the groups; */
    double bought_rate;  /* of a centre, the rate of its draw */
} to_choose;

/* Standard deviation of the noise on a bin. */
static double noise_of(bool gaussian, double scale)
{
    return gaussian ? scale : sqrt(2) * scale;
}

/* The next limit from *at on; false: there are no more. */
static bool next_limit(const brume_terms *terms, size_t *at, to_choose *next)
{
    const brume_plan *plan = terms->plan;
    if (*at < plan->limit_count) {
        bool gaussian = terms->limited.noise != BRUME_NOISE_DISCRETE_LAPLACE;
        *next = (to_choose){.limit = &terms->limits[*at],
                            .index = *at,
                            .bought = noise_of(gaussian, terms->limited.histogram_scale),
                            .bought_first = noise_of(gaussian, terms->limited.count_scale),
                            .bought_rate = terms->limited.centre_rate};
        ++*at;
        return true;
    }
    while (*at - plan->limit_count < plan->measurement_count) {
        size_t index = (*at)++ - plan->limit_count;
        const brume_measurement *one = &plan->measurements[index];
        if (one->kind != BRUME_MEASUREMENT_DISTINCT)
            continue;
        bool gaussian = one->noise != BRUME_NOISE_DISCRETE_LAPLACE;
        *next = (to_choose){.limit = &terms->distinct[index].limit,
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
static brume_status key_of(const brume_question *question, const brume_plan *plan,
                           const to_choose *of, char key[65], brume_error *error)
{
    const brume_plan_limit *limit = of->limit->of;
    brume_collection collection = of->distinct ? of->distinct->collection
                                               : plan->measurements[0].collection;
    bool has_value = limit->of.kind == BRUME_TOTAL_VALUES || limit->of.kind == BRUME_TOTAL_SUM;
    brume_plan_value values[2] = {{0}}; /* the squares, and what they are of */
    if (has_value)
        values[0] = plan->values[limit->of.value];
    if (limit->of.root)
        values[1] = plan->values[limit->of.root - 1];
    collection.values = values;
    collection.value_count = (size_t)has_value + (limit->of.root > 0);
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
    snprintf(shape, sizeof shape, "limit %d norm %d cells %llu%s", (int)limit->of.kind, limit->norm,
             (unsigned long long)plan->shape.cells, limit->centred ? " about a centre" : "");
    const char *what = of->distinct ? "looks at distinct values" : "looks at units";
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

static json_t *numbers_to_json(const brume_noisy *numbers, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_real(numbers[i].value));
    return list;
}

/* What was never drawn has no numbers. The bins below the tail were counted once more than the
 * others.
 */
static json_t *to_json(const brume_looks *looks)
{
    size_t bins = brume_looks_histogram(looks) ? BRUME_LIMIT_BINS : 0;
    return json_pack("{s:b,s:o,s:f,s:o,s:f,s:f,s:I,s:o,s:f}", "gaussian", looks->gaussian, "first",
                     numbers_to_json(&looks->first, looks->first.deviation > 0), "first_deviation",
                     looks->first.deviation, "bins", numbers_to_json(looks->bin, bins),
                     "low_deviation", looks->bin[0].deviation, "deviation",
                     looks->bin[BRUME_LIMIT_BINS - 1].deviation, "tail", (json_int_t)looks->tail,
                     "parts", numbers_to_json(looks->part, looks->tail ? BRUME_LIMIT_PARTS : 0),
                     "part_deviation", looks->part[0].deviation);
}

static double number_of(const json_t *json, const char *name)
{
    return json_number_value(json_object_get(json, name));
}

/* So many numbers with one deviation; false: they are not as to_json writes them. */
static bool numbers_from_json(const json_t *list, double deviation, size_t from, size_t end,
                              brume_noisy *numbers)
{
    for (size_t i = from; i < end; i++) {
        const json_t *value = json_array_get(list, i);
        if (!json_is_number(value) || !(deviation > 0))
            return false;
        numbers[i] = (brume_noisy){json_number_value(value), deviation};
    }
    return true;
}

static bool from_json(const json_t *json, brume_looks *looks)
{
    const json_t *first = json_object_get(json, "first"), *bins = json_object_get(json, "bins");
    const json_t *parts = json_object_get(json, "parts");
    double tail = number_of(json, "tail");
    *looks = (brume_looks){.gaussian = json_is_true(json_object_get(json, "gaussian"))};
    if (!(tail >= 0 && tail < BRUME_LIMIT_BINS) || json_array_size(first) > 1 ||
        (json_array_size(bins) != 0 && json_array_size(bins) != BRUME_LIMIT_BINS) ||
        json_array_size(parts) != (tail > 0 ? BRUME_LIMIT_PARTS : 0))
        return false;
    looks->tail = (size_t)tail;
    size_t count = json_array_size(bins), low = looks->tail < count ? looks->tail : count;
    return json_array_size(first) + count > 0 &&
           numbers_from_json(first, number_of(json, "first_deviation"), 0, json_array_size(first),
                             &looks->first) &&
           numbers_from_json(bins, number_of(json, "low_deviation"), 0, low, looks->bin) &&
           numbers_from_json(bins, number_of(json, "deviation"), low, count, looks->bin) &&
           numbers_from_json(parts, number_of(json, "part_deviation"), 0, json_array_size(parts),
                             looks->part);
}

/* What was bought about a centre: looks at what units have about one centre say nothing of another.
 */
typedef struct about_centre {
    int64_t centre;
    double rate; /* that the centre was drawn with: as the price */
    brume_looks looks;
} about_centre;

static json_t *about_centre_to_json(const brume_terms *terms, const brume_found_limit *limit)
{
    return json_pack("{s:I,s:f,s:o}", "centre", (json_int_t)limit->centre, "rate",
                     terms->limited.centre_rate, "looks", to_json(&limit->bought));
}

static bool about_centre_from_json(const json_t *json, const brume_plan_limit *of,
                                   about_centre *out)
{
    const json_t *looks = json_object_get(json, "looks");
    *out = (about_centre){.centre = json_integer_value(json_object_get(json, "centre")),
                          .rate = number_of(json, "rate")};
    bool capped = json_array_size(json_object_get(looks, "bins")) == 0;
    return out->rate > 0 && out->centre >= of->low && out->centre <= of->high &&
           (capped || from_json(looks, &out->looks));
}

/* ---- several looks at one limit ---- */

/* The key of the n-th record under a key, from 0. */
static brume_status numbered(const char key[65], size_t number, char out[65], brume_error *error)
{
    char text[32];
    snprintf(text, sizeof text, "%zu", number);
    const char *parts[] = {"looks again", key, text};
    if (number > 0)
        return brume_digest(parts, 3, out, error);
    memcpy(out, key, 65);
    return BRUME_OK;
}

/* How much noise there is on what is known of a limit, to that which is paid for now; without a
 * histogram, on the first count. */
static double noise_ratio(const to_choose *of, const brume_looks *looks)
{
    return brume_looks_histogram(looks) ? looks->bin[BRUME_LIMIT_BINS - 1].deviation / of->bought
                                        : looks->first.deviation / of->bought_first;
}

/* All looks that are recorded, pooled, and how many records they are of. */
static brume_status read_looks(brume_ledger *ledger, const char key[65], brume_looks *all,
                               size_t *count, brume_error *error)
{
    *all = (brume_looks){0};
    for (*count = 0;; ++*count) {
        char one_key[65];
        json_t *found = NULL;
        brume_looks one;
        BRUME_TRY(numbered(key, *count, one_key, error));
        BRUME_TRY(brume_ledger_recall(ledger, one_key, &found, NULL, error));
        if (!found)
            return BRUME_OK;
        bool good = from_json(found, &one);
        json_decref(found);
        if (!good)
            return brume_fail(error, BRUME_EDAMAGED, "run 'brume ledger verify'",
                              "recorded looks at a limit cannot be read");
        brume_looks_pool(all, &one);
    }
}

static brume_status count_records(brume_ledger *ledger, const char key[65], size_t *count,
                                  brume_error *error)
{
    json_t *found = NULL;
    *count = 0;
    do {
        char one_key[65];
        json_decref(found);
        BRUME_TRY(numbered(key, *count, one_key, error));
        BRUME_TRY(brume_ledger_recall(ledger, one_key, &found, NULL, error));
        *count += found != NULL;
    } while (found);
    return BRUME_OK;
}

/* Do they find a limit? */
static bool find_limit(const brume_looks *looks)
{
    return brume_looks_histogram(looks) ? brume_looks_top(looks) != BRUME_LIMIT_NO_BIN
                                        : brume_looks_are_quiet(looks);
}

#define ENOUGH 0.6

/* Are recorded looks enough for this price, whatever they say? If they have at most 0.6 of the
 * variance that it would buy: two looks of the same price have half. */
static bool are_enough(const to_choose *of, const brume_looks *looks)
{
    return noise_ratio(of, looks) <= sqrt(ENOUGH);
}

brume_status brume_choice_record(brume_ledger *ledger, uint64_t reservation,
                                 const brume_question *question, const brume_terms *terms,
                                 brume_error *error)
{
    to_choose one;
    for (size_t at = 0; next_limit(terms, &at, &one);) {
        const brume_found_limit *limit = one.limit;
        char key[65], next[65];
        size_t count = 0;
        if (limit->source != BRUME_LIMIT_AUTO)
            continue;
        BRUME_TRY(key_of(question, terms->plan, &one, key, error));
        BRUME_TRY(count_records(ledger, key, &count, error));
        BRUME_TRY(numbered(key, count, next, error));
        json_t *json = limit->of->centred ? about_centre_to_json(terms, limit)
                                          : to_json(&limit->bought);
        brume_status status = json ? brume_ledger_note(ledger, reservation, next, json, error)
                                   : brume_no_memory(error, "the limits");
        json_decref(json);
        if (status != BRUME_OK)
            return status;
    }
    return BRUME_OK;
}

/* Recorded looks with more noise than so many times what this price would buy are not all that a
 * query goes by, however short they make its bar. */
#define FAR_NOISIER 8

/* For a limit that is to be chosen: what is recorded, and whether that is enough. Private groups:
 * which of them are shown is drawn anew by each query, and the recorded counts are of units by what
 * they have in the groups that were shown then. With other groups more units could be cut than the
 * counts say. So none is used. */
static brume_status recall_one(brume_ledger *ledger, const brume_question *question,
                               const brume_terms *bought, bool noisy_too, const to_choose *of,
                               brume_found_limit *limit, brume_error *error)
{
    const brume_plan *plan = bought->plan;
    char key[65];
    size_t count = 0;
    if (limit->source != BRUME_LIMIT_AUTO || plan->shape.private_keys)
        return BRUME_OK;
    BRUME_TRY(key_of(question, plan, of, key, error));
    BRUME_TRY(read_looks(ledger, key, &limit->read, &count, error));
    brume_looks looks = brume_found_looks(limit); /* as they decide, with the base of the limit */
    bool found = count > 0 && find_limit(&looks);
    bool enough = noisy_too || are_enough(of, &looks), pays = true;
    if (found && !enough && !of->distinct && !plan->limits_only &&
        noise_ratio(of, &looks) <= FAR_NOISIER)
        BRUME_TRY(brume_terms_look_pays(bought, of->index, limit, &pays, error));
    if (found && (enough || !pays))
        limit->source = BRUME_LIMIT_LEDGER;
    else
        limit->earlier = found       ? BRUME_EARLIER_NOISY
                         : count > 0 ? BRUME_EARLIER_NOT_FOUND
                                     : BRUME_EARLIER_NONE;
    return BRUME_OK;
}

/* Put a record into a limit about a centre, and say how long its bar is at this price: noise and
 * what is cut; INFINITY: it finds no limit. */
static brume_status try_record(const brume_terms *terms, size_t index, const about_centre *record,
                               brume_found_limit *limit, double *bar, brume_error *error)
{
    brume_terms *found = NULL, *made = NULL;
    brume_looks looks = record->looks;
    *limit = terms->limits[index];
    limit->has_centre = true;
    limit->centre = record->centre;
    limit->capped = !brume_looks_histogram(&looks);
    limit->read = looks;
    limit->source = BRUME_LIMIT_LEDGER;
    BRUME_TRY(brume_terms_copy(terms, &found, error));
    found->limits[index] = *limit;
    brume_status status = brume_terms_make(terms->plan, found, 0, &made, error);
    brume_terms_close(found);
    if (status == BRUME_OK)
        *bar = brume_terms_limit_bar(made, index);
    brume_terms_close(made);
    return status;
}

/* Records are not pooled for a limit about a centre: of those that would together be enough the one
 * with the shortest bar is used, so that a bad centre does not stay. Which one that is follows from
 * released numbers and the price. */
static brume_status recall_about_centre(brume_ledger *ledger, const brume_question *question,
                                        const brume_terms *terms, bool noisy_too,
                                        const to_choose *of, brume_found_limit *limit,
                                        brume_error *error)
{
    char key[65], one_key[65];
    double precision = 0, least = INFINITY;
    brume_found_limit best = *limit;
    json_t *found = NULL;
    if (limit->source != BRUME_LIMIT_AUTO || terms->plan->shape.private_keys)
        return BRUME_OK;
    BRUME_TRY(key_of(question, terms->plan, of, key, error));
    for (size_t i = 0;; i++) {
        about_centre record;
        brume_found_limit one;
        double bar = INFINITY;
        BRUME_TRY(numbered(key, i, one_key, error));
        BRUME_TRY(brume_ledger_recall(ledger, one_key, &found, NULL, error));
        if (!found)
            break;
        bool good = about_centre_from_json(found, limit->of, &record);
        json_decref(found);
        if (!good)
            return brume_fail(error, BRUME_EDAMAGED, "run 'brume ledger verify'",
                              "recorded looks at a limit cannot be read");
        /* where rows stay on their server its sums are of the values themselves (centre.c) */
        if (terms->plan->measurements[0].collection.pushed && record.centre != 0)
            continue;
        BRUME_TRY(try_record(terms, of->index, &record, &one, &bar, error));
        precision += pow(record.rate / of->bought_rate, 2);
        limit->earlier = BRUME_EARLIER_NOT_FOUND;
        if (bar < least) {
            least = bar;
            best = one;
        }
    }
    if (!isfinite(least))
        return BRUME_OK;
    if (noisy_too || precision * ENOUGH >= 1)
        *limit = best;
    else
        limit->earlier = BRUME_EARLIER_NOISY;
    return BRUME_OK;
}

brume_status brume_choice_recall(brume_ledger *ledger, const brume_question *question,
                                 bool noisy_too, const brume_plan *plan, brume_terms **out,
                                 brume_error *error)
{
    brume_terms *bought = NULL, *found = NULL; /* `bought`: what this price would buy */
    BRUME_TRY(brume_terms_make(plan, NULL, 0, &bought, error));
    brume_status status = brume_terms_copy(bought, &found, error);
    to_choose one;
    for (size_t at = 0; status == BRUME_OK && next_limit(bought, &at, &one);)
        if (!one.limit->of->centred)
            status = recall_one(ledger, question, bought, noisy_too, &one,
                                one.distinct ? &found->distinct[one.index].limit
                                             : &found->limits[one.index],
                                error);
    for (size_t at = 0; status == BRUME_OK && next_limit(bought, &at, &one);) /* by their numbers */
        if (one.limit->of->centred)
            status = recall_about_centre(ledger, question, found, noisy_too, &one,
                                         &found->limits[one.index], error);
    if (status == BRUME_OK) /* what the choices would have cost buys less noise */
        status = brume_terms_make(plan, found, 0, out, error);
    brume_terms_close(found);
    brume_terms_close(bought);
    return status;
}

brume_status brume_choice_check_new(brume_ledger *ledger, const brume_question *question,
                                    const brume_terms *terms, brume_error *error)
{
    to_choose one;
    for (size_t at = 0; next_limit(terms, &at, &one);) {
        brume_found_limit limit = *one.limit;
        BRUME_TRY(limit.of->centred
                      ? recall_about_centre(ledger, question, terms, false, &one, &limit, error)
                      : recall_one(ledger, question, terms, false, &one, &limit, error));
        if (limit.source == BRUME_LIMIT_AUTO)
            return BRUME_OK;
    }
    return brume_fail(error, BRUME_EARGUMENT,
                      "ask with 'brume query': it costs nothing to use them",
                      "the limits of this query are in the ledger already, with at most 0.6 of the "
                      "variance that this price would buy");
}

/* Which groups are drawn, by their numbers; NULL where all are. */
static brume_status find_shown(const brume_plan *plan, const brume_collected *collected,
                               const brume_drawn *drawn, bool **shown, brume_error *error)
{
    *shown = NULL;
    if (!plan->shape.private_keys)
        return BRUME_OK;
    bool *made = calloc(brume_collected_numbers(collected) + 1, sizeof *made);
    if (!made)
        return brume_no_memory(error, "the limits");
    for (size_t i = 0; i < drawn->count; i++)
        made[drawn->groups[i]->number] = true;
    *shown = made;
    return BRUME_OK;
}

/* ---- the choice ---- */

typedef struct deciding {
    const brume_terms *terms;
    size_t index;
} deciding;

static brume_status decide_limit(void *context, brume_found_limit *limit, brume_error *error)
{
    const deciding *of = context;
    return brume_terms_decide(of->terms, of->index, limit, error);
}

/* Was a tail bought a second time for a limit that is about no centre? */
static bool looked_again(const brume_terms *terms)
{
    for (size_t i = 0; i < terms->plan->limit_count; i++)
        if (terms->limits[i].source == BRUME_LIMIT_AUTO && !terms->plan->limits[i].centred &&
            terms->limits[i].step == BRUME_CHOICE_AGAIN)
            return true;
    return false;
}

/* Look for one limit of the groups, as far as the looks ask for more: what they cost all together
 * is known from how far they went (plan_terms.h). */
static brume_status look(const brume_terms *terms, size_t index, brume_collected *collected,
                         const bool *shown, brume_bits *bits, brume_found_limit *limit,
                         brume_error *error)
{
    const brume_plan_limit *of = limit->of;
    const brume_limited_price *paid = &terms->limited;
    uint64_t units[BRUME_LIMIT_BINS];
    brume_look_prices prices = {.noise = terms->plan->noise,
                                .first = brume_limit_counts_rows(of) ? paid->count_scale : 0,
                                .histogram = paid->histogram_scale,
                                .tail = paid->tail_scale,
                                .again = paid->again_scale};
    if (of->centred) { /* a second tail beside one of the numbers would leave too little */
        prices.histogram = paid->deviation_histogram_scale;
        prices.tail = paid->deviation_tail_scale;
        prices.again = looked_again(terms) ? 0 : paid->deviation_again_scale;
    }
    deciding context = {terms, index};
    brume_total total = brume_found_total(limit);
    BRUME_TRY(brume_collected_histogram(collected, &total, of->norm, BRUME_LIMIT_BINS, shown, units,
                                        error));
    return brume_look(units, &prices, bits, decide_limit, &context, limit, error);
}

/* The same of a limit about a centre: first the centre, then, where they are worth their price,
 * looks at what units have about it. */
static brume_status look_about_centre(const brume_terms *terms, size_t index,
                                      brume_collected *collected, const bool *shown,
                                      brume_bits *bits, brume_found_limit *limit,
                                      brume_error *error)
{
    BRUME_TRY(brume_draw_centre(terms, collected, shown, bits, limit, error));
    limit->capped = brume_terms_follows_number(terms, limit);
    return limit->capped ? BRUME_OK : look(terms, index, collected, shown, bits, limit, error);
}

static brume_status look_for_all(brume_terms *found, brume_collected *const *collected,
                                 const brume_drawn *drawn, brume_bits *bits, brume_error *error)
{
    const brume_plan *plan = found->plan;
    bool *shown = NULL;
    brume_status status = BRUME_OK;
    if (plan->limit_count > 0)
        status = find_shown(plan, collected[0], drawn, &shown, error);
    for (size_t i = 0; status == BRUME_OK && i < plan->limit_count; i++)
        if (found->limits[i].source == BRUME_LIMIT_AUTO && !plan->limits[i].centred)
            status = look(found, i, collected[0], shown, bits, &found->limits[i], error);
    for (size_t i = 0; status == BRUME_OK && i < plan->limit_count; i++) /* numbers are known now */
        if (found->limits[i].source == BRUME_LIMIT_AUTO && plan->limits[i].centred)
            status =
                look_about_centre(found, i, collected[0], shown, bits, &found->limits[i], error);
    free(shown);
    for (size_t i = 0; status == BRUME_OK && i < plan->measurement_count; i++)
        if (brume_distinct_chooses(&found->distinct[i]))
            status = brume_distinct_look(found, i, collected[i], drawn, bits,
                                         &found->distinct[i].limit, error);
    return status;
}

brume_status brume_choose_all_limits(const brume_terms *terms, brume_collected *const *collected,
                                     const brume_drawn *drawn, brume_bits *bits,
                                     const brume_choice_keeper *keeper, brume_terms **chosen,
                                     brume_error *error)
{
    brume_terms *found = NULL, *made = NULL;
    if (!brume_terms_choose(terms))
        return brume_terms_copy(terms, chosen, error);
    BRUME_TRY(brume_terms_copy(terms, &found, error));
    if (terms->plan->shape.private_keys) /* how many there are is known now */
        found->groups = fmax(1, (double)drawn->count);
    brume_status status = look_for_all(found, collected, drawn, bits, error);
    if (status == BRUME_OK)
        status = brume_terms_make(terms->plan, found, found->groups, &made, error);
    brume_terms_close(found);
    if (status == BRUME_OK && keeper)
        status = keeper->keep(keeper->context, made, error);
    if (status != BRUME_OK) {
        brume_terms_close(made);
        return status;
    }
    *chosen = made;
    return BRUME_OK;
}

/* ---- sums ---- */

/* Which values are listed, and under which limits; returns how many. */
static size_t find_lists(const brume_plan *plan, brume_limited_list *lists)
{
    size_t count = 0;
    for (size_t i = 0; i < plan->measure_count; i++) {
        const brume_measure *measure = &plan->measures[i];
        if (!brume_measure_is_selection(measure) || plan->measure_limit[i] < 0)
            continue;
        brume_limited_list one = {measure->expression, (size_t)plan->measure_limit[i]};
        bool known = false;
        for (size_t j = 0; j < count; j++)
            known = known || lists[j].value == one.value;
        if (!known)
            lists[count++] = one; /* all quantiles of a value have one limit */
    }
    return count;
}

static brume_status sum_up(const brume_terms *terms, brume_collected *collected, const bool *shown,
                           brume_error *error)
{
    const brume_plan *plan = terms->plan;
    brume_total_limit *limits = calloc(plan->limit_count + plan->measure_count + 1, sizeof *limits);
    size_t limit_count = plan->limit_count;
    brume_limited_sum *sums = calloc(plan->measure_count + 1, sizeof *sums);
    brume_limited_list *lists = calloc(plan->measure_count + 1, sizeof *lists);
    brume_status status = limits && sums && lists ? BRUME_OK : brume_no_memory(error, "the limits");
    for (size_t i = 0; status == BRUME_OK && i < plan->limit_count; i++)
        limits[i] = (brume_total_limit){brume_found_total(&terms->limits[i]),
                                        terms->limits[i].limit, terms->limits[i].square};
    for (size_t i = 0; status == BRUME_OK && i < plan->measure_count; i++) {
        const brume_measure *measure = &terms->measures[i];
        sums[i] = (brume_limited_sum){
            .kind = measure->kind, .value = measure->expression, .shift = measure->shift};
        if (measure->kind == BRUME_MEASURE_SQUARES)
            sums[i].half_square = brume_measure_half_square(measure);
        if (plan->measure_limit[i] >= 0)
            sums[i].limit = (size_t)(brume_terms_measure_limit(terms, i) - terms->limits);
        brume_total_limit by = {.limit = 0};
        if (!brume_terms_scaled_down(terms, i, &by.of, &by.limit))
            continue;
        limits[limit_count++] = by;
        sums[i].spared = limit_count;
    }
    if (status == BRUME_OK)
        status = brume_collected_limit(collected, limits, limit_count, plan->norm, shown, sums,
                                       plan->measure_count, error);
    if (status == BRUME_OK)
        status =
            brume_collected_list(collected, limits, shown, lists, find_lists(plan, lists), error);
    free(limits);
    free(sums);
    free(lists);
    return status;
}

brume_status brume_sum_under_limits(const brume_terms *terms, brume_collected *collected,
                                    const brume_drawn *drawn, brume_error *error)
{
    bool *shown = NULL;
    BRUME_TRY(find_shown(terms->plan, collected, drawn, &shown, error));
    brume_status status = sum_up(terms, collected, shown, error);
    free(shown);
    return status;
}

/* ---- as an answer ---- */

static const char *word_of(const brume_plan_limit *limit)
{
    static const char *const words[] = {[BRUME_TOTAL_PRESENCE] = "groups",
                                        [BRUME_TOTAL_ROWS] = "rows",
                                        [BRUME_TOTAL_VALUES] = "values",
                                        [BRUME_TOTAL_SUM] = "sum"};
    return limit->of.root   ? "squares of deviations"
           : limit->centred ? "sum of deviations"
                            : words[limit->of.kind];
}

/* Row `row` of the limits as an answer. */
static brume_status present_limit(const brume_plan *plan, const brume_found_limit *limit,
                                  const char *word, size_t row, brume_query_answer *answer,
                                  brume_error *error)
{
    brume_value values[3] = {{.kind = BRUME_VALUE_TEXT, .text = word, .length = strlen(word)}};
    if (limit->known && !brume_found_nothing(limit))
        values[1] =
            (brume_value){.kind = BRUME_VALUE_NUMBER,
                          .number = (double)limit->limit * brume_plan_limit_step(plan, limit->of)};
    if (brume_found_is_counted(limit) && limit->choice.hidden >= 0)
        values[2] = (brume_value){.kind = BRUME_VALUE_NUMBER, .number = ceil(limit->choice.hidden)};
    for (size_t j = 0; j < 3; j++)
        BRUME_TRY(brume_query_answer_set(answer, row, j, &values[j], error));
    return BRUME_OK;
}

/* The limits of the groups, then those of counts of values. */
static brume_status present_all_limits(const brume_terms *terms, brume_query_answer *answer,
                                       brume_error *error)
{
    const brume_plan *plan = terms->plan;
    for (size_t i = 0; i < plan->limit_count; i++)
        BRUME_TRY(
            present_limit(plan, &terms->limits[i], word_of(&plan->limits[i]), i, answer, error));
    for (size_t i = 0, row = plan->limit_count; i < plan->measurement_count; i++)
        if (plan->measurements[i].kind == BRUME_MEASUREMENT_DISTINCT)
            BRUME_TRY(present_limit(plan, &terms->distinct[i].limit, "distinct values", row++,
                                    answer, error));
    return BRUME_OK;
}

brume_status brume_present_limits(const brume_terms *terms, brume_query_answer **answer,
                                  brume_error *error)
{
    const brume_plan *plan = terms->plan;
    static const char *const names[] = {"statistic", "limit", "cut_units"};
    brume_query_answer *made = NULL;
    size_t rows = plan->limit_count;
    for (size_t i = 0; i < plan->measurement_count; i++)
        rows += plan->measurements[i].kind == BRUME_MEASUREMENT_DISTINCT;
    BRUME_TRY(brume_query_answer_open(3, rows, &made, error));
    brume_status status = BRUME_OK;
    for (size_t i = 0; i < 3; i++) {
        made->columns[i].is_key = i == 0;
        made->columns[i].name = strdup(names[i]);
        if (!made->columns[i].name)
            status = brume_no_memory(error, "the answer");
    }
    if (status == BRUME_OK)
        status = present_all_limits(terms, made, error);
    if (status != BRUME_OK) {
        brume_query_answer_close(made);
        return status;
    }
    *answer = made;
    return BRUME_OK;
}

brume_status brume_warn_of_missing_limits(const brume_query_answer *limits, json_t *warnings,
                                          brume_error *error)
{
    for (size_t i = 0; i < limits->row_count; i++) {
        const brume_value *row = &limits->values[i * limits->column_count];
        if (row[1].kind == BRUME_VALUE_NULL &&
            json_array_append_new(
                warnings, json_sprintf("no limit was found for the %s: there are too few units for "
                                       "this price; later queries choose it again",
                                       row[0].text)) != 0)
            return brume_no_memory(error, "the answer");
    }
    return BRUME_OK;
}
