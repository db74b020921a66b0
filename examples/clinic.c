/* The clinic: what share of a million patients has the disease?
 *
 * Two ways to publish it with epsilon = 1, each beside the truth and with its interval:
 *
 * 1. Randomized response. Every patient lies with probability 1/(1+e): nobody has to be trusted,
 * not even the clinic. The estimate is unbiased; its error shrinks as 1/sqrt(n).
 * 2. Laplace noise. The clinic knows the true count and adds noise to it once. The error shrinks as
 *    1/n.
 *
 * Both protect one patient's answer, the number of patients being public: adjacency "replace". */
#include <math.h>

#include <brume/brume.h>

#include "must.h"

enum { PATIENTS = 1000000, REPEATS = 20 };

static const double epsilon = 1, beta = 0.05; /* beta: the interval may miss this often */

typedef struct estimate {
    double share, half_width;
} estimate;

/* A mechanism written as on the command line. */
static brume_event event_of(const char *text)
{
    brume_error error;
    brume_expression expression;
    must(brume_expression_parse(text, BRUME_REPLACE, &expression, &error), &error);
    brume_event event = expression.events[0];
    brume_expression_free(&expression);
    return event;
}

/* Patients with the disease as 1, others as 0; each has it with the same probability, from 5 to 15
 * %, which nobody knows. Returns how many have it. */
static int64_t make_patients(brume_bits *bits, uint8_t *sick)
{
    brume_error error;
    int64_t count = 0;
    uint64_t extra_per_mille;
    must(brume_sample_below(bits, 100, &extra_per_mille, &error), &error);
    for (int i = 0; i < PATIENTS; i++) {
        bool has_it;
        must(brume_sample_bernoulli(bits, 50 + extra_per_mille, 1000, &has_it, &error), &error);
        sick[i] = has_it;
        count += has_it;
    }
    return count;
}

static estimate by_randomized_response(brume_bits *bits, const uint8_t *sick, uint64_t *yes)
{
    brume_error error;
    brume_share share;
    static uint8_t answers[PATIENTS];
    must(brume_randomized_response(bits, epsilon, 2, sick, answers, PATIENTS, &error), &error);
    *yes = 0;
    for (int i = 0; i < PATIENTS; i++)
        *yes += answers[i];
    must(brume_randomized_response_estimate(epsilon, 2, *yes, PATIENTS, beta, 1, &share, &error),
         &error);
    return (estimate){.share = share.estimate, .half_width = (share.upper - share.lower) / 2};
}

static estimate by_laplace(brume_bits *bits, int64_t count, const brume_event *mechanism)
{
    brume_error error;
    int64_t noise;
    double step, alpha;
    must(brume_event_noise(mechanism, bits, &noise, 1, &step, &error), &error);
    must(brume_event_alpha(mechanism, beta, &alpha, &error), &error);
    return (estimate){.share = ((double)count + step * (double)noise) / PATIENTS,
                      .half_width = alpha / PATIENTS};
}

/* Print a count with its thousands apart: 100,123. */
static void print_count(int64_t n)
{
    if (n >= 1000) {
        print_count(n / 1000);
        printf(",%03d", (int)(n % 1000));
    } else {
        printf("%d", (int)n);
    }
}

static void print_estimate(estimate e, double truth)
{
    printf("     estimate        %10.6f %%  ± %.6f %%\n", 100 * e.share, 100 * e.half_width);
    printf("     95 %% interval   [%.6f %%, %.6f %%]\n", 100 * (e.share - e.half_width),
           100 * (e.share + e.half_width));
    printf("     off by          %10.6f %%\n\n", 100 * fabs(e.share - truth));
}

/* One line of the picture: the interval as a bar, the estimate as a dot, the truth in the middle.
 */
static void print_bar(const char *name, estimate e, double truth, double width)
{
    enum { MIDDLE = 30, COLUMNS = 2 * MIDDLE + 1 };
    printf("  %-20s ", name);
    for (int i = 0; i < COLUMNS; i++) {
        double left = truth + width * (i - MIDDLE - 0.5) / COLUMNS, right = left + width / COLUMNS;
        bool inside = right > e.share - e.half_width && left < e.share + e.half_width;
        if (e.share >= left && e.share < right)
            fputs("●", stdout);
        else if (i == MIDDLE)
            fputs(inside ? "╋" : "┃", stdout);
        else
            fputs(inside ? "━" : " ", stdout);
    }
    putchar('\n');
}

int main(void)
{
    brume_error error;
    brume_bits *bits = NULL;
    static uint8_t sick[PATIENTS];
    must(brume_bits_open(&bits, &error), &error);
    brume_event laplace = event_of("laplace(scale=1)"); /* one patient changes the count by 1 */

    int64_t count = make_patients(bits, sick);
    uint64_t yes;
    double truth = (double)count / PATIENTS;
    fputs("The clinic: ", stdout);
    print_count(PATIENTS);
    printf(" generated patients. How many have the disease?\n\n     the truth       %10.6f %%  (",
           100 * truth);
    print_count(count);
    fputs(" patients; never published)\n\n", stdout);

    estimate first = by_randomized_response(bits, sick, &yes);
    printf("  1. Randomized response, epsilon = 1: each patient lies with probability %.2f %%,\n"
           "     and nobody needs to be trusted with the truth.\n",
           100 / (1 + exp(epsilon)));
    printf("     said yes        %10.6f %%\n", 100 * (double)yes / PATIENTS);
    print_estimate(first, truth);

    estimate second = by_laplace(bits, count, &laplace);
    printf(
        "  2. Laplace noise, epsilon = 1: the clinic counts, adds noise of scale 1 to the count,\n"
        "     and publishes only the result.\n");
    print_estimate(second, truth);

    double width = 2.4 * (first.half_width + fabs(first.share - truth));
    print_bar("randomized response", first, truth, width);
    print_bar("laplace noise", second, truth, width);
    printf("%53s▲ the truth\n\n", "");

    int held[2] = {0, 0};
    for (int i = 0; i < REPEATS; i++) {
        estimate e = by_randomized_response(bits, sick, &yes);
        held[0] += fabs(e.share - truth) <= e.half_width;
        e = by_laplace(bits, count, &laplace);
        held[1] += fabs(e.share - truth) <= e.half_width;
    }
    printf("  The same again %d times: the interval held the truth %d times (randomized response)\n"
           "  and %d times (Laplace). At least %.0f %% are promised in the long run.\n",
           REPEATS, held[0], held[1], 100 * (1 - beta));
    fputs("  Trusting the clinic is worth a factor of ", stdout);
    print_count(llround(first.half_width / second.half_width));
    fputs(" in accuracy here.\n", stdout);
    brume_bits_close(bits);
    return 0;
}
