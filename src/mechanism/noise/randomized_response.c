/* Randomized response: the draw, the estimate and the card.
 *
 * Promises: with the truth told with probability p = e^eps/(e^eps+k-1) and each other answer with
 * q = 1/(e^eps+k-1), one answer is pure eps-DP, exactly. proofs/randomized_response.md. */
#include "mechanism/card.h"
#include "mechanism/formula.h"

#include <string.h>

#include <brume/noise/primitive.h>
#include <brume/noise/randomized_response.h>

#include "base/error.h"
#include "mechanism/ball.h"
#include "mechanism/trial.h"

enum { EPSILON, K, PEOPLE };

/* Uniform j in 0 .. k-1; 0 is taken at once, another with chance e^-eps, else again: so 0 has
 * weight 1 and each other e^-eps, whatever the number of rounds. */
brume_status brume_randomized_response_noise(brume_bits *bits, double epsilon, uint64_t k,
                                             uint64_t *out, brume_error *error)
{
    if (!(epsilon > 0) || isinf(epsilon))
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "'epsilon' is %.17g, must be a finite number above 0", epsilon);
    if (k < 2)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'k' must be at least 2");
    for (;;) {
        uint64_t other;
        bool taken = true;
        BRUME_TRY(brume_sample_below(bits, k, &other, error));
        if (other != 0)
            BRUME_TRY(brume_sample_bernoulli_exp_real(bits, epsilon, &taken, error));
        if (taken) {
            *out = other;
            return BRUME_OK;
        }
    }
}

brume_status brume_randomized_response(brume_bits *bits, double epsilon, unsigned k,
                                       const uint8_t *truth, uint8_t *out, size_t n,
                                       brume_error *error)
{
    if (k > 256)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'k' is %u, must be in [2, 256]", k);
    unsigned bad = 0;
    for (size_t i = 0; i < n; i++)
        bad |= truth[i] >= k;
    if (bad)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "a truth is not below 'k'");
    for (size_t i = 0; i < n; i++) {
        uint64_t other;
        brume_status status = brume_randomized_response_noise(bits, epsilon, k, &other, error);
        if (status != BRUME_OK) {
            if (status != BRUME_EARGUMENT) /* refused before the first answer */
                memset(out, 0, n);
            return status;
        }
        out[i] = (uint8_t)((truth[i] + (unsigned)other) % k);
    }
    return BRUME_OK;
}

static const brume_parameter parameters[] = {
    BRUME_PARAMETER_EPSILON_("the cost of one answer: the odds of the truth are exp(epsilon)"),
    {.name = "k",
     .type = BRUME_PARAMETER_INTEGER,
     .least = 2,
     .most = 0x1p53,
     .optional = true,
     .standard = 2,
     .direction = BRUME_MORE_NOISE,
     .unit = "",
     .help = "how many answers there are to choose from"},
    {.name = "people",
     .type = BRUME_PARAMETER_INTEGER,
     .least = 0,
     .most = 0x1p53,
     .optional = true,
     .standard = 0,
     .direction = BRUME_LESS_NOISE,
     .unit = "",
     .help = "how many people answer, for the accuracy; 0: not said"},
};

static const char *const examples[] = {
    "noise 'randomized_response(epsilon=1)' --count 5",
    "account 'randomized_response(epsilon=1, k=4)*10' --delta 1e-6",
    "accuracy 'randomized_response(epsilon=1, people=1000000)' --beta 0.05",
    NULL,
};

static brume_status cost(const brume_event *event, brume_cost *cost, brume_error *error)
{
    (void)error;
    double epsilon = event->parameter[EPSILON], k = event->parameter[K];
    cost->pure = BRUME_EXACT;
    cost->epsilon = epsilon;
    /* epsilon tanh(epsilon/2) for two answers; for more the curve gives less */
    cost->concentrated = k == 2 ? BRUME_EXACT : BRUME_UPPER;
    cost->rho = brume_pure_rho_upper(epsilon);
    cost->loss = BRUME_EXACT;
    cost->law = (brume_loss){.kind = k == 2 ? BRUME_LOSS_PURE : BRUME_LOSS_KARY,
                             .a = epsilon,
                             .shift = k == 2 ? 0 : (uint64_t)k};
    cost->renyi = BRUME_EXACT;
    cost->renyi_upper = k == 2 ? brume_renyi_pure_upper : brume_renyi_kary_upper;
    if (k > 2)
        cost->rho = brume_rho_of_renyi_upper(cost);
    return BRUME_OK;
}

