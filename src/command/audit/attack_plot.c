/* The picture of `brume attack reconstruct --plot`: the share of bits recovered over the noise.
 *
 * Each point is a mean over the runs. The certified line is the most that anybody can expect of
 * answers with that Laplace noise. */
#include "command/audit/attack.h"
#include "command/frame/progress.h"
#include "command/frame/bar_chart.h"

enum { POINTS = 22, CURVES = 4 };

typedef struct plot_curve {
    const char *name, *form; /* form: the curator for a standard deviation */
    double per_deviation;    /* its parameter, per standard deviation of the noise */
    double x[POINTS], y[POINTS], bound[POINTS];
} plot_curve;

static brume_status trace(const brume_assault *assault, double least, double most, plot_curve *c,
                          brume_progress *progress, uint64_t *done, brume_error *error)
{
    for (int i = 0; i < POINTS; i++) {
        double deviation = least * pow(most / least, (double)i / (POINTS - 1));
        char text[80];
        brume_curator curator;
        brume_outcome outcome;
        snprintf(text, sizeof text, c->form, fmin(deviation * c->per_deviation, 0x1p20));
        BRUME_TRY(brume_curator_read(text, &curator, error));
        BRUME_TRY(brume_assault_run(assault, &curator, &outcome, error));
        BRUME_TRY(
            brume_curator_most(&curator, assault->moved, assault->likelier, &c->bound[i], error));
        c->x[i] = deviation;
        c->y[i] = outcome.recovered / (double)assault->people;
        brume_progress_update(progress, ++*done);
    }
    return BRUME_OK;
}

static void draw(FILE *file, const brume_assault *assault, double least, double most,
                 const plot_curve *curves)
{
    const brume_panel panel = {
        76,
        56,
        620,
        320,
        {"standard deviation of the noise (bounded noise: bound / sqrt 3)", least, most, true},
        {"share of bits recovered", .3, 1, false}};
    char title[120];
    snprintf(title, sizeof title, "%zu secret bits, %zu subset counts, %s adversary",
             assault->people, assault->queries,
             assault->adversary == BRUME_ADVERSARY_EXPONENTIAL ? "exponential" : "polynomial");
    brume_svg_begin(file, 740, 540, title);
    brume_svg_panel(file, &panel, title);
    brume_svg_line(file, &panel, BRUME_STROKE_GUIDE, (double[]){least, most},
                   (double[]){assault->likelier, assault->likelier}, 2);
    const double prices[] = {100, 10, 1};
    for (size_t i = 0; i < sizeof prices / sizeof *prices; i++) {
        /* Laplace noise of scale moved/epsilon. */
        double x = sqrt(2) * (double)assault->moved / prices[i];
        if (x < least || x > most)
            continue;
        char text[40];
        snprintf(text, sizeof text, "Laplace: epsilon %g", prices[i]);
        brume_svg_line(file, &panel, BRUME_STROKE_GUIDE, (double[]){x, x}, (double[]){.3, 1}, 2);
        double place = panel.left + panel.width * log(x / least) / log(most / least);
        brume_svg_note(file, place - 110, panel.top + panel.height - 8, text);
    }
    for (int i = 0; i < CURVES; i++)
        brume_svg_line(file, &panel, i, curves[i].x, curves[i].y, POINTS);
    brume_svg_line(file, &panel, CURVES, curves[0].x, curves[0].bound, POINTS);
    for (int i = 0; i < CURVES; i++)
        brume_svg_legend(file, 76 + 320 * (i % 2), 440 + 24 * (i / 2), i, curves[i].name);
    brume_svg_legend(file, 76, 488, CURVES,
                     "the most that anybody can expect, Laplace noise (certified)");
    brume_svg_legend(file, 76, 512, BRUME_STROKE_GUIDE, "guessing; prices of all answers");
    brume_svg_end(file);
}

brume_status brume_assault_plot(const brume_call *call, const brume_assault *assault,
                                const char *path, brume_error *error)
{
    plot_curve curves[CURVES] = {
        {.name = "Laplace noise (brume)",
         .form = "discrete_laplace(scale=%.17g)",
         .per_deviation = 0.70710678118654757},
        {.name = "Gaussian noise (brume)",
         .form = "discrete_gaussian(sigma=%.17g)",
         .per_deviation = 1},
        {.name = "uniform noise within a bound",
         .form = "uniform(bound=%.17g)",
         .per_deviation = 1.7320508075688772},
        {.name = "a liar with a decoy within the bound",
         .form = "decoy(bound=%.17g)",
         .per_deviation = 1.7320508075688772},
    };
    double least = .03 * sqrt((double)assault->people), most = 4 * (double)assault->moved;
    most = fmax(most, 10 * sqrt((double)assault->people));
    FILE *file;
    BRUME_TRY(brume_svg_open(path, &file, error)); /* before the work: a bad path is told at once */
    brume_progress progress;
    uint64_t done = 0;
    brume_status status = BRUME_OK;
    brume_progress_start(&progress, call, "drawing", (uint64_t)POINTS * CURVES);
    for (int i = 0; status == BRUME_OK && i < CURVES; i++)
        status = trace(assault, least, most, &curves[i], &progress, &done, error);
    brume_progress_end(&progress);
    if (status == BRUME_OK)
        draw(file, assault, least, most, curves);
    return brume_svg_close(file, path, status, error);
}
