/* MWEM: multiplicative weights by the exponential mechanism.
 *
 * Promises: the data enter through whole numbers that one unit moves by at most 1, and only into
 * the choice of a query (bounded range epsilon_e) and its noised answer, once a round; all else is
 * post-processing. Rounds adapt to each other, so costs add up: pure epsilon, or rho.
 *
 * Differs from [HLM12]: the average is over all histograms, the last one and the uniform one
 * included: T rounds paid give T+1. The steps are eight times longer (BRUME_WEIGHTS_STEP), which is
 * best for the bound. Measured answers are clamped to [0, n], which only brings them nearer.
 * proofs/many_queries.md has the bound for all three. */
#include "synthetic/mwem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <brume/mechanism/mechanism.h>
#include <brume/noise/noise.h>
#include <brume/noise/select.h>
#include <brume/synthetic/mwem.h>

#include "base/error.h"
#include "number/rounding.h"
#include "synthetic/exact.h"
#include "synthetic/weights.h"
#include "synthetic/workload.h"

/* Places in the array of events. */
enum { BRUME_MWEM_CHOICES, BRUME_MWEM_ANSWERS, BRUME_MWEM_COUNTED };

#define BRUME_MWEM_RISE 0.5

/* Released answers, used again.
 *
 * A marginal cuts the records into parts, a yes-or-no query into two. Multiplying the weights of
 * part c by e^x_c raises the relative entropy by exactly L - sum p_c x_c, L = ln sum a_c e^x_c,
 * where a are the histogram's shares and p the true ones, and p_c lies within `cover` of the
 * measured share. For a dense query Hoeffding's lemma bounds L. proofs/many_queries.md. */

#define MOST_RATE 30.0 /* a part of a long way */

/* The number nearest to `answer` that is within `band` of the measured one. */
static double replay_nearest(double measured, double band, double answer)
{
    return fmin(fmax(answer, measured - band), measured + band);
}

