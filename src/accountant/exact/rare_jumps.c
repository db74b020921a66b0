/* Discrete Gaussians so narrow that hardly a draw leaves the middle: the law of the sum itself.
 *
 * With r_x = exp(-x^2/(2 sigma^2)) and rho = sum over x /= 0 of r_x, the sum of k draws is j with
 *   P_j = (1 + rho)^{-k} sum_n C(k, n) [z^j] (sum_{x /= 0} r_x z^x)^n,
 * all terms positive. For k rho <= 0.01 a few n and x are enough; what is left out is at most
 * (k rho)^{n+1}/(n+1)!/(1 - k rho) + k sum of the r_x left out. The loss of j is k D^2/(2 sigma^2)
 * + j D/sigma^2 (up to the sign of j, under which P is symmetric), so that delta is a sum of few
 * terms, each relatively exact. On a line they are not: next to a point of so wide a lattice the
 * mass below epsilon cancels only up to rounding. proofs/accountant/exact.md, section exact.3. */
#include "accountant/exact/closed_form.h"

#include <math.h>
#include <stdlib.h>

static const double unit = BRUME_UNIT;
static const double most_rare = 0.01; /* k rho */
enum { MOST_JUMPS = 24, MOST_FAR = 8, MOST_WORK = 120000 };

struct brume_rare_jumps {
    double first, step; /* the loss of j is first + j step */
    double rest;        /* the mass of all that is left out */
    long reach;         /* |j| <= reach */
    double *mass;       /* P_j at index j + reach */
    double *error;      /* bounds of their errors */
};

/* r_x, and its exponent */
static double weight(const brume_law *law, double x, double *exponent)
{
    *exponent = x * x / (2 * law->a * law->a);
    return exp(-*exponent);
}

/* rho, rounded up */
static double jump_share(const brume_law *law)
{
    double sum = 0, exponent;
    for (int x = 1; x <= MOST_FAR; x++)
        sum += 2 * weight(law, x, &exponent);
    return sum * (1 + 1e-9); /* r_x falls faster than geometrically; parameters by 1e-12 */
}

/* Convolve: to[j] += sum over x of from[j - x] r_x, and the sizes of exponents along. */
static void jump_once(const brume_law *law, long reach, int far, const double *from,
                      const double *from_size, double *to, double *to_size)
{
    for (long j = 0; j <= 2 * reach; j++)
        to[j] = to_size[j] = 0;
    for (int x = -far; x <= far; x++) {
        double exponent, r = weight(law, x, &exponent);
        for (long j = 0; x != 0 && j <= 2 * reach; j++)
            if (j - x >= 0 && j - x <= 2 * reach) {
                to[j] += from[j - x] * r;
                to_size[j] += (from_size[j - x] + from[j - x] * exponent) * r;
            }
    }
}

/* All P_j with at most `jumps` draws that are not 0, none of them beyond `far`. */
static bool add_up(brume_rare_jumps *rare, const brume_law *law, int jumps, int far)
{
    size_t width = 2 * (size_t)rare->reach + 1;
    double *memory = calloc(6 * width, sizeof *memory), k = law->count, choose = 1;
    if (!memory)
        return false;
    double *now = memory + 2 * width, *now_size = memory + 3 * width;
    double *next = memory + 4 * width, *next_size = memory + 5 * width;
    rare->mass = memory;
    rare->error = memory + width;
    now[rare->reach] = 1;
    for (int n = 0; n <= jumps && n <= k; n++) {
        for (size_t j = 0; j < width; j++) {
            rare->mass[j] += choose * now[j];
            /* sigma by 8 units: an exponent by 16 and 4 of rounding; each factor, product and sum
             * by one, of which there are fewer than 8 + 4 far a jump, and 40 in the sum over n */
            rare->error[j] += choose * unit *
                              (20 * now_size[j] + (8.0 * n + 4.0 * far * n + 40) * now[j]);
        }
        jump_once(law, rare->reach, far, now, now_size, next, next_size);
        double *swap = now, *swap_size = now_size;
        now = next, now_size = next_size;
        next = swap, next_size = swap_size;
        choose *= (k - n) / (n + 1);
    }
    /* (1 + rho)^{-k}: rho by 1e-12 beside the far r_x, which only lower it */
    double rho = 0, exponent, shares = 0;
    for (int x = 1; x <= MOST_FAR; x++) {
        double r = 2 * weight(law, x, &exponent);
        rho += r;
        shares += r * (20 * exponent + 8);
    }
    double none = exp(-k * log1p(rho)), error = unit * (k * shares + 4 * k * rho + 8);
    for (size_t j = 0; j < width; j++) {
        rare->error[j] = none * (rare->error[j] * 1.01 + 1.01 * error * rare->mass[j]);
        rare->mass[j] *= none;
    }
    return true;
}

