/* The first step of every query: parse it, choose its price, plan it and rehearse it. */
#include "query/release/prepare.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#include <brume/bits.h>
#include <brume/mechanism/stable_histogram.h>

#include "base/error.h"
#include "ledger/user.h"
#include "query/collect/place.h"
#include "query/plan/make_plan.h"
#include "query/plan/plan_limit.h"
#include "query/price/key_threshold.h"
#include "query/price/price.h"
#include "query/release/choice.h"
#include "query/release/collect_and_draw.h"
#include "query/release/public_keys.h"

/* Rehearsal: everything that a plan will need, tried before anything is charged. */

/* Numbers that an answer with declared groups may have, drawn and shown: some gigabytes. */
static const double most_numbers = 0x1p24;

/* ---- sizes ---- */

static brume_status check_sizes(const brume_plan *plan, brume_error *error)
{
    if (plan->value_count > BRUME_BOUND_VALUES)
        return brume_fail(error, BRUME_EUNSUPPORTED, "ask in several queries",
                          "the query measures %zu expressions, at most %d are possible",
                          plan->value_count, BRUME_BOUND_VALUES);
    double each = (double)(plan->measure_count + plan->value_count + plan->query->output_count +
                           plan->query->window_count);
    if ((double)plan->shape.cells * each > most_numbers)
        return brume_fail(error, BRUME_EUNSUPPORTED,
                          "group by fewer columns, or ask in several queries",
                          "the declared groups would have %.3g numbers together, at most %.3g are "
                          "possible",
                          (double)plan->shape.cells * each, most_numbers);
    return BRUME_OK;
}

/* What is enforced while rows are collected must be what the price was made for, or a unit could
 * weigh more than is charged. They are one number in two places, set in make_plan.c and
 * make_plan.c. */
static brume_status check_limits(const brume_plan *plan, brume_error *error)
{
    const brume_shape *priced = &plan->shape;
    for (size_t i = 0; i < plan->measurement_count; i++) {
        const brume_measurement *measurement = &plan->measurements[i];
        const brume_collection *enforced = &measurement->collection;
        bool same = true;
        if (measurement->kind == BRUME_MEASUREMENT_GROUPS)
            same = enforced->max_groups == priced->max_groups && enforced->cells == priced->cells &&
                   enforced->totals == plan->by_totals;
        else if (measurement->kind == BRUME_MEASUREMENT_MODE)
            same = enforced->max_groups == brume_shape_pairs(priced);
        else if (measurement->kind == BRUME_MEASUREMENT_DISTINCT) /* cut when the limit is known */
            same = enforced->cells == 0 && enforced->all_groups &&
                   (enforced->totals || measurement->distinct.limit.source != BRUME_LIMIT_AUTO) &&
                   enforced->totals == (plan->query->unit && !plan->query->one_row_per_unit);
        else if (measurement->kind == BRUME_MEASUREMENT_BIAS)
            same = enforced->max_groups == 1;
        if (!same)
            return brume_fail(error, BRUME_EINTERNAL, "please report this query",
                              "the limits of measurement %zu are not those that it is priced for",
                              i);
    }
    return BRUME_OK;
}

static brume_noise_tail_upper tail_of(brume_noise_kind noise)
{
    return noise == BRUME_NOISE_DISCRETE_LAPLACE   ? brume_noise_tail_laplace_upper
           : noise == BRUME_NOISE_ROUNDED_GAUSSIAN ? brume_noise_tail_rounded_gaussian_upper
                                                   : brume_noise_tail_discrete_gaussian_upper;
}

/* Keys alone, shown by chance: with one unit more or less the chance of a key rises and falls no
 * faster than what is charged allows each of the keys that may change, one by one. The chances are
 * made elsewhere, from another copy of the price and of the adjacency. */
static bool are_chances_paid_for(const brume_plan *plan, double delta)
{
    double changing = (double)plan->shape.max_groups * (plan->adjacency == BRUME_REPLACE ? 2 : 1);
    double grows = exp(brume_decimal_upper(&plan->charge.amount) / changing);
    double share = -expm1(log1p(-delta) / changing); /* (1 - share)^changing = 1 - delta */
    double slack = 1 + 0x1p-40;                      /* for the rounding of these few lines */
    double before = 0, chance;
    for (uint64_t units = 1;; units++, before = chance) {
        chance = brume_key_selection_probability(plan->selection, units);
        if (chance > (grows * before + share) * slack ||
            1 - before > (grows * (1 - chance) + share) * slack)
            return false;
        if (!(chance > before)) /* from here on it is the same for all */
            return true;
    }
}

