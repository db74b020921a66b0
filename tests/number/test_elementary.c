/* The elementary functions of arrays against MPFR: every stated error, on points of all binades and
 * around the places where a reduction changes; every path gives the same bits; a table with one
 * number spoilt is found out. */
#include "check.h"

#include <mpfr.h>
#include <stdlib.h>

#include "number/elementary.h"
#include "number/elementary_body.h"

static const double unit = 0x1p-53;
static const brume_elementary_table good = BRUME_ELEMENTARY_TABLE;
static uint64_t state_of_noise = 0x9e3779b97f4a7c15u;

static uint64_t word(void)
{
    state_of_noise ^= state_of_noise << 13;
    state_of_noise ^= state_of_noise >> 7;
    state_of_noise ^= state_of_noise << 17;
    return state_of_noise;
}

static double uniform(double low, double high)
{
    return low + (high - low) * ((double)(word() >> 11) * 0x1p-53);
}

typedef void array_function(const double *x, double *out, size_t count);
typedef int reference(mpfr_t, const mpfr_t, mpfr_rnd_t);
typedef double one_value(double x, const brume_elementary_table *table);

static double exp_one(double x, const brume_elementary_table *t)
{
    return brume_exp_one(x, t);
}

static double expm1_one(double x, const brume_elementary_table *t)
{
    return brume_expm1_one(x, t);
}

static double log_one(double x, const brume_elementary_table *t)
{
    return brume_log_one(x, t);
}

static double log1p_one(double x, const brume_elementary_table *t)
{
    return brume_log1p_one(x, t);
}

static double sine_one(double x, const brume_elementary_table *t)
{
    double sine, cosine;
    brume_sincos_one(x, t, &sine, &cosine);
    return sine;
}

static double cosine_one(double x, const brume_elementary_table *t)
{
    double sine, cosine;
    brume_sincos_one(x, t, &sine, &cosine);
    return cosine;
}

typedef enum range { EXP, LOG, LOG1P, ANGLE } range;

typedef struct function {
    const char *name;
    reference *exact;
    one_value *one;
    range where;
    double relative, absolute; /* the stated errors: the larger of the two may not be passed */
    double never;              /* an absolute error that holds beside, in units */
} function;