/* The estimates are c (S/n - q), where c = (e^eps+k-1)/(e^eps-1) and S counts n independent answers
 * in [0,1]: by Hoeffding P[|error| >= alpha] <= 2 exp(-2 n (alpha/c)^2) for one of them. With two
 * answers there is one share to estimate, with k there are k.
 *
 * c = (1 + (k-1) e^-eps)/(1 - e^-eps) and c q = e^-eps/(1 - e^-eps). */
static void slope_and_offset(arb_t slope, arb_t offset, double epsilon, double k)
{
    arb_t x, others;
    arb_init(x);
    arb_init(others);
    arb_set_d(x, epsilon);
    arb_neg(x, x);
    arb_exp(offset, x, BRUME_BALL_BITS);
    arb_expm1(x, x, BRUME_BALL_BITS);
    arb_neg(x, x); /* 1 - e^-eps */
    arb_set_d(others, k - 1);
    arb_mul(slope, offset, others, BRUME_BALL_BITS);
    arb_add_ui(slope, slope, 1, BRUME_BALL_BITS);
    arb_div(slope, slope, x, BRUME_BALL_BITS);
    arb_div(offset, offset, x, BRUME_BALL_BITS);
    arb_clear(x);
    arb_clear(others);
}

/* out = sqrt(ln(2 m/beta)/(2 n)), Hoeffding's half-width for m means of n. */
static void half_width(arb_t out, double m, double beta, double n)
{
    arb_t y;
    arb_init(y);
    arb_set_d(out, m);
    arb_mul_2exp_si(out, out, 1);
    arb_set_d(y, beta);
    arb_div(out, out, y, BRUME_BALL_BITS);
    arb_log(out, out, BRUME_BALL_BITS);
    arb_set_d(y, n);
    arb_mul_2exp_si(y, y, 1);
    arb_div(out, out, y, BRUME_BALL_BITS);
    arb_sqrt(out, out, BRUME_BALL_BITS);
    arb_clear(y);
}

/* c sqrt(v/n), v the larger of p(1-p) and q(1-q): the variance of one answer's count is a mixture
 * of the two, and for k = 2 they are equal. p = 1/(1 + (k-1) e^-eps), q = e^-eps p. */
static double deviation_upper(const arb_t slope, double epsilon, double k, double n)
{
    arb_t p, q, a;
    arb_init(p), arb_init(q), arb_init(a);
    arb_set_d(a, epsilon);
    arb_neg(a, a);
    arb_exp(a, a, BRUME_BALL_BITS);
    arb_set_d(p, k - 1);
    arb_mul(p, p, a, BRUME_BALL_BITS);
    arb_add_ui(p, p, 1, BRUME_BALL_BITS);
    arb_inv(p, p, BRUME_BALL_BITS);
    arb_mul(q, p, a, BRUME_BALL_BITS);
    double result = 0;
    arb_struct *shares[2] = {p, q};
    for (int i = 0; i < 2; i++) {
        arb_sub_ui(a, shares[i], 1, BRUME_BALL_BITS);
        arb_neg(a, a);
        arb_mul(a, a, shares[i], BRUME_BALL_BITS);
        arb_t people;
        arb_init(people);
        arb_set_d(people, n);
        arb_div(a, a, people, BRUME_BALL_BITS);
        arb_clear(people);
        arb_sqrt(a, a, BRUME_BALL_BITS);
        arb_mul(a, a, slope, BRUME_BALL_BITS);
        result = fmax(result, brume_ball_upper(a));
    }
    arb_clear(p), arb_clear(q), arb_clear(a);
    return result;
}