/* A key or a value that one unit alone has is shown with at most the probability that is charged as
 * delta. Threshold and charge are made apart, and thresholds are made again when limits are chosen.
 */
static brume_status check_thresholds(const brume_terms *terms, brume_error *error)
{
    const brume_plan *plan = terms->plan;
    double shown = 0, charged = brume_decimal_upper(&plan->charge.delta);
    uint64_t keys = plan->by_totals ? 1 : plan->shape.max_groups; /* that a unit is counted in */
    if (plan->limits_only)
        return BRUME_OK;
    if (plan->selection && !are_chances_paid_for(plan, charged))
        return brume_fail(error, BRUME_EINTERNAL, "please report this query",
                          "keys are shown more often than the price of %.3g and %.3g allows",
                          brume_decimal_upper(&plan->charge.amount), charged);
    if (plan->shape.private_keys && !plan->selection)
        shown = brume_key_shown_upper(tail_of(plan->noise), terms->measures[0].scale, keys,
                                      terms->price.threshold);
    for (size_t i = 0; i < plan->measure_count; i++) {
        const brume_measure *one = &terms->measures[i];
        if (one->kind == BRUME_MEASURE_PRIVATE_MODE)
            shown += brume_key_shown_upper(tail_of(brume_measure_noise(one, plan->noise)),
                                           one->scale, brume_shape_pairs(&plan->shape),
                                           one->threshold);
    }
    return shown <= charged * (1 + 0x1p-40) /* sums are rounded */
               ? BRUME_OK
               : brume_fail(error, BRUME_EINTERNAL, "please report this query",
                            "a threshold is lower than the delta of %.3g that is charged allows",
                            charged);
}

/* ---- statements ---- */

static brume_status try_statement(const brume_collection *collection, brume_dialect dialect,
                                  const char *const *tables, brume_error *error)
{
    char *sql = NULL;
    brume_status status = brume_collect_statement(collection, dialect, tables, &sql, error);
    free(sql);
    return status;
}

static brume_status try_statements(const brume_question *question, const brume_plan *plan,
                                   brume_error *error)
{
    brume_dialect dialect = BRUME_DIALECT_DUCKDB;
    BRUME_TRY(brume_place_dialect(question, &dialect, error));
    const char **tables = calloc(question->table_count + 1, sizeof *tables);
    if (!tables)
        return brume_no_memory(error, "a plan");
    for (size_t i = 0; i < question->table_count; i++)
        tables[i] = "\"t\"";
    brume_status status = BRUME_OK;
    for (size_t i = 0; status == BRUME_OK && i < plan->measurement_count; i++)
        status = try_statement(&plan->measurements[i].collection, dialect, tables, error);
    free(tables);
    return status;
}

/* ---- draws ---- */

/* So many units that a private key is shown, as far as noise lets one say so. */
static uint64_t enough_units(const brume_terms *terms)
{
    uint64_t threshold = terms->plan->shape.private_keys ? terms->price.threshold : 0;
    return threshold < UINT64_C(1) << 60 ? 2 * threshold : threshold;
}

/* For one measurement: a group without values, in which the plan's private key would show. */
static brume_status collect_nothing(void *context, const brume_measurement *measurement,
                                    brume_bits *bits, brume_collected **out, brume_error *error)
{
    const brume_terms *terms = context;
    uint64_t units = measurement->kind == BRUME_MEASUREMENT_GROUPS ? enough_units(terms) : 0;
    return brume_collect_nothing(&measurement->collection, units, bits, out, error);
}

brume_status brume_rehearse(const brume_question *question, const brume_terms *terms,
                            brume_error *error)
{
    BRUME_TRY(check_sizes(terms->plan, error));
    BRUME_TRY(check_limits(terms->plan, error));
    BRUME_TRY(try_statements(question, terms->plan, error));
    brume_bits *bits = NULL;
    BRUME_TRY(brume_bits_open(&bits, error));
    brume_released nothing = {0};
    brume_status status =
        brume_collect_and_draw(terms, collect_nothing, (void *)terms, bits, NULL, &nothing, error);
    brume_released_close(&nothing);
    brume_bits_close(bits);
    BRUME_TRY(status);
    return check_thresholds(terms, error);
}