/* The rate that moves the share `from` of a yes-or-no query to the share `to`, both in (0, 1). */
static double replay_rate(double from, double to)
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
    double wanted = replay_nearest(target, band, answer), share = answer / records;
    *rate = 0;
    if (wanted == answer)
        return true;
    const brume_group *group = brume_workload_group(weights->workload, measured->query);
    double logarithm;
    if (group->kind == BRUME_GROUP_DENSE || !(share > 0 && share < 1)) {
        *rate = brume_weights_rate(wanted, answer, records, BRUME_WEIGHTS_STEP);
        logarithm = *rate * share + *rate * *rate / 8;
    } else {
        *rate = replay_rate(share, fmin(fmax(wanted / records, 0x1p-40), 1 - 0x1p-40));
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
        double wanted = fmax(replay_nearest(measured->answers[i], band, cell[i]), 0);
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

/* How far MWEM errs at most. Promises: upper bounds, rounded up; proofs/many_queries.md. */

#define NEAR_BETA 0.5 /* replays go as near to an answer as half of all noise is */

/* How many histograms are averaged. */
static uint64_t mwem_averaged(const brume_mwem_options *options)
{
    return options->average ? options->average : options->rounds + 1;
}

/* The most answers that one round may release. */
static size_t mwem_at_once(const brume_workload *workload, const brume_mwem_options *options)
{
    size_t most = 1;
    for (size_t i = 0; i < workload->group_count && options->whole_marginals; i++)
        most = workload->groups[i].count > most ? workload->groups[i].count : most;
    return most;
}

/* With probability >= 1-beta `draws` answers are off by at most *noise, and the number of records
 * by at most *counted. Half of beta each, where it is bought. */
static brume_status errors(const brume_mwem_options *options, double draws, double beta,
                           double *noise, double *counted, brume_error *error)
{
    brume_event events[BRUME_MWEM_EVENTS];
    size_t count;
    BRUME_TRY(brume_mwem_events(options, events, &count, error));
    bool bought = count == BRUME_MWEM_EVENTS;
    double share = bought ? beta / 2 : beta; /* exact */
    *counted = options->records_error;
    if (bought) {
        BRUME_TRY(brume_event_alpha(&events[BRUME_MWEM_COUNTED], share, counted, error));
        *counted = fmax(*counted, 1); /* the bought number is raised to 1 */
    }
    events[BRUME_MWEM_ANSWERS].parameter[1] = draws;
    return brume_event_alpha(&events[BRUME_MWEM_ANSWERS], share, noise, error);
}

/* The rule of replays; public. */
static brume_status mwem_rule(const brume_workload *workload, const brume_mwem_options *options,
                              brume_replay_rule *rule, brume_error *error)
{
    double draws = (double)options->rounds * (double)mwem_at_once(workload, options);
    double noise, near, counted, dense = brume_workload_whole(workload) ? 0 : 1;
    BRUME_TRY(errors(options, 1, NEAR_BETA, &near, &counted, error));
    BRUME_TRY(errors(options, draws, BRUME_MWEM_COVER_BETA, &noise, &counted, error));
    double cells = (double)brume_workload_universe(workload)->cells;
    *rule = (brume_replay_rule){.near = near,
                                .cover = brume_add_up(brume_add_up(noise, counted), dense),
                                .most = BRUME_MWEM_RISE * log(cells)};
    return BRUME_OK;
}

/* sum: what the histogram is scaled to. */
static brume_status bound(const brume_workload *workload, const brume_mwem_options *options,
                          double sum, double beta, double *alpha, brume_error *error)
{
    brume_event events[BRUME_MWEM_EVENTS];
    size_t count, queries = brume_workload_size(workload);
    BRUME_TRY(brume_mwem_events(options, events, &count, error));
    if (!(beta > 0 && beta < 1) || queries == 0)
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "the bound needs queries, and 'beta' in (0, 1)");
    double rest = beta; /* what the replays leave of it, rounded down */
    if (options->replays > 0)
        rest = brume_subtract_down(beta, BRUME_MWEM_COVER_BETA);
    if (!(rest > 0))
        return brume_fail(error, BRUME_EUNSUPPORTED, "take no replays, or a larger 'beta'",
                          "with replays the bound holds for 'beta' above %g only",
                          BRUME_MWEM_COVER_BETA);
    /* half for all choices, half for the answers and the number of records; a round that is not run
     * is in the proof */
    double iterates = (double)options->rounds + 1, noise, counted;
    BRUME_TRY(errors(options, iterates, rest / 2, &noise, &counted, error));
    double dense = brume_workload_whole(workload) ? 0 : 1; /* the floor of a dense sum */
    noise = brume_add_up(brume_add_up(noise, counted), dense);
    /* P[gap >= t] <= |Q| exp(-coefficient t), T+1 times */
    double gap = brume_multiply_up((double)queries, iterates);
    gap = brume_log_up(brume_divide_up(gap, rest / 2));
    gap = brume_divide_up(gap, brume_mwem_coefficient(events[BRUME_MWEM_CHOICES].parameter[0]));
    /* squares: n^2 E/2 + (T+1) noise^2, over the histograms averaged; E = ln N, and what replays
     * add (2^-20 for the rounding of that sum) */
    double entropy = brume_log_up((double)brume_workload_universe(workload)->cells);
    if (options->replays > 0)
        entropy = brume_multiply_up(entropy, 1 + BRUME_MWEM_RISE + 0x1p-20);
    double squares = brume_multiply_up(brume_multiply_up(sum, sum), entropy / 2);
    squares = brume_add_up(squares, brume_multiply_up(iterates, brume_multiply_up(noise, noise)));
    double drift = brume_sqrt_up(brume_divide_up(squares, (double)mwem_averaged(options)));
    /* floors of dense sums in the two scores compared; the rounding of public answers and of the
     * weights: below 2^-18 and 2^-20 of the records */
    double slack = brume_add_up(2 * dense + 0x1p-18, brume_add_up(counted, sum * 0x1p-20));
    *alpha = brume_add_up(brume_add_up(drift, gap), slack);
    return BRUME_OK;
}

brume_status brume_mwem_alpha(const brume_workload *workload, const brume_mwem_options *options,
                              double beta, double *alpha, brume_error *error)
{
    if (options->records == 0)
        return brume_fail(error, BRUME_EARGUMENT, "say 'records', or ask for a sum",
                          "the bound needs the number of records");
    return bound(workload, options, options->records, beta, alpha, error);
}

brume_status brume_mwem_alpha_at(const brume_workload *workload, const brume_mwem_options *options,
                                 double sum, double beta, double *alpha, brume_error *error)
{
    if (options->adjacency != BRUME_ADD_REMOVE || options->records != 0)
        return brume_fail(error, BRUME_EARGUMENT, "use the bound for known 'records'",
                          "the number of records is not bought here");
    if (!(sum >= 1 && sum <= BRUME_RECORDS_MOST))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'sum' is %g, must be from 1 to 2^33", sum);
    return bound(workload, options, sum, beta, alpha, error);
}

