/* What `brume loss` shows, and its picture. */
#ifndef BRUME_COMMAND_LOSS_H
#define BRUME_COMMAND_LOSS_H

#include <brume/account/compose.h>
#include <brume/interval.h>

#include "command/command.h"

/* A loss variable: of terms, or of two distributions of `count` values. */
typedef struct brume_loss_source brume_loss_source;
struct brume_loss_source {
    const char *title;
    const brume_term *terms;
    double *p, *q;
    size_t count;
    bool quadrature;         /* the values are points of an integral, no atoms */
    bool differ;             /* the two directions do */
    double infinite_mass[2]; /* of each direction */
    brume_status (*moments)(const brume_loss_source *source, bool reversed, double *mean,
                            double *variance, brume_error *error);
    brume_status (*tail)(const brume_loss_source *source, bool reversed, double epsilon,
                         double goal, brume_interval *out, brume_error *error);
    brume_status (*renyi)(const brume_loss_source *source, bool reversed, double order, double *out,
                          brume_error *error);
    /* The least delta at epsilon, where it is known here; or NULL. */
    double (*delta)(const brume_loss_source *source, bool reversed, double epsilon);
};

/* Of '--p' and '--q', or of '--lln', '--shift' and '--stretch'. The caller frees p and q, also
 * after an error. BRUME_EARGUMENT. */
BRUME_MUST_USE brume_status brume_loss_open_typed(const brume_call *call, brume_loss_source *source,
                                                  brume_error *error);

/* Draw P[L > epsilon] and the divergences over their order, both directions, as SVG into a new
 * file. BRUME_EDISK, and the errors of the source. */
BRUME_MUST_USE brume_status brume_plot_loss(const char *path, const brume_loss_source *source,
                                            brume_error *error);

#endif