brume_status brume_randomized_response_estimate(double epsilon, uint64_t k, uint64_t answered,
                                                uint64_t n, double beta, uint64_t m,
                                                brume_share *out, brume_error *error)
{
    if (!(epsilon > 0) || isinf(epsilon))
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "'epsilon' is %.17g, must be a finite number above 0", epsilon);
    if (!(beta > 0 && beta < 1))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'beta' is %.17g, must be in (0, 1)", beta);
    const uint64_t most = (uint64_t)1 << 53; /* exact as doubles */
    if (k < 2 || k > most || n < 1 || n > most || answered > n || m < 1 || m > most)
        return brume_fail(error, BRUME_EARGUMENT,
                          "k >= 2, 1 <= n <= 2^53, answered <= n and m >= 1 are wanted",
                          "the counts do not fit together");
    arb_t slope, offset, x, y;
    arb_init(slope), arb_init(offset), arb_init(x), arb_init(y);
    slope_and_offset(slope, offset, epsilon, (double)k);
    arb_set_d(x, (double)answered);
    arb_set_d(y, (double)n);
    arb_div(x, x, y, BRUME_BALL_BITS);
    arb_mul(x, x, slope, BRUME_BALL_BITS);
    arb_sub(x, x, offset, BRUME_BALL_BITS);
    brume_share share = {.estimate = arf_get_d(arb_midref(x), ARF_RND_NEAR)};
    half_width(y, (double)m, beta, (double)n);
    arb_mul(y, y, slope, BRUME_BALL_BITS);
    arb_sub(offset, x, y, BRUME_BALL_BITS);
    share.lower = brume_ball_lower(offset); /* outwards: down */
    arb_add(offset, x, y, BRUME_BALL_BITS);
    share.upper = brume_ball_upper(offset); /* outwards: up */
    share.standard_deviation = deviation_upper(slope, epsilon, (double)k, (double)n);
    *out = share;
    arb_clear(slope), arb_clear(offset), arb_clear(x), arb_clear(y);
    return BRUME_OK;
}

static brume_status people_said(const brume_event *event, double *shares, brume_error *error)
{
    if (event->parameter[PEOPLE] == 0)
        return brume_fail(error, BRUME_EARGUMENT, "write people=1000000, say",
                          "the accuracy depends on the number of 'people'");
    *shares = event->parameter[K] == 2 ? 1 : event->parameter[K];
    return BRUME_OK;
}

static brume_status alpha_upper(const brume_event *event, double beta, double *alpha,
                                brume_error *error)
{
    double shares = 1;
    BRUME_TRY(people_said(event, &shares, error));
    arb_t slope, x;
    arb_init(slope), arb_init(x);
    slope_and_offset(slope, x, event->parameter[EPSILON], event->parameter[K]);
    half_width(x, shares, beta, event->parameter[PEOPLE]);
    arb_mul(x, x, slope, BRUME_BALL_BITS);
    *alpha = brume_ball_upper(x);
    arb_clear(slope), arb_clear(x);
    return BRUME_OK;
}

/* beta = 2 shares exp(-2 n (alpha/c)^2) */
static brume_status beta_upper(const brume_event *event, double alpha, double *beta,
                               brume_error *error)
{
    double shares = 1;
    BRUME_TRY(people_said(event, &shares, error));
    arb_t slope, x, y;
    arb_init(slope), arb_init(x), arb_init(y);
    slope_and_offset(slope, x, event->parameter[EPSILON], event->parameter[K]);
    arb_set_d(x, alpha);
    arb_div(x, x, slope, BRUME_BALL_BITS);
    arb_mul(x, x, x, BRUME_BALL_BITS);
    arb_set_d(y, 2 * event->parameter[PEOPLE]);
    arb_mul(x, x, y, BRUME_BALL_BITS);
    arb_neg(x, x);
    arb_exp(x, x, BRUME_BALL_BITS);
    arb_set_d(y, 2 * shares);
    arb_mul(x, x, y, BRUME_BALL_BITS);
    *beta = brume_ball_upper(x);
    arb_clear(slope), arb_clear(x), arb_clear(y);
    return BRUME_OK;
}