static const function functions[] = {
    {"exp", mpfr_exp, exp_one, EXP, 2, 0, INFINITY},
    {"expm1", mpfr_expm1, expm1_one, EXP, 4, 0, INFINITY},
    {"log", mpfr_log, log_one, LOG, 3, 0, INFINITY},
    {"log1p", mpfr_log1p, log1p_one, LOG1P, 3, 0, INFINITY},
    {"sine", mpfr_sin, sine_one, ANGLE, 4, 0x1p-84, 2},
    {"cosine", mpfr_cos, cosine_one, ANGLE, 4, 0x1p-84, 2},
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

static bool inside(range where, double x)
{
    switch (where) {
    case EXP:
        return x <= BRUME_EXP_MOST;
    case LOG:
        return x >= BRUME_LOG_LEAST && x < INFINITY;
    case LOG1P:
        return x > -1 && x <= BRUME_LOG1P_MOST;
    default:
        return fabs(x) <= BRUME_SINCOS_MOST;
    }
}

/* A point of any binade; or where the function does most of its work; or next to where a reduction
 * changes its integer; or as near to a multiple of it as doubles come. */
static double point(range where)
{
    static const double angles[] = {M_PI_4, M_PI_2}, logs[] = {0.5 * M_LN2, M_LN2};
    uint64_t how = word() % 8, multiple = word() % (how < 4 ? 64 : 2000000);
    double x;
    if (how < 2) {
        x = ldexp(uniform(1, 2), (int)(word() % 2100) - 1076);
    } else if (how < 5) {
        x = where == ANGLE || where == EXP ? uniform(0, how == 2 ? 1 : 760) : exp(uniform(-5, 5));
        if (where == LOG1P)
            x -= 1;
    } else {
        const double *steps = where == ANGLE ? angles : logs;
        if (where == EXP)
            multiple %= 2170;
        x = (double)multiple * steps[word() % 2];
        if (where == LOG || where == LOG1P)
            x = ldexp(word() & 1 ? M_SQRT2 : 1, (int)(multiple % 120) - 60);
        for (uint64_t steps_away = word() % 4; steps_away > 0; steps_away--)
            x = nextafter(x, how == 5 ? INFINITY : 0);
        if (where == LOG1P)
            x -= 1;
    }
    return where == LOG || word() & 1 ? x : -x;
}

/* By how much f is off at x, over what is allowed. */
static double excess(const function *f, double x, double value, mpfr_t exact, mpfr_t argument)
{
    mpfr_set_d(argument, x, MPFR_RNDN);
    f->exact(exact, argument, MPFR_RNDN);
    double size = fabs(mpfr_get_d(exact, MPFR_RNDN));
    long up = size < 0x1p-900 ? 300 : 0; /* so that no error is lost to underflow */
    size = ldexp(size, (int)up);
    mpfr_sub_d(exact, exact, value, MPFR_RNDN);
    mpfr_mul_2si(exact, exact, up, MPFR_RNDN);
    double error = fabs(mpfr_get_d(exact, MPFR_RNDA)), allowed = f->relative * unit * size;
    if (f->one == exp_one && up)
        allowed += ldexp(1, (int)up - 1075);
    if (error > f->never * unit)
        return INFINITY;
    return error == 0 ? 0 : error / fmax(allowed, f->absolute);
}

/* The largest excess over many points. */
static double worst(const function *f, const brume_elementary_table *table, int points, double *at)
{
    mpfr_t exact, argument;
    mpfr_init2(exact, 200);
    mpfr_init2(argument, 53);
    double most = 0;
    for (int i = 0; i < points; i++) {
        double x = point(f->where);
        if (!inside(f->where, x))
            continue;
        double one = excess(f, x, f->one(x, table), exact, argument);
        if (!(one <= most)) {
            most = one;
            *at = x;
        }
    }
    mpfr_clears(exact, argument, (mpfr_ptr)NULL);
    return most;
}

static void every_error_is_within_what_is_stated(void **unused)
{
    (void)unused;
    for (int i = 0; i < FUNCTIONS; i++) {
        double at = 0, most = worst(&functions[i], &good, 60000, &at);
        if (!(most <= 1))
            fail_msg("%s(%a): %.3g of what is allowed", functions[i].name, at, most);
        assert_holds(most > 0.1); /* something was measured */
    }
}

static void a_spoilt_number_of_a_table_is_found(void **unused)
{
    (void)unused;
    struct {
        int function;
        size_t place;
        double factor;
    } mutants[] = {
        {0, offsetof(brume_elementary_table, power[11]), 0},
        {0, offsetof(brume_elementary_table, power[0]), 1 + 0x1p-48},
        {0, offsetof(brume_elementary_table, ln2_low), 1 + 0x1p-15},
        {1, offsetof(brume_elementary_table, power[10]), 0.95},
        {1, offsetof(brume_elementary_table, power[1]), 1 + 0x1p-42},
        {2, offsetof(brume_elementary_table, root[0]), 1 + 0x1p-44},
        {2, offsetof(brume_elementary_table, root[6]), 0.99},
        {3, offsetof(brume_elementary_table, root[7]), 0.9},
        {3, offsetof(brume_elementary_table, ln2_low), 1 + 0x1p-8},
        {4, offsetof(brume_elementary_table, sine[6]), 0.99},
        {4, offsetof(brume_elementary_table, quarter[2]), 1 + 0x1p-16},
        {5, offsetof(brume_elementary_table, cosine[6]), 0.5},
        {5, offsetof(brume_elementary_table, cosine[0]), 1 + 0x1p-46},
    };
    for (size_t i = 0; i < sizeof mutants / sizeof *mutants; i++) {
        brume_elementary_table spoilt = good;
        double at = 0;
        *(double *)(void *)((char *)&spoilt + mutants[i].place) *= mutants[i].factor;
        double most = worst(&functions[mutants[i].function], &spoilt, 20000, &at);
        if (!(most > 1))
            fail_msg("mutant %zu: %.3g of what is allowed", i, most);
    }
}

static bool same(double a, double b)
{
    return (isnan(a) && isnan(b)) || a == b;
}

/* Every path, on arrays of every length around the vectors' widths, against the code for one value
 * and, out of its range, libm. */
static void every_path_gives_the_same_bits(void **unused)
{
    (void)unused;
    enum { MOST = 1000 };
    double x[MOST], out[MOST], cosine[MOST];
    brume_vector_limit(2);
    for (int width = brume_vector_width(); width >= 0; width--) {
        brume_vector_limit(width);
        assert_int_equal(brume_vector_width(), width);
        array_function *const arrays[] = {brume_vector_exp, brume_vector_expm1, brume_vector_log,
                                          brume_vector_log1p};
        double (*const libm[])(double) = {exp, expm1, log, log1p, sin, cos};
        for (int i = 0; i < FUNCTIONS; i++) {
            const function *f = &functions[i];
            for (size_t length = 0; length < 40; length++) {
                size_t count = length < 39 ? length : MOST;
                for (size_t j = 0; j < count; j++)
                    x[j] = point(f->where);
                if (i < 4)
                    arrays[i](x, out, count);
                else if (i == 4)
                    brume_vector_sincos(x, out, cosine, count);
                else
                    brume_vector_sincos(x, cosine, out, count);
                for (size_t j = 0; j < count; j++) {
                    double expected = inside(f->where, x[j]) ? f->one(x[j], &good) : libm[i](x[j]);
                    if (!same(out[j], expected))
                        fail_msg("width %d: %s(%a): %a, expected %a", width, f->name, x[j], out[j],
                                 expected);
                }
            }
        }
    }
    brume_vector_limit(2);
}

static void edges_are_libms(void **unused)
{
    (void)unused;
    const double edges[] = {0,     -0.0,     0x1p-1074, -0x1p-1074, 0x1p-1022, 1,    -1,
                            -2,    INFINITY, -INFINITY, NAN,        709,       710,  -745.2,
                            -1000, -1e300,   1e300,     0x1p24,     0x1p25,    1e-8, -0x1p-54};
    enum { EDGES = sizeof edges / sizeof *edges };
    double out[EDGES], cosine[EDGES];
    struct {
        array_function *array;
        double (*libm)(double);
    } pairs[] = {{brume_vector_exp, exp},
                 {brume_vector_expm1, expm1},
                 {brume_vector_log, log},
                 {brume_vector_log1p, log1p}};
    for (int i = 0; i < 4; i++) {
        pairs[i].array(edges, out, EDGES);
        for (int j = 0; j < EDGES; j++) {
            double expected = pairs[i].libm(edges[j]);
            if (!same(out[j], expected) && !(fabs(out[j] - expected) <= 4 * unit * fabs(expected)))
                fail_msg("function %d at %a: %a, libm %a", i, edges[j], out[j], expected);
        }
    }
    brume_vector_sincos(edges, out, cosine, EDGES);
    for (int j = 0; j < EDGES; j++) {
        double s = sin(edges[j]), c = cos(edges[j]);
        assert_holds(same(out[j], s) || fabs(out[j] - s) <= 4 * unit * fabs(s));
        assert_holds(same(cosine[j], c) || fabs(cosine[j] - c) <= 4 * unit * fabs(c));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_error_is_within_what_is_stated),
        cmocka_unit_test(a_spoilt_number_of_a_table_is_found),
        cmocka_unit_test(every_path_gives_the_same_bits),
        cmocka_unit_test(edges_are_libms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
