/* The law of a privacy loss: one interface, one file for each family of laws.
 *
 * L is the loss of one release, phi(s) = E exp(s L). On the line s = c + iy everything is relative
 * to the real point: psi(y) = phi(c + iy) / phi(c), |psi| <= 1, and log phi(c) is kept apart, in
 * long doubles. So n log psi(y) loses nothing where psi is near 1, however large n is.
 *
 * Every number comes with a bound of its error. The bounds cover rounding, libm within 2 units in
 * the last place, and parameters known to 8 units of 2^-53. The inequalities are in
 * proofs/accountant/law.md, sections law.1 and law.2. */
#ifndef BRUME_ACCOUNTANT_LAW_LAW_H
#define BRUME_ACCOUNTANT_LAW_LAW_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include <brume/account/cost.h>
#include <brume/status.h>

#define BRUME_UNIT 0x1p-53

typedef struct brume_law brume_law;

/* log psi at one node, per draw. */
typedef struct brume_log_psi {
    double re, im;
    double error;   /* |error of re + i im| <= error; only if error <= 1/2 */
    double ceiling; /* log |psi| <= ceiling, always */
} brume_log_psi;

/* Masses q_0, q_1, .. of the losses centre + unit (half - j), unit the law's. */
typedef struct brume_masses {
    double *mass;
    size_t count;
    double draws;  /* so many draws together: one, or all of the law's */
    double half;   /* half the number of steps from the largest loss to its mirror image */
    double centre; /* as the law's, for these draws */
    double missed; /* a bound of the mass that was left out */
    double error;  /* relative, of every mass; of n draws n times as much */
    double shared; /* the same, but as much for n draws as for one */
} brume_masses;

enum { BRUME_PSI_BLOCK = 32 }; /* most places of psi_block */

/* What a family of laws provides. The functions below check nothing more and call these. */
typedef struct brume_law_family {
    const char *name;
    /* As brume_law_cumulant. */
    long double (*cumulant)(brume_law *law, double c, double *slope, double *error);
    /* Prepare for the line law->c; false if memory ran out. NULL: there is nothing to prepare. */
    bool (*settle)(brume_law *law);
    /* As brume_law_node. */
    brume_log_psi (*node)(brume_law *law, long index, double h);
    /* psi itself, not its logarithm, at some places y >= 0: off by at most error[j]. For lines of
     * many nodes. NULL: there is no quick way. */
    void (*psi_block)(const brume_law *law, const double *y, size_t count, double *re, double *im,
                      double *error);
    /* As brume_law_envelope. */
    double (*envelope)(brume_law *law, double low, double high);
    /* The masses of a law on a lattice; exp(-depth) may be left out. False if that is too much or
     * if memory ran out. NULL: the losses are not atoms, or too many. */
    bool (*masses)(const brume_law *law, double depth, brume_masses *out);
    /* About how many nanoseconds a node takes. NULL: few, as it does not sum over a table. */
    double (*node_cost)(const brume_law *law);
    /* Free what `state` owns, but not `state` itself. NULL: it owns nothing. */
    void (*close)(brume_law *law);
} brume_law_family;

struct brume_law {
    const brume_law_family *family;
    brume_loss source;     /* what it was opened from; kind NONE for a table of atoms */
    double count;          /* of draws */
    double a, rate, shift; /* the parameters of `source` */
    uint64_t come;         /* of a Poisson sample: how many records come, while the rest leave */
    bool reversed;         /* ... of one record: the order (Q, P), it comes */
    bool orders_differ;    /* the two orders of the pair have different laws */
    uint64_t members;      /* where orders differ: of so many records any number may come */
    double lost;           /* mass at +infinity, beside these losses: what one draw may cut off */

    double unit; /* all losses lie in centre + unit * (Z + half/2); 0 if in no lattice */
    bool half;
    bool unit_is_rounded; /* the unit is no parameter: two that look equal need not be */
    double multiple;      /* the unit is this many times the unit of a lattice shared with others */
    long double centre;   /* psi is of L - centre: nodes leave out the phase e^{iy centre} */
    double centre_error;

    bool bounded;             /* the loss has a largest value */
    double top, log_top_mass; /* that value and the log of its probability (may be -infinity) */

    double c, tilt; /* the line it is settled on, and c + 1/2; c = -1: none yet */
    void *state;    /* of the family */
};

/* A law from its public description, `count` draws of it. `come` chooses the order of the pair
 * where it matters: so many records come and the others leave. Errors: BRUME_EARGUMENT for
 * parameters out of range, BRUME_EUNSUPPORTED, BRUME_EMEMORY. A law may be copied to be read, but
 * only one copy may be settled and closed. */
BRUME_MUST_USE brume_status brume_law_open(const brume_loss *loss, double count, uint64_t come,
                                           brume_law *out, brume_error *error);

/* A law from a table of atoms (log masses), which is copied. */
BRUME_MUST_USE brume_status brume_law_open_table(const double *loss, const double *log_mass,
                                                 size_t atoms, double mass_error, double count,
                                                 brume_law *out, brume_error *error);

void brume_law_close(brume_law *law);

/* log phi(c), and its derivative if asked, for c > 0. *error bounds the error of the value. With
 * `error` NULL the value may be computed faster: to some 1e-12 of 1 + |value| + c * (largest loss),
 * which is enough to choose a line by. */
long double brume_law_cumulant(brume_law *law, double c, double *slope, double *error);

/* Prepare for the line Re s = c; c and c + 1/2 are exact doubles. False if memory ran out. */
BRUME_MUST_USE bool brume_law_settle(brume_law *law, double c);

/* log psi at y = index * h, without the factor e^{iy centre}; call settle first. */
brume_log_psi brume_law_node(brume_law *law, long index, double h);

/* A bound of log |psi| over [low, high]; high may be infinite. */
double brume_law_envelope(brume_law *law, double low, double high);

/* About how many nanoseconds a node takes. */
double brume_law_node_cost(const brume_law *law);

/* Does a node sum over a table? */
static inline bool brume_law_is_expensive(const brume_law *law)
{
    return law->family->node_cost != NULL;
}

/* The routes that are made for one family ask for it. */
bool brume_law_is_gaussian(const brume_law *law);
bool brume_law_is_laplace(const brume_law *law);
bool brume_law_is_sampled_gaussian(const brume_law *law);

/* The largest loss of all draws together and the log of its probability; false if unbounded. Both
 * carry a relative error of at most (12 + count of laws) units. */
bool brume_top_atom(const brume_law *laws, size_t count, double *top, double *log_mass);

/* A parameter moved by a little more than its 8 units. */
static inline double brume_parameter_moved(double parameter, int direction)
{
    return parameter * (1 + direction * 0x1.2p-50); /* 9 units, of which rounding takes one */
}
/* Refuse (BRUME_EARGUMENT) a stated number that no release can have: a negative or undefined
 * epsilon, rho or law, a probability outside [0, 1], a shift of nothing. What is absent is not
 * looked at, and infinity is allowed: it says nothing, and that is sound. */
BRUME_MUST_USE brume_status brume_cost_check(const brume_cost *cost, brume_error *error);

#endif
