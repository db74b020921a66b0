/* Least squares in a box by accelerated projected gradients with restarts.   [Nes83, OC15]
 *
 * Promises: the gap that is told is an upper bound of f(x) - min f up to the rounding of doubles,
 * however the iteration went; nothing else is claimed of the steps. The iterates are x (in the box)
 * and y = x + momentum (x - previous x); C x is kept with x, so that a step costs one product
 * with the matrix and one with its transpose. */
#include "audit/least_squares.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

typedef struct solver {
    const brume_subsets *subsets;
    size_t people, queries;
    double *target;                   /* the answers, centred */
    double *x, *next, *y, *gradient;  /* one per person */
    double *image, *next_image, *row; /* C x, C next, scratch: one per query */
    double curvature;                 /* above the largest eigenvalue of C'C, as far as seen */
    double momentum;                  /* t of the recursion t -> (1 + sqrt(1 + 4 t^2))/2 */
    double lower;                     /* min f is at least this */
} solver;

static void centre(double *numbers, size_t count)
{
    double mean = 0;
    for (size_t i = 0; i < count; i++)
        mean += numbers[i];
    mean /= (double)count;
    for (size_t i = 0; i < count; i++)
        numbers[i] -= mean;
}

/* C x: the sums over the subsets, without their mean. */
static void product(const solver *s, const double *x, double *image)
{
    brume_subsets_sum(s->subsets, x, image);
    centre(image, s->queries);
}

static double squared(const double *numbers, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += numbers[i] * numbers[i];
    return sum;
}

/* f at a point of that image. */
static double value_at(const solver *s, const double *image)
{
    double sum = 0;
    for (size_t j = 0; j < s->queries; j++)
        sum += (image[j] - s->target[j]) * (image[j] - s->target[j]);
    return sum / 2;
}

/* A few power steps: where to begin. It may be too small; `advance` sees to that. */
static void guess_curvature(solver *s)
{
    uint64_t state = 1;
    for (size_t i = 0; i < s->people; i++)
        s->y[i] = (double)(brume_public_word(&state) >> 11) * 0x1p-53 - .5;
    s->curvature = 0;
    for (int i = 0; i < 8; i++) {
        double norm = sqrt(squared(s->y, s->people));
        if (!(norm > 0))
            break;
        for (size_t k = 0; k < s->people; k++)
            s->y[k] /= norm;
        product(s, s->y, s->row);
        s->curvature = squared(s->row, s->queries);
        brume_subsets_gather(s->subsets, s->row, s->y);
    }
    s->curvature = s->curvature > 0 ? 1.1 * s->curvature : 1;
}

/* The gradient at y and, by its tangent over the box, a lower bound of min f. `weight` is the
 * momentum: y = x + weight (x - previous), and so is the image. */
static void look(solver *s, const double *previous_image, double weight)
{
    for (size_t j = 0; j < s->queries; j++)
        s->row[j] = s->image[j] + weight * (s->image[j] - previous_image[j]);
    double value = value_at(s, s->row);
    for (size_t j = 0; j < s->queries; j++)
        s->row[j] -= s->target[j];
    brume_subsets_gather(s->subsets, s->row, s->gradient);
    /* The rows of C are centred, and so is the residual but for rounding: C'r = Q'r. */
    double slack = 0;
    for (size_t i = 0; i < s->people; i++)
        slack += s->gradient[i] > 0 ? s->gradient[i] * s->y[i] : s->gradient[i] * (s->y[i] - 1);
    s->lower = fmax(s->lower, value - slack);
}