static brume_event noise_event(const brume_mwem_options *options, double price, uint64_t count)
{
    brume_event event = {.adjacency = options->adjacency, .sensitivity = 1, .count = count};
    event.parameter[1] = 1;
    if (options->rho == 0) {
        event.mechanism = brume_card_by_name("discrete_laplace")->id;
        event.parameter[0] = brume_divide_up(1, price); /* up: 1/scale <= price */
    } else {
        event.mechanism = brume_card_by_name("discrete_gaussian")->id;
        /* up: 1/(2 sigma^2) <= price */
        event.parameter[0] = brume_sqrt_up(brume_divide_up(0.5, price));
    }
    return event;
}

brume_status brume_mwem_events(const brume_mwem_options *options,
                               brume_event events[BRUME_MWEM_EVENTS], size_t *count,
                               brume_error *error)
{
    BRUME_TRY(brume_exact_price("MWEM", options->adjacency, options->epsilon, options->rho, error));
    if (options->rounds < 1 || options->rounds > UINT64_C(1) << 20)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'rounds' must be from 1 to 2^20");
    if (!(options->records >= 0 && options->records <= BRUME_RECORDS_MOST &&
          options->records == floor(options->records)))
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "'records' must be a whole number up to 2^33, or 0");
    if (!(options->records_error >= 0 && options->records_error <= BRUME_RECORDS_MOST) ||
        (options->records_error > 0 && options->records == 0))
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "'records_error' needs 'records', and must be from 0 to 2^33");
    if (options->average > options->rounds + 1)
        return brume_fail(error, BRUME_EARGUMENT, "0 averages all of them",
                          "'average' is %llu, there are 'rounds' + 1 histograms",
                          (unsigned long long)options->average);
    if (options->replays > 1 << 10)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'replays' must be from 0 to 2^10");
    bool buys = options->adjacency == BRUME_ADD_REMOVE && options->records == 0;
    double price = options->rho > 0 ? options->rho : options->epsilon, records_price = 0;
    if (buys) {
        records_price = brume_multiply_down(price, BRUME_MWEM_RECORDS_SHARE);
        price = brume_subtract_down(price, records_price);
    }
    /* down: 2 rounds of `each` cost at most `price` */
    double each = brume_divide_down(price, 2 * (double)options->rounds);
    /* down: epsilon_e <= each, or epsilon_e^2/8 <= each */
    double choice = options->rho > 0 ? brume_sqrt_down(brume_multiply_down(8, each)) : each;
    brume_event made[BRUME_MWEM_EVENTS] = {{0}};
    made[BRUME_MWEM_CHOICES] = (brume_event){.mechanism = brume_card_by_name("exponential")->id,
                                             .adjacency = options->adjacency,
                                             .sensitivity = 1,
                                             .parameter = {choice},
                                             .count = options->rounds};
    /* A replaced record moves two of a marginal's cells: each for half of `each` (exact). */
    bool two = options->whole_marginals && options->adjacency == BRUME_REPLACE;
    made[BRUME_MWEM_ANSWERS] =
        noise_event(options, two ? each / 2 : each, two ? 2 * options->rounds : options->rounds);
    if (buys)
        made[BRUME_MWEM_COUNTED] = noise_event(options, records_price, 1);
    size_t many = buys ? 3 : 2;
    for (size_t i = 0; i < many; i++)
        BRUME_TRY(brume_event_check(&made[i], error));
    memcpy(events, made, many * sizeof *made);
    *count = many;
    return BRUME_OK;
}

double brume_mwem_coefficient(double epsilon)
{
    return epsilon / 2; /* exact */
}

static brume_status open_noise(const brume_mwem_options *options, const brume_event *event,
                               brume_noise **noise, brume_error *error)
{
    if (options->rho == 0)
        return brume_noise_open_discrete_laplace(event->parameter[0], noise, error);
    return brume_noise_open_discrete_gaussian(event->parameter[0], noise, error);
}

double brume_mwem_public(double answer)
{
    return brume_weights_public(answer);
}

brume_status brume_mwem_step(const brume_workload *workload, size_t query, double measured,
                             double records, double *weights, brume_error *error)
{
    brume_weights histogram = {workload, weights, 1, records};
    double answer, wanted = fmin(fmax(measured, 0), records);
    BRUME_TRY(brume_weights_answer_one(&histogram, query, &answer, error));
    double rate = brume_weights_rate(wanted, answer, records, BRUME_WEIGHTS_STEP);
    BRUME_TRY(brume_weights_step(&histogram, query, rate, error));
    brume_weights_settle(&histogram);
    return BRUME_OK;
}