/* 0: the truth, 1/(1 + (k-1) e^-eps); 1 .. k-1: another answer, e^-eps times that. */
static brume_status mass(const brume_event *event, int64_t k, brume_interval *mass,
                         brume_error *error)
{
    (void)error;
    if (k < 0 || (double)k >= event->parameter[K]) {
        *mass = (brume_interval){0, 0};
        return BRUME_OK;
    }
    arb_t a, p;
    arb_init(a), arb_init(p);
    arb_set_d(a, event->parameter[EPSILON]);
    arb_neg(a, a);
    arb_exp(a, a, BRUME_BALL_BITS);
    arb_set_d(p, event->parameter[K] - 1);
    arb_mul(p, p, a, BRUME_BALL_BITS);
    arb_add_ui(p, p, 1, BRUME_BALL_BITS);
    arb_inv(p, p, BRUME_BALL_BITS);
    if (k > 0)
        arb_mul(p, p, a, BRUME_BALL_BITS);
    *mass = brume_ball_probability(p);
    arb_clear(a), arb_clear(p);
    return BRUME_OK;
}

static brume_status noise(const brume_event *event, brume_bits *bits, int64_t *out, size_t n,
                          double *step, brume_error *error)
{
    *step = 1;
    for (size_t i = 0; i < n; i++) {
        uint64_t other;
        BRUME_TRY(brume_randomized_response_noise(bits, event->parameter[EPSILON],
                                                  (uint64_t)event->parameter[K], &other, error));
        out[i] = (int64_t)other;
    }
    return BRUME_OK;
}

/* ---- the trial ---- */

static brume_status check_answers(const brume_event *event, size_t pair, void *state,
                                  brume_error *error)
{
    (void)pair;
    (void)state;
    if (event->parameter[K] > 256)
        return brume_fail(error, BRUME_EUNSUPPORTED, NULL,
                          "'k' is %g, an audit takes at most 256 answers", event->parameter[K]);
    return BRUME_OK;
}

static brume_status draw(const brume_event *event, const void *state, bool second, brume_bits *bits,
                         int64_t *out, size_t n, brume_error *error)
{
    (void)state;
    uint8_t answers[1024];
    for (size_t done = 0; done < n; done += sizeof answers) {
        size_t part = n - done < sizeof answers ? n - done : sizeof answers;
        memset(answers, second, part);
        BRUME_TRY(brume_randomized_response(bits, event->parameter[EPSILON],
                                            (unsigned)event->parameter[K], answers, answers, part,
                                            error));
        for (size_t i = 0; i < part; i++)
            out[done + i] = answers[i];
    }
    return BRUME_OK;
}

static brume_status trial_mass(const brume_event *event, const void *state, bool second,
                               int64_t outcome, brume_interval *out, brume_error *error)
{
    (void)state;
    return mass(event, outcome != second, out, error); /* the others have one probability */
}

static void support(const brume_event *event, const void *state, int64_t *least, int64_t *most)
{
    (void)state;
    *least = 0;
    *most = (int64_t)event->parameter[K] - 1;
}

static const brume_trial trial = {
    .neighbours = "two truths, 0 and 1",
    .outcome = "the answer",
    .step = 1,
    .prepare = check_answers,
    .draw = draw,
    .mass = trial_mass,
    .support = support,
};

const brume_card brume_card_randomized_response = {
    .id = 1,
    .name = "randomized_response",
    .summary = "each person answers truthfully with odds exp(epsilon), else at random",
    .guarantee = "pure epsilon for one person's answer, without a trusted curator",
    .adjacencies = BRUME_ADD_REMOVE | BRUME_REPLACE,
    .sensitivity = "none",
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .proof = "randomized_response.md",
    .examples = examples,
    .not_sampled = true,
    .cost = cost,
    .accuracy = "of the unbiased estimate of each answer's share, for a number of people",
    .alpha_upper = alpha_upper,
    .beta_upper = beta_upper,
    .noise = noise,
    .mass = mass,
    .trial = &trial,
};
