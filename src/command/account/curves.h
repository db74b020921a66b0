/* The picture of `brume account --plot`. */
#ifndef BRUME_COMMAND_CURVES_H
#define BRUME_COMMAND_CURVES_H

#include <brume/account/account.h>

/* Draw the privacy profile and the trade-off curve of all terms together, and of each alone where
 * there are several (at most six), as SVG into a new file. `terms` belong to the events of
 * `expression`. Upper ends of the profile, lower ends of the trade-off curve: what may be claimed.
 * Errors: BRUME_EDISK, and those of accounting. */
BRUME_MUST_USE brume_status brume_plot_curves(const char *path, const char *title,
                                              const brume_expression *expression,
                                              const brume_term *terms, brume_error *error);

#endif
