/* Renyi divergence: curves of the known laws, and the way from a curve to (epsilon, delta).
 *
 * A curve gives for each order alpha > 1 an upper bound of D_alpha in both directions; curves of
 * independent or adaptively chosen releases add. Any order gives a valid conversion, so the search
 * for the best one may be careless; only the last evaluation, in balls, counts. */
#ifndef BRUME_ACCOUNTANT_RENYI_RENYI_H
#define BRUME_ACCOUNTANT_RENYI_RENYI_H

#include <stdbool.h>

#include <brume/account/compose.h>
#include <brume/account/cost.h>

/* Upper bound of D_alpha of one release given that it does not fail, rounded up: the best of its
 * loss law, its own curve, its rho and its pure epsilon. Infinite where none of them is there or
 * none is finite at this order. Requires alpha > 1. */
double brume_renyi_upper(const brume_cost *cost, double alpha);

/* Has the cost any of these? */
bool brume_renyi_known(const brume_cost *cost);

/* Upper bound of rho = sup over alpha of D_alpha / alpha, rounded up: the cost's own rho, or from
 * its law or pure epsilon; infinite where there is none. */
double brume_rho_upper(const brume_cost *cost);

/* About the same in doubles, with no bound of its error: to choose an order by. */
double brume_renyi_rough(const brume_cost *cost, double alpha);

/* A curve to be converted: `at` is an upper bound of D_alpha, infinity where it has none; `rough`,
 * if there is one, is near it and chooses the order. */
typedef struct brume_curve {
    double (*at)(const void *context, double alpha);
    const void *context;
    double (*rough)(const void *context, double alpha);
} brume_curve;

/* The curve of all these terms together; the list must outlive it. */
typedef struct brume_term_list {
    const brume_term *terms;
    size_t count;
} brume_term_list;
brume_curve brume_renyi_total(const brume_term_list *list);

/* epsilon = D + ln((alpha-1)/alpha) - (ln delta + ln alpha)/(alpha-1), least over alpha, at least 0
 * and rounded up. Infinite for delta <= 0.                             [CKS20, Prop 12] */
double brume_renyi_epsilon_upper(const brume_curve *curve, double delta);

/* delta = e^{(alpha-1)(D-epsilon)} (1-1/alpha)^alpha / (alpha-1), least over alpha, at most 1,
 * rounded up. */
double brume_renyi_delta_upper(const brume_curve *curve, double epsilon);

/* About the order at which the least epsilon of a delta (`of_delta`), or delta of an epsilon, is
 * found. */
double brume_renyi_best_order(const brume_curve *curve, double given, bool of_delta);

/* The same at one given order. */
double brume_renyi_epsilon_at_upper(double alpha, double divergence, double delta);
double brume_renyi_delta_at_upper(double alpha, double divergence, double epsilon);

/* rho-zCDP: the closed form rho + 2 sqrt(rho ln(1/delta)) [BS16, Prop 1.3], and the tight
 * conversions above applied to the line rho * alpha. */
double brume_concentrated_epsilon_closed_upper(double rho, double delta);
double brume_concentrated_delta_closed_upper(double rho, double epsilon);
double brume_concentrated_epsilon_upper(double rho, double delta);
double brume_concentrated_delta_upper(double rho, double epsilon);

/* --- the curves that costs carry, and the rho of a curve --- */

/* Renyi divergences of order alpha > 1, for brume_cost.renyi_upper. The law of the cost, or its
 * rho, says which. For alpha <= 1 they return the value at the next order above 1, which bounds it.
 */
double brume_renyi_pure_upper(const brume_cost *cost, double alpha); /* at most alpha rho too */
double brume_renyi_laplace_upper(const brume_cost *cost, double alpha);
double brume_renyi_discrete_laplace_upper(const brume_cost *cost, double alpha);
double brume_renyi_kary_upper(const brume_cost *cost, double alpha);
double brume_renyi_rho_upper(const brume_cost *cost, double alpha); /* alpha rho */

/* The curve of a Gaussian on a Poisson sample, law.a = sigma over sensitivity and law.rate; also
 * that of integer Gaussian noise, whose loss law is another: there the cost's `loss` is absent. */
double brume_renyi_sampled_gaussian_upper(const brume_cost *cost, double alpha);

/* For a group of law.shift records on such a sample, of whom any may come while the others go;
 * law.a and law.rate are those of one of them. Its work grows with the group. */
double brume_renyi_sampled_group_upper(const brume_cost *cost, double alpha);

/* The least rho of a cost that has a Renyi curve and a pure epsilon: an upper bound of
 * D_alpha/alpha over all alpha > 1, at most 2e-4 above it. Tens of curve evaluations. */
double brume_rho_of_renyi_upper(const brume_cost *cost);

#endif
