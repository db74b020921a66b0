/* The picture of `brume account --plot`: delta over epsilon, and type II over type I error.
 *
 * A trade-off curve is drawn from its profile: each certified point (eps, delta) gives the lines
 * 1 - delta - e^eps a and e^-eps (1 - delta - a) below it, and the greatest of them is a bound. */
#include "command/account/curves.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "command/frame/bar_chart.h"

enum { POINTS = 90, MOST_OTHERS = 6 };

static const double least_delta = 1e-10;

typedef struct curve {
    double epsilon[POINTS], delta[POINTS];     /* the profile, upper ends */
    double type_one[POINTS], type_two[POINTS]; /* the trade-off curve, lower ends */
} curve;

static brume_status delta_at(const brume_term *terms, size_t count, double epsilon, double *delta,
                             brume_error *error)
{
    brume_composition composition;
    brume_compose_options rough = {.tolerance = 1e-3}; /* less than the width of a line */
    if (brume_compose_delta(terms, count, epsilon, &rough, &composition, NULL) == BRUME_OK) {
        *delta = composition.value.upper;
        return BRUME_OK;
    }
    brume_bound bound;
    BRUME_TRY(brume_account_delta(BRUME_METHOD_AUTO, terms, count, epsilon, &bound, error));
    *delta = bound.upper;
    return BRUME_OK;
}

static double guarantee(const curve *c, double type_one)
{
    double best = 0;
    for (int i = 0; i < POINTS; i++) {
        double growth = exp(c->epsilon[i]), rest = 1 - c->delta[i];
        best = fmax(best, fmax(rest - growth * type_one, (rest - type_one) / growth));
    }
    return best;
}

static brume_status trace(const brume_term *terms, size_t count, double most_epsilon, curve *out,
                          brume_error *error)
{
    for (int i = 0; i < POINTS; i++) {
        out->epsilon[i] = most_epsilon * i / (POINTS - 1);
        BRUME_TRY(delta_at(terms, count, out->epsilon[i], &out->delta[i], error));
    }
    for (int i = 0; i < POINTS; i++) {
        double share = (double)i / (POINTS - 1);
        out->type_one[i] = share * share; /* finer where it is steep */
        out->type_two[i] = guarantee(out, out->type_one[i]);
    }
    return BRUME_OK;
}

/* Where the profile has fallen to the bottom of the picture, or to its failure probability. */
static brume_status range(const brume_term *terms, size_t count, double *most, brume_error *error)
{
    *most = 10;
    for (double delta = least_delta; delta < 1; delta *= 10) {
        brume_bound bound;
        BRUME_TRY(brume_account_epsilon(BRUME_METHOD_AUTO, terms, count, delta, &bound, error));
        if (bound.infinite)
            continue;
        *most = bound.upper > 0 ? bound.upper * 1.02 : 1;
        break;
    }
    return BRUME_OK;
}

static void draw(FILE *file, const brume_panel panels[2], int stroke, const curve *c)
{
    brume_svg_line(file, &panels[0], stroke, c->epsilon, c->delta, POINTS);
    brume_svg_line(file, &panels[1], stroke, c->type_one, c->type_two, POINTS);
}

static brume_status picture(FILE *file, const char *title, const brume_expression *expression,
                            const brume_term *terms, brume_error *error)
{
    size_t count = expression->count, others = count > 1 ? count : 0;
    if (others > MOST_OTHERS)
        others = MOST_OTHERS;
    double most, height = 450 + 20 * (double)(others + (count > others && others ? 1 : 0));
    BRUME_TRY(range(terms, count, &most, error));
    const brume_panel panels[2] = {
        {76, 56, 370, 300, {"epsilon", 0, most, false}, {"delta", least_delta, 1, true}},
        {536, 56, 300, 300, {"type I error", 0, 1, false}, {"type II error", 0, 1, false}},
    };
    brume_svg_begin(file, 872, height, title);
    brume_svg_panel(file, &panels[0], "privacy profile");
    brume_svg_panel(file, &panels[1], "trade-off curve");
    brume_svg_line(file, &panels[1], BRUME_STROKE_GUIDE, (double[]){0, 1}, (double[]){1, 0}, 2);
    curve c;
    double top = 420;
    for (size_t i = 0; i < others; i++) {
        char text[300];
        BRUME_TRY(trace(&terms[i], 1, most, &c, error));
        draw(file, panels, (int)i + 1, &c);
        BRUME_TRY(brume_event_write(&expression->events[i], text, sizeof text, error));
        brume_svg_legend(file, 76, top + 20 * (double)(i + 1), (int)i + 1, text);
    }
    if (count > others && others)
        brume_svg_note(file, 110, top + 20 * (double)(others + 1) + 4,
                       "further terms are in the total only");
    BRUME_TRY(trace(terms, count, most, &c, error));
    draw(file, panels, BRUME_STROKE_MAIN, &c);
    char total[300];
    snprintf(total, sizeof total, "%s%.240s%s", others ? "together: " : "", title,
             strlen(title) > 240 ? " ..." : "");
    brume_svg_legend(file, 76, top, BRUME_STROKE_MAIN, total);
    brume_svg_note(file, 640, 76, "dashed: perfect privacy");
    brume_svg_end(file);
    return BRUME_OK;
}

brume_status brume_plot_curves(const char *path, const char *title,
                               const brume_expression *expression, const brume_term *terms,
                               brume_error *error)
{
    FILE *file;
    BRUME_TRY(brume_svg_open(path, &file, error));
    return brume_svg_close(file, path, picture(file, title, expression, terms, error), error);
}