typedef struct recalling {
    brume_ledger *ledger;
    const brume_question *question;
    brume_where where;
} recalling;

static brume_status recall(void *context, brume_plan *plan, brume_terms **out, brume_error *error)
{
    const recalling *from = context;
    BRUME_TRY(brume_place(from->question, plan, from->where, error));
    return brume_choice_recall(from->ledger, from->question, true, plan, out, error);
}

/* For groups that are known before rows are read; others are as many as units can be in. */
static brume_status check_user_limits(brume_ledger *ledger, const brume_question *question,
                                      const brume_plan *plan, brume_error *error)
{
    double outputs = (double)(plan->query->output_count + plan->query->window_count);
    double numbers = outputs + (double)(plan->measure_count + plan->value_count);
    double groups = (double)plan->shape.cells;
    for (size_t i = 0; brume_ledger_acts_for(ledger) && i < question->table_count; i++)
        if (!question->policies[i]->is_public)
            BRUME_TRY(brume_user_limits_check(&question->policies[i]->per_user,
                                              question->datasets[i]->name, groups * outputs,
                                              groups * numbers, error));
    return BRUME_OK;
}

brume_status brume_check_ledger_bytes(brume_ledger *ledger, const brume_question *question,
                                      brume_error *error)
{
    uint64_t bytes = 0;
    if (!brume_ledger_acts_for(ledger))
        return BRUME_OK;
    BRUME_TRY(brume_ledger_bytes(ledger, &bytes, error));
    for (size_t i = 0; i < question->table_count; i++) {
        brume_user_limits all = brume_user_limits_in_force(&question->policies[i]->per_user);
        if (!question->policies[i]->is_public && bytes >= all.ledger_bytes)
            return brume_fail(error, BRUME_EPOLICY,
                              "ask the owner; what was answered is read again",
                              "your questions and answers take %llu bytes of the ledger, at most "
                              "%llu are for a user of '%s'; nothing was spent",
                              (unsigned long long)bytes, (unsigned long long)all.ledger_bytes,
                              question->datasets[i]->name);
    }
    return BRUME_OK;
}

/* The windows that are read, and no others: before anything is planned. */
static brume_status find_windows(brume_question *question, const char *windows, brume_error *error)
{
    const brume_window_wish wish = {windows, brume_touched_now()};
    return brume_touched_find(question->query, question->tables, &wish, &question->touched, error);
}

brume_status brume_prepare(brume_ledger *ledger, const char *sql, const brume_payment *payment,
                           const brume_target *target, brume_question **question, brume_plan **plan,
                           brume_terms **terms, brume_error *error)
{
    char epsilon[BRUME_PRICE_TEXT];
    brume_payment chosen = *payment;
    BRUME_TRY(brume_question_open_any(ledger, sql, question, error));
    if ((*question)->open_query)
        return payment->windows
                   ? brume_fail(error, BRUME_EARGUMENT, "leave it out",
                                "'--windows' is for tables with windows, and the query "
                                "reads public tables alone")
                   : BRUME_OK;
    if (!target && !payment->epsilon && !payment->rho)
        return brume_fail(error, BRUME_EARGUMENT,
                          "give --epsilon E (or --rho R), or --within A; there is no default",
                          "neither a price nor an accuracy is given");
    BRUME_TRY(brume_read_public_keys(ledger, *question, error));
    BRUME_TRY(find_windows(*question, payment->windows, error));
    if (target) {
        recalling from = {ledger, *question, payment->where};
        const brume_plan_hook hook = {recall, &from};
        BRUME_TRY(brume_target_price(*question, target, payment, &hook, epsilon, error));
        chosen.epsilon = epsilon;
        chosen.rho = NULL;
    }
    BRUME_TRY(brume_query_plan_make((*question)->query, (*question)->tables, &chosen, plan, error));
    /* before limits are read: a centre that is in the ledger is none for rows that stay */
    BRUME_TRY(brume_place(*question, *plan, payment->where, error));
    /* A price that was searched is for the limits that the ledger has, however noisy they are. */
    BRUME_TRY(payment->limits_only
                  ? brume_terms_make(*plan, NULL, 0, terms, error)
                  : brume_choice_recall(ledger, *question, target, *plan, terms, error));
    BRUME_TRY(check_user_limits(ledger, *question, *plan, error));
    return brume_rehearse(*question, *terms, error);
}
