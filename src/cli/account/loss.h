/* What `brume loss` shows, and its picture. */
#ifndef BRUME_CLI_LOSS_H
#define BRUME_CLI_LOSS_H

#include <brume/account/compose.h>
#include <brume/interval.h>

/* A loss variable: of terms, or of two typed distributions of `count` values. */
typedef struct brume_loss_source brume_loss_source;
struct brume_loss_source {
    const char *title;
    const brume_term *terms;
    double *p, *q;
    size_t count;
    bool differ;             /* the two directions do */
    double infinite_mass[2]; /* of each direction */
    brume_status (*moments)(const brume_loss_source *source, bool reversed, double *mean,
                            double *variance, brume_error *error);
    brume_status (*tail)(const brume_loss_source *source, bool reversed, double epsilon,
                         double goal, brume_interval *out, brume_error *error);
    brume_status (*renyi)(const brume_loss_source *source, bool reversed, double order, double *out,
                          brume_error *error);
};

/* Draw P[L > epsilon] and the divergences over their order, both directions, as SVG into a new
 * file. BRUME_EDISK, and the errors of the source. */
BRUME_MUST_USE brume_status brume_plot_loss(const char *path, const brume_loss_source *source,
                                            brume_error *error);

#endif
