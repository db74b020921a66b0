/* The choice of limits: noisy histograms, and sums under the limits.
 *
 * Promise: every bin gets its noise, also the empty ones; what is chosen is a function of the noisy
 * numbers and public ones. */
#include "query/release/choice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "query/plan/plan_distinct.h"
#include "query/plan/plan_limit.h"
#include "query/release/draw_distinct.h"
#include "query/release/draw_look.h"

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
    deciding context = {terms, index};
    if (limit->source != BRUME_LIMIT_AUTO)
        return BRUME_OK;
    BRUME_TRY(brume_collected_histogram(collected, &of->of, of->norm, BRUME_LIMIT_BINS, shown,
                                        units, error));
    return brume_look(units, &prices, bits, decide_limit, &context, limit, error);
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
        status = look(found, i, collected[0], shown, bits, &found->limits[i], error);
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
    brume_total_limit *limits = calloc(plan->limit_count + 1, sizeof *limits);
    brume_limited_sum *sums = calloc(plan->measure_count + 1, sizeof *sums);
    brume_limited_list *lists = calloc(plan->measure_count + 1, sizeof *lists);
    brume_status status = limits && sums && lists ? BRUME_OK : brume_no_memory(error, "the limits");
    for (size_t i = 0; status == BRUME_OK && i < plan->limit_count; i++)
        limits[i] = (brume_total_limit){plan->limits[i].of, terms->limits[i].limit,
                                        terms->limits[i].square};
    for (size_t i = 0; status == BRUME_OK && i < plan->measure_count; i++) {
        const brume_measure *measure = &terms->measures[i];
        sums[i] = (brume_limited_sum){
            .kind = measure->kind, .value = measure->expression, .shift = measure->shift};
        if (measure->kind == BRUME_MEASURE_SQUARES)
            sums[i].half_square = brume_measure_half_square(measure);
        if (plan->measure_limit[i] >= 0)
            sums[i].limit = (size_t)(brume_terms_measure_limit(terms, i) - terms->limits);
    }
    if (status == BRUME_OK)
        status = brume_collected_limit(collected, limits, plan->limit_count, plan->norm, shown,
                                       sums, plan->measure_count, error);
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

static const char *word_of(brume_total_kind kind)
{
    static const char *const words[] = {[BRUME_TOTAL_PRESENCE] = "groups",
                                        [BRUME_TOTAL_ROWS] = "rows",
                                        [BRUME_TOTAL_VALUES] = "values",
                                        [BRUME_TOTAL_SUM] = "sum"};
    return words[kind];
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
        BRUME_TRY(present_limit(plan, &terms->limits[i], word_of(plan->limits[i].of.kind), i,
                                answer, error));
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