/* One run: what is public, what is private, and where it stands. */
typedef struct run {
    const brume_workload *workload;
    const brume_mwem_options *options;
    brume_event events[BRUME_MWEM_EVENTS];
    brume_weights weights;
    double *cell;                    /* of the weights */
    double *truth, *answers, *score; /* per query; truth and score are private; two answers */
    int64_t *noisy;                  /* room for the largest marginal */
    brume_noise *noise;
    brume_measured *measured; /* different ones; nothing is kept without replays */
    uint64_t kept;
    brume_replay_rule rule;
} run;

/* The exponential mechanism: a query that the histogram answers badly. */
static brume_status choose(run *all, brume_bits *bits, size_t *worst, brume_error *error)
{
    size_t queries = brume_workload_size(all->workload);
    BRUME_TRY(brume_weights_answer(&all->weights, all->answers, error));
    /* exact: both are multiples of 2^-20 below 2^33 */
    for (size_t i = 0; i < queries; i++)
        all->score[i] = fabs(brume_mwem_public(all->answers[i]) - all->truth[i]);
    double epsilon = all->events[BRUME_MWEM_CHOICES].parameter[0];
    return brume_select_noisy_max(bits, BRUME_SELECT_GUMBEL, brume_mwem_coefficient(epsilon),
                                  all->score, queries, worst, error);
}

/* Noise on the answer, or on all cells of its marginal; *out is complete on success. */
static brume_status measure(run *all, size_t query, brume_bits *bits, brume_measured *out,
                            brume_error *error)
{
    const brume_group *group = brume_workload_group(all->workload, query);
    brume_measured made = {.query = query, .first = query, .count = 1, .times = 1};
    if (all->options->whole_marginals && group->kind == BRUME_GROUP_MARGINAL) {
        made.marginal = group;
        made.first = group->first;
        made.count = group->count;
    }
    for (size_t i = 0; i < made.count; i++)
        all->noisy[i] = (int64_t)all->truth[made.first + i];
    BRUME_TRY(brume_noise_add(all->noise, bits, all->noisy, all->noisy, made.count, error));
    made.answers = malloc((made.count + 1) * sizeof *made.answers); /* never 0 */
    if (!made.answers)
        return brume_fail(error, BRUME_EMEMORY, NULL, "no memory for %zu answers", made.count);
    for (size_t i = 0; i < made.count; i++)
        made.answers[i] = fmin(fmax((double)all->noisy[i], 0), all->weights.records);
    *out = made;
    return BRUME_OK;
}

/* Take over what was released: the mean with what was released before of the same queries, which
 * errs by no more than the worst of them. */
static void keep(run *all, brume_measured *now)
{
    uint64_t i = 0;
    while (i < all->kept && all->measured[i].first != now->first)
        i++;
    if (all->options->replays > 0 && i == all->kept) {
        all->measured[all->kept++] = *now;
        return;
    }
    if (all->options->replays > 0) {
        brume_measured *before = &all->measured[i];
        before->times++;
        for (size_t k = 0; k < now->count; k++)
            before->answers[k] += (now->answers[k] - before->answers[k]) / (double)before->times;
    }
    free(now->answers);
}

static brume_status one_round(run *all, brume_bits *bits, brume_error *error)
{
    size_t query;
    brume_measured now;
    BRUME_TRY(choose(all, bits, &query, error));
    double answer = all->answers[query];
    BRUME_TRY(measure(all, query, bits, &now, error));
    double rate = brume_weights_rate(now.answers[query - now.first], answer, all->weights.records,
                                     BRUME_WEIGHTS_STEP);
    keep(all, &now);
    BRUME_TRY(brume_weights_step(&all->weights, query, rate, error));
    for (uint64_t sweep = 0; sweep < all->options->replays; sweep++)
        for (uint64_t i = 0; i < all->kept; i++)
            BRUME_TRY(
                brume_replay(&all->weights, &all->measured[i], &all->rule, all->answers, error));
    return BRUME_OK;
}