brume_rare_jumps *brume_rare_jumps_open(const brume_law *law, double least)
{
    double k = law->count;
    if (law->source.kind != BRUME_LOSS_DISCRETE_GAUSSIAN || !(law->a < 0.5) || !(k <= 0x1p53) ||
        !(least > 1e-280 && least <= 1))
        return NULL;
    double rho = jump_share(law), share = k * rho, jumped = share, exponent;
    if (!(share <= most_rare))
        return NULL;
    int jumps = 0, far = 0;
    double limit = 1e-17 * least;
    while (jumps < MOST_JUMPS && jumped > limit) /* (k rho)^{n+1}/(n+1)! */
        jumped = ++jumps < k ? jumped * share / (jumps + 1) : 0;
    double beyond = INFINITY; /* 2 k r_{far+1}, and faster than geometrically after it */
    while (far < MOST_FAR && beyond > limit)
        beyond = 2.1 * k * weight(law, ++far + 1, &exponent);
    brume_rare_jumps *rare = calloc(1, sizeof *rare);
    if (!rare)
        return NULL;
    rare->reach = jumps > 0 ? (long)jumps * far : 1;
    rare->rest = 1.02 * (jumped / (1 - share) + beyond) + 1e-300;
    rare->step = law->shift / (law->a * law->a);
    rare->first = 0.5 * k * law->shift * rare->step;
    double work = (2.0 * (double)rare->reach + 1) * (2 * far + 1) * (jumps + 1);
    if (!(work <= MOST_WORK) || !add_up(rare, law, jumps, far)) {
        brume_rare_jumps_close(rare);
        return NULL;
    }
    return rare;
}

void brume_rare_jumps_close(brume_rare_jumps *rare)
{
    if (rare)
        free(rare->mass);
    free(rare);
}

/* The sum over j of P_j (1 - e^{epsilon - l_j})_+, every part of it moved to the side. */
static double rare_delta(void *context, double epsilon, brume_side side)
{
    const brume_rare_jumps *rare = context;
    double sum = 0;
    for (long j = rare->reach; j >= -rare->reach; j--) { /* small ones first, mostly */
        /* 16 units of sigma twice, and 4 of rounding */
        double size = rare->first + fabs((double)j) * rare->step;
        double loss = rare->first + (double)j * rare->step;
        double above = loss - epsilon + side * 24 * unit * (size + fabs(epsilon));
        if (!(above > 0))
            break; /* the same for all that follow */
        size_t at = (size_t)(j + rare->reach);
        double mass = fmax(rare->mass[at] + side * rare->error[at], 0);
        sum += mass * -expm1(-above) * (1 + side * 8 * unit);
    }
    sum *= 1 + side * 4 * unit * (double)(rare->reach + 2); /* the additions */
    return side == BRUME_UPPER_SIDE ? fmin(sum + rare->rest, 1) : fmax(sum, 0);
}

brume_closed brume_rare_jumps_form(brume_rare_jumps *rare)
{
    return (brume_closed){
        .delta = rare_delta, .context = rare, .route = "closed form of narrow discrete Gaussians"};
}

/* About the mass of the sum j: (k rho/2)^j/j!, or, if k < j, all draws share in it evenly. */
static double mass_near(const brume_law *law, double share, double j)
{
    double mass = 1, k = law->count, each = floor(j / k), more = j - each * k;
    for (double i = 1; i <= j && j <= k; i++)
        mass *= 0.4 * share / i;
    double squares = (k - more) * each * each + more * (each + 1) * (each + 1);
    return j <= k ? mass : 0.5 * exp(-squares / (2 * law->a * law->a));
}

bool brume_rare_jumps_delta(const brume_law *law, double epsilon, brume_answer *answer)
{
    if (law->source.kind != BRUME_LOSS_DISCRETE_GAUSSIAN || !(law->a < 0.5))
        return false;
    double step = law->shift / (law->a * law->a), share = law->count * jump_share(law);
    double steps = floor((epsilon - 0.5 * law->count * law->shift * step) / step) + 2;
    if (!(steps < MOST_JUMPS))
        return false;
    brume_rare_jumps *rare =
        brume_rare_jumps_open(law, fmax(mass_near(law, share, fmax(steps, 0)), 1e-279));
    if (!rare)
        return false;
    brume_closed closed = brume_rare_jumps_form(rare);
    brume_closed_delta(&closed, epsilon, answer);
    answer->balls = false;
    brume_rare_jumps_close(rare);
    return true;
}
