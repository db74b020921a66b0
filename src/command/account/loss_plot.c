/* The picture of `brume loss --plot`: the tail of the loss, and its Renyi divergences. */
#include "command/account/loss.h"

#include <math.h>
#include <stdio.h>

#include "base/error.h"
#include "command/frame/bar_chart.h"

enum { POINTS = 80 };

typedef struct lines {
    double x[POINTS], y[POINTS];
} lines;

/* Where most of the loss lies, of both directions. */
static brume_status range(const brume_loss_source *source, double *low, double *high,
                          brume_error *error)
{
    *low = INFINITY;
    *high = -INFINITY;
    for (int reversed = 0; reversed <= source->differ; reversed++) {
        double mean, variance;
        BRUME_TRY(source->moments(source, reversed, &mean, &variance, error));
        if (!isfinite(mean) || !isfinite(variance))
            mean = variance = 1;
        *low = fmin(*low, mean - 4 * sqrt(variance));
        *high = fmax(*high, mean + 4 * sqrt(variance));
    }
    if (!(*high - *low > 1e-9)) {
        *low -= .5;
        *high += .5;
    }
    return BRUME_OK;
}

static brume_status trace_tail(const brume_loss_source *source, bool reversed, double low,
                               double high, lines *out, brume_error *error)
{
    for (int i = 0; i < POINTS; i++) {
        brume_interval p;
        out->x[i] = low + (high - low) * (i + .37) / POINTS; /* not on atoms, most often */
        BRUME_TRY(source->tail(source, reversed, out->x[i], 1e-2, &p, error));
        out->y[i] = (p.lower + p.upper) / 2;
    }
    return BRUME_OK;
}

static brume_status trace_renyi(const brume_loss_source *source, bool reversed, lines *out,
                                double *most, brume_error *error)
{
    for (int i = 0; i < POINTS; i++) {
        out->x[i] = pow(64, (double)i / (POINTS - 1)); /* orders 1 to 64 */
        BRUME_TRY(source->renyi(source, reversed, out->x[i], &out->y[i], error));
        if (isfinite(out->y[i]))
            *most = fmax(*most, out->y[i]);
    }
    return BRUME_OK;
}

static brume_status picture(FILE *file, const brume_loss_source *source, brume_error *error)
{
    static const char *const names[] = {"P against Q", "Q against P"};
    lines tails[2], curves[2];
    int directions = source->differ ? 2 : 1;
    double low, high, most = 1e-9;
    BRUME_TRY(range(source, &low, &high, error));
    for (int i = 0; i < directions; i++) {
        BRUME_TRY(trace_tail(source, i, low, high, &tails[i], error));
        BRUME_TRY(trace_renyi(source, i, &curves[i], &most, error));
    }
    const brume_panel panels[2] = {
        {76, 56, 370, 300, {"epsilon", low, high, false}, {"P[L > epsilon]", 0, 1, false}},
        {536, 56, 300, 300, {"order", 1, 64, true}, {"divergence", 0, most * 1.02, false}},
    };
    brume_svg_begin(file, 872, 470, source->title);
    brume_svg_panel(file, &panels[0], "tail of the privacy loss");
    brume_svg_panel(file, &panels[1], "Renyi divergence");
    for (int i = 0; i < directions; i++) {
        brume_svg_line(file, &panels[0], i, tails[i].x, tails[i].y, POINTS);
        brume_svg_line(file, &panels[1], i, curves[i].x, curves[i].y, POINTS);
        brume_svg_legend(file, 76, 420 + 20 * i, i, source->differ ? names[i] : source->title);
    }
    brume_svg_end(file);
    return BRUME_OK;
}

brume_status brume_plot_loss(const char *path, const brume_loss_source *source, brume_error *error)
{
    FILE *file;
    BRUME_TRY(brume_svg_open(path, &file, error));
    return brume_svg_close(file, path, picture(file, source, error), error);
}