/* weights = the average of the last histograms. */
static brume_status all_rounds(run *all, brume_bits *bits, double *weights, brume_error *error)
{
    const brume_mwem_options *options = all->options;
    uint64_t last = options->rounds, first = last + 1 - mwem_averaged(options), added = 0;
    memset(weights, 0, brume_workload_universe(all->workload)->cells * sizeof *weights);
    for (uint64_t done = 0;; done++) {
        if (done >= first || done == last) {
            brume_weights_add_to(&all->weights, 1, weights);
            added++;
        }
        if (done == last)
            break;
        BRUME_TRY(one_round(all, bits, error));
        if (options->progress &&
            !options->progress(options->progress_context, done + 1, options->rounds))
            last = done + 1;
    }
    brume_weights average = {all->workload, weights, 1 / (double)added, all->weights.records};
    brume_weights_settle(&average);
    return BRUME_OK;
}

/* The number of records that the histogram is scaled to. */
static brume_status know_records(const run *all, double true_records, size_t events,
                                 brume_bits *bits, double *known, brume_error *error)
{
    *known = all->options->records;
    if (all->options->adjacency == BRUME_REPLACE) {
        if (true_records == 0)
            return brume_fail(error, BRUME_EARGUMENT, NULL, "an empty dataset");
        if (*known != 0 && *known != true_records)
            return brume_fail(error, BRUME_EARGUMENT,
                              "under replace the number of records is public: give it, or 0",
                              "'records' is not the sum of the histogram");
        *known = true_records;
    } else if (events == 3) {
        brume_noise *noise = NULL;
        int64_t records = (int64_t)true_records;
        BRUME_TRY(open_noise(all->options, &all->events[BRUME_MWEM_COUNTED], &noise, error));
        brume_status status = brume_noise_add(noise, bits, &records, &records, 1, error);
        brume_noise_close(noise);
        BRUME_TRY(status);
        *known = fmin(fmax((double)records, 1), BRUME_RECORDS_MOST);
    }
    return BRUME_OK;
}

static brume_status prepare_and_run(run *all, const double *counts, brume_bits *bits,
                                    double *weights, brume_error *error)
{
    const brume_universe *universe = brume_workload_universe(all->workload);
    size_t queries = brume_workload_size(all->workload), events;
    double true_records, records;
    BRUME_TRY(brume_mwem_events(all->options, all->events, &events, error));
    if (queries == 0)
        return brume_fail(error, BRUME_EARGUMENT, "add queries first", "an empty workload");
    BRUME_TRY(brume_exact_records(universe, counts, &true_records, error));
    all->cell = malloc(universe->cells * sizeof(double));
    all->measured = calloc(all->options->rounds < queries ? all->options->rounds : queries,
                           sizeof *all->measured);
    all->truth = calloc(queries, sizeof(double));
    all->answers = malloc(2 * queries * sizeof(double));
    all->score = calloc(queries, sizeof(double));
    all->noisy = calloc(mwem_at_once(all->workload, all->options), sizeof *all->noisy);
    if (!all->cell || !all->measured || !all->truth || !all->answers || !all->score || !all->noisy)
        return brume_fail(error, BRUME_EMEMORY, NULL, "no memory for %llu cells and %zu queries",
                          (unsigned long long)universe->cells, queries);
    BRUME_TRY(open_noise(all->options, &all->events[BRUME_MWEM_ANSWERS], &all->noise, error));
    BRUME_TRY(brume_exact_answers(all->workload, counts, all->truth, error));
    BRUME_TRY(mwem_rule(all->workload, all->options, &all->rule, error));
    BRUME_TRY(know_records(all, true_records, events, bits, &records, error));
    brume_weights_uniform(&all->weights, all->workload, records, all->cell);
    return all_rounds(all, bits, weights, error);
}

static void wipe(double *numbers, size_t n)
{
    if (numbers)
        explicit_bzero(numbers, n * sizeof *numbers);
    free(numbers);
}

brume_status brume_mwem(const brume_workload *workload, const brume_mwem_options *options,
                        const double *counts, brume_bits *bits, double *weights, brume_error *error)
{
    run all = {.workload = workload, .options = options};
    brume_status status = prepare_and_run(&all, counts, bits, weights, error);
    if (status != BRUME_OK)
        memset(weights, 0, brume_workload_universe(workload)->cells * sizeof *weights);
    wipe(all.truth, brume_workload_size(workload));
    wipe(all.score, brume_workload_size(workload));
    for (uint64_t i = 0; i < all.kept; i++)
        free(all.measured[i].answers);
    free(all.measured);
    if (all.noisy) /* after a failure it may hold true answers */
        explicit_bzero(all.noisy, mwem_at_once(workload, options) * sizeof *all.noisy);
    free(all.noisy);
    free(all.cell);
    free(all.answers);
    brume_noise_close(all.noise);
    return status;
}
