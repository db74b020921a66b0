/* Released answers, used again. Promises: replay.h.
 *
 * A marginal cuts the records into parts, a yes-or-no query into two. Multiplying the weights of
 * part c by e^x_c raises the relative entropy by exactly L - sum p_c x_c, L = ln sum a_c e^x_c,
 * where a are the histogram's shares and p the true ones, and p_c lies within `cover` of the
 * measured share. For a dense query Hoeffding's lemma bounds L. proofs/many_queries.md. */
#include "synthetic/replay.h"

#include <math.h>
#include <string.h>

#include "base/error.h"

#define MOST_RATE 30.0 /* a part of a long way */

double brume_replay_nearest(double measured, double band, double answer)
{
    return fmin(fmax(answer, measured - band), measured + band);
}

double brume_replay_rate(double from, double to)
{
    double rate = log(to) - log(from) + log1p(-from) - log1p(-to);
    return fmin(fmax(rate, -MOST_RATE), MOST_RATE);
}

/* The least that p x can be, p a share within `cover` of `measured`. */
static double least_gain(double x, double measured, double cover, double records)
{
    double p = x > 0 ? fmax(measured - cover, 0) : fmin(measured + cover, records);
    return x * p / records;
}

/* May a move that raises the entropy by at most `rise` be made? Then it is counted. */
static bool may_rise(brume_replay_rule *rule, double rise)
{
    if (!(rule->risen + rise <= rule->most))
        return false;
    rule->risen += rise;
    return true;
}

static double near(const brume_measured *measured, const brume_replay_rule *rule)
{
    return rule->near / sqrt((double)measured->times);
}

/* ---- one answer ---- */

static bool plan_one(const brume_weights *weights, const brume_measured *measured, double answer,
                     double band, brume_replay_rule *rule, double *rate)
{
    double records = weights->records, target = measured->answers[0];
    double wanted = brume_replay_nearest(target, band, answer), share = answer / records;
    *rate = 0;
    if (wanted == answer)
        return true;
    const brume_group *group = brume_workload_group(weights->workload, measured->query);
    double logarithm;
    if (group->kind == BRUME_GROUP_DENSE || !(share > 0 && share < 1)) {
        *rate = brume_weights_rate(wanted, answer, records, BRUME_WEIGHTS_STEP);
        logarithm = *rate * share + *rate * *rate / 8;
    } else {
        *rate = brume_replay_rate(share, fmin(fmax(wanted / records, 0x1p-40), 1 - 0x1p-40));
        logarithm = log1p(share * expm1(*rate));
    }
    return may_rise(rule, logarithm - least_gain(*rate, target, rule->cover, records));
}

static brume_status replay_one(brume_weights *weights, const brume_measured *measured,
                               brume_replay_rule *rule, brume_error *error)
{
    double answer, rate;
    BRUME_TRY(brume_weights_answer_one(weights, measured->query, &answer, error));
    if (!plan_one(weights, measured, answer, near(measured, rule), rule, &rate) &&
        !plan_one(weights, measured, answer, rule->cover, rule, &rate))
        return BRUME_OK;
    return rate == 0 ? BRUME_OK : brume_weights_step(weights, measured->query, rate, error);
}

/* ---- all cells of a marginal ---- */

/* factors[i] for the cells; *moves: is one of them not 1? */
static bool plan_marginal(double records, const brume_measured *measured, const double *cell,
                          double band, brume_replay_rule *rule, double *factors, bool *moves)
{
    double sum = 0, plain = 0, shifted = 0;
    *moves = false;
    for (size_t i = 0; i < measured->count; i++) {
        double wanted = fmax(brume_replay_nearest(measured->answers[i], band, cell[i]), 0);
        /* the shares are above 0, because the weights are */
        factors[i] = wanted == cell[i] ? 1 : wanted / cell[i];
        factors[i] = fmin(fmax(factors[i], exp(-MOST_RATE)), exp(MOST_RATE));
        *moves = *moves || factors[i] != 1;
        sum += cell[i] / records * factors[i];
    }
    /* sum p x >= k + sum least(p (x - k)) for every k: 0 and L are good ones */
    double logarithm = *moves ? log(sum) : 0;
    for (size_t i = 0; i < measured->count && *moves; i++) {
        double x = log(factors[i]);
        plain += least_gain(x, measured->answers[i], rule->cover, records);
        shifted += least_gain(x - logarithm, measured->answers[i], rule->cover, records);
    }
    return !*moves || may_rise(rule, fmin(logarithm - plain, -shifted));
}

brume_status brume_replay(brume_weights *weights, const brume_measured *measured,
                          brume_replay_rule *rule, double *room, brume_error *error)
{
    if (!measured->marginal)
        return replay_one(weights, measured, rule, error);
    size_t queries = brume_workload_size(weights->workload);
    double *cell = room + measured->first, *factors = room + queries;
    bool moves;
    BRUME_TRY(brume_weights_marginal(weights, measured->marginal, room, error));
    double band = near(measured, rule);
    if (!plan_marginal(weights->records, measured, cell, band, rule, factors, &moves) &&
        !plan_marginal(weights->records, measured, cell, rule->cover, rule, factors, &moves))
        return BRUME_OK;
    return moves ? brume_weights_step_marginal(weights, measured->marginal, factors, error)
                 : BRUME_OK;
}