/* next = the projection of y - gradient/curvature, the curvature raised until it is one. */
static void advance(solver *s, const double *y_image)
{
    for (int tries = 0; tries < 60; tries++) {
        double moved = 0, change = 0;
        for (size_t i = 0; i < s->people; i++) {
            s->next[i] = fmin(fmax(s->y[i] - s->gradient[i] / s->curvature, 0), 1);
            moved += (s->next[i] - s->y[i]) * (s->next[i] - s->y[i]);
        }
        product(s, s->next, s->next_image);
        for (size_t j = 0; j < s->queries; j++)
            change += (s->next_image[j] - y_image[j]) * (s->next_image[j] - y_image[j]);
        /* Below 1e-18 the images' own rounding would be taken for curvature. */
        if (moved <= 1e-18 || change <= s->curvature * moved * (1 + 1e-9))
            return;
        s->curvature = 1.2 * change / moved;
    }
}

static void swap(double **a, double **b)
{
    double *kept = *a;
    *a = *b;
    *b = kept;
}

static void iterate(solver *s, double tolerance, brume_least_squares *out)
{
    double *y_image = s->row, value = value_at(s, s->image), weight = 0;
    memcpy(s->y, s->x, s->people * sizeof *s->y);
    memcpy(s->next_image, s->image, s->queries * sizeof *s->image);
    s->momentum = 1;
    s->lower = 0;
    unsigned steps = 0;
    /* Doubles cannot tell gaps below a relative 1e-12 from none. */
    while (value - s->lower > fmax(tolerance, 1e-12 * value) && steps < BRUME_LEAST_SQUARES_STEPS) {
        steps++;
        look(s, s->next_image, weight); /* next_image is that of the x before */
        for (size_t j = 0; j < s->queries; j++)
            y_image[j] += s->target[j];
        advance(s, y_image);
        double grown = value_at(s, s->next_image);
        if (grown > value && weight > 0) {
            /* Restart: forget the momentum and step again from x. */
            weight = 0;
            s->momentum = 1;
            memcpy(s->y, s->x, s->people * sizeof *s->y);
            memcpy(s->next_image, s->image, s->queries * sizeof *s->image);
            continue;
        }
        double t = (1 + sqrt(1 + 4 * s->momentum * s->momentum)) / 2;
        weight = (s->momentum - 1) / t;
        s->momentum = t;
        for (size_t i = 0; i < s->people; i++)
            s->y[i] = s->next[i] + weight * (s->next[i] - s->x[i]);
        swap(&s->x, &s->next);
        swap(&s->image, &s->next_image);
        value = grown;
    }
    *out = (brume_least_squares){value, fmax(value - s->lower, 0), steps};
}

brume_status brume_least_squares_solve(const brume_subsets *subsets, const double *answers,
                                       double tolerance, double *x, brume_least_squares *out,
                                       brume_error *error)
{
    size_t people = subsets->people, queries = subsets->queries;
    if (!(tolerance > 0))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "the tolerance is %g, must be above 0",
                          tolerance);
    for (size_t j = 0; j < queries; j++)
        if (!(fabs(answers[j]) <= 0x1p62))
            return brume_fail(error, BRUME_EARGUMENT, NULL, "answer %zu is not within -+2^62",
                              j + 1);
    double *memory = malloc((4 * people + 4 * queries) * sizeof *memory);
    if (!memory)
        return brume_fail(error, BRUME_EMEMORY, NULL, "no memory for %zu queries about %zu people",
                          queries, people);
    double *by_query = memory + 4 * people;
    solver s = {.subsets = subsets,
                .people = people,
                .queries = queries,
                .x = memory,
                .next = memory + people,
                .y = memory + 2 * people,
                .gradient = memory + 3 * people,
                .target = by_query,
                .image = by_query + queries,
                .next_image = by_query + 2 * queries,
                .row = by_query + 3 * queries};
    memcpy(s.target, answers, queries * sizeof *answers);
    centre(s.target, queries);
    guess_curvature(&s);
    for (size_t i = 0; i < people; i++)
        s.x[i] = .5;
    product(&s, s.x, s.image);
    iterate(&s, tolerance, out);
    memcpy(x, s.x, people * sizeof *x);
    free(memory);
    return BRUME_OK;
}
