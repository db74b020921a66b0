/* The certificate of the ziggurat's table: the inequalities that its proof uses
 * (proofs/discrete_gaussian.md), each by directed rounding, on the numbers as compiled. */
#include "sample/ziggurat.h"

#include <mpfr.h>

#include "check.h"

typedef struct shape {
    uint64_t floor[ZIGGURAT_LAYERS + 1], height[ZIGGURAT_LAYERS], area;
    double inner[ZIGGURAT_LAYERS];
} shape;

enum { BITS = 300 };

/* Is exp(-(num/den)^2 / 2) <= level / 2^grid (below), or >= (not below)? Certain answers only. */
static bool bell_is(bool below, mpfr_t x, uint64_t level)
{
    mpfr_t value;
    mpfr_init2(value, BITS);
    mpfr_sqr(value, x, below ? MPFR_RNDD : MPFR_RNDU);
    mpfr_div_si(value, value, -2, below ? MPFR_RNDU : MPFR_RNDD);
    mpfr_exp(value, value, below ? MPFR_RNDU : MPFR_RNDD);
    mpfr_mul_2si(value, value, ZIGGURAT_GRID_BITS, MPFR_RNDN);
    int order = mpfr_cmp_ui(value, level);
    mpfr_clear(value);
    return below ? order <= 0 : order >= 0;
}

/* The first clause that does not hold, 0 if all do. */
static int certify(const shape *s)
{
    mpfr_t x, edge, tail;
    mpfr_inits2(BITS, x, edge, tail, (mpfr_ptr)0);
    mpfr_set_d(edge, ZIGGURAT_EDGE, MPFR_RNDN);
    int failed = 0;
    for (int i = 0; i < ZIGGURAT_LAYERS && !failed; i++) {
        if (s->floor[i + 1] != s->floor[i] + s->height[i] || s->floor[0] != 0)
            failed = 6;
        mpfr_set_ui(x, s->area, MPFR_RNDN);
        mpfr_div_ui(x, x, s->height[i], MPFR_RNDD); /* width, rounded down */
        /* 1: a layer reaches at least to where the bell meets its floor */
        if (i >= 2 && !bell_is(true, x, s->floor[i]))
            failed = 1;
        if (i == 1 && mpfr_cmp(x, edge) < 0)
            failed = 1;
        /* 5: below the inner edge the bell is above the layer */
        mpfr_set_d(x, s->inner[i], MPFR_RNDN);
        if (s->inner[i] > 0 && !bell_is(false, x, s->floor[i + 1]))
            failed = 5;
        if (s->inner[i] < 0 || s->inner[i] > ZIGGURAT_EDGE)
            failed = 5;
    }
    /* 2: the tail's area is at least f(R)/R */
    mpfr_mul_ui(tail, edge, s->height[0], MPFR_RNDU);
    mpfr_ui_sub(tail, s->area, tail, MPFR_RNDD);
    mpfr_mul(tail, tail, edge, MPFR_RNDD);
    mpfr_mul_2si(tail, tail, -ZIGGURAT_GRID_BITS, MPFR_RNDN);
    mpfr_sqr(x, edge, MPFR_RNDD);
    mpfr_div_si(x, x, -2, MPFR_RNDU);
    mpfr_exp(x, x, MPFR_RNDU);
    if (!failed && mpfr_cmp(tail, x) < 0)
        failed = 2;
    /* 3: the layers reach the top */
    if (!failed && s->floor[ZIGGURAT_LAYERS] < UINT64_C(1) << ZIGGURAT_GRID_BITS)
        failed = 3;
    /* 4: f1 >= f(R): layers keep nothing beyond R, where the tail begins */
    if (!failed && !bell_is(true, edge, s->height[0]))
        failed = 4;
    mpfr_clears(x, edge, tail, (mpfr_ptr)0);
    return failed;
}

static shape compiled(void)
{
    shape s = {.area = ZIGGURAT_AREA};
    memcpy(s.floor, ziggurat_floor, sizeof s.floor);
    memcpy(s.height, ziggurat_height, sizeof s.height);
    memcpy(s.inner, ziggurat_inner, sizeof s.inner);
    return s;
}

static void the_table_covers_the_bell(void **state)
{
    (void)state;
    shape s = compiled();
    assert_int_equal(certify(&s), 0);
}

static void a_unit_off_anywhere_is_caught(void **state)
{
    (void)state;
    shape s = compiled();
    s.area--; /* every width shrinks */
    assert_int_not_equal(certify(&s), 0);
    for (int i = 1; i < ZIGGURAT_LAYERS; i++) { /* a layer one unit too high is too narrow */
        s = compiled();
        s.height[i]++;
        for (int j = i + 1; j <= ZIGGURAT_LAYERS; j++)
            s.floor[j]++;
        assert_int_not_equal(certify(&s), 0);
    }
    for (int i = 0; i < ZIGGURAT_LAYERS - 1; i++) { /* the next double is beyond the inner edge */
        s = compiled();
        s.inner[i] = nextafter(s.inner[i], 9);
        assert_int_equal(certify(&s), 5);
    }
    s = compiled(); /* f1 rounded down instead of up, the layers above it as high as before */
    s.height[0]--;
    s.height[1]++;
    s.floor[1]--;
    assert_int_not_equal(certify(&s), 0);
    s = compiled(); /* the last layer too thin to reach 1 */
    s.height[ZIGGURAT_LAYERS - 1] -= s.floor[ZIGGURAT_LAYERS] -
                                     (UINT64_C(1) << ZIGGURAT_GRID_BITS) + 1;
    s.floor[ZIGGURAT_LAYERS] = (UINT64_C(1) << ZIGGURAT_GRID_BITS) - 1;
    assert_int_equal(certify(&s), 3);
}

/* What is derived from the shape is derived rightly. */
static void derived_numbers_are_as_stated(void **state)
{
    (void)state;
    mpz_t z, w;
    mpfr_t x;
    mpz_inits(z, w, (mpz_ptr)0);
    mpfr_init2(x, BITS);
    assert_true(ZIGGURAT_EDGE * 0x1p48 == (double)ZIGGURAT_EDGE_SCALED);
    for (int i = 0; i < ZIGGURAT_LAYERS; i++) {
        mpz_set_ui(z, ZIGGURAT_AREA);
        mpz_mul_2exp(z, z, 126);
        mpz_fdiv_q_ui(z, z, ziggurat_height[i]);
        mpz_set_ui(w, ziggurat_width_fixed[i].high);
        mpz_mul_2exp(w, w, 64);
        mpz_add_ui(w, w, ziggurat_width_fixed[i].low);
        assert_int_equal(mpz_cmp(z, w), 0);
        mpfr_set_ui(x, ZIGGURAT_AREA, MPFR_RNDN);
        mpfr_div_ui(x, x, ziggurat_height[i], MPFR_RNDN);
        assert_true(mpfr_get_d(x, MPFR_RNDN) == ziggurat_width[i]);
        assert_holds(ziggurat_width[i] < 3.95);
        mpfr_set_d(x, ziggurat_inner[i], MPFR_RNDN);
        mpfr_mul_ui(x, x, ziggurat_height[i], MPFR_RNDN);
        mpfr_div_ui(x, x, ZIGGURAT_AREA, MPFR_RNDD);
        mpfr_mul_2si(x, x, 64, MPFR_RNDN);
        mpfr_get_z(z, x, MPFR_RNDD);
        assert_int_equal(mpz_cmp_ui(z, ziggurat_inside[i]), 0);
    }
    mpz_set_ui(z, ZIGGURAT_EDGE_SCALED);
    mpz_mul_ui(z, z, ziggurat_height[0]);
    mpz_mul_2exp(z, z, 128 - ZIGGURAT_EDGE_BITS);
    mpz_fdiv_q_ui(z, z, ZIGGURAT_AREA);
    mpz_set_ui(w, ziggurat_rectangle.high);
    mpz_mul_2exp(w, w, 64);
    mpz_add_ui(w, w, ziggurat_rectangle.low);
    assert_int_equal(mpz_cmp(z, w), 0);
    /* c = R (A - R f1), and c / f(R) */
    mpfr_set_d(x, ZIGGURAT_EDGE, MPFR_RNDN);
    mpfr_t f;
    mpfr_init2(f, BITS);
    mpfr_mul_ui(f, x, ziggurat_height[0], MPFR_RNDN);
    mpfr_ui_sub(f, ZIGGURAT_AREA, f, MPFR_RNDN);
    mpfr_mul(f, f, x, MPFR_RNDN);
    mpfr_mul_2si(f, f, -ZIGGURAT_GRID_BITS, MPFR_RNDN);
    assert_true(mpfr_get_d(f, MPFR_RNDN) == ZIGGURAT_TAIL_HEIGHT);
    mpfr_sqr(x, x, MPFR_RNDN);
    mpfr_div_ui(x, x, 2, MPFR_RNDN);
    mpfr_exp(x, x, MPFR_RNDN);
    mpfr_mul(f, f, x, MPFR_RNDN);
    assert_true(mpfr_get_d(f, MPFR_RNDN) == ZIGGURAT_TAIL_RATIO);
    mpfr_clears(x, f, (mpfr_ptr)0);
    mpz_clears(z, w, (mpz_ptr)0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_covers_the_bell),
        cmocka_unit_test(a_unit_off_anywhere_is_caught),
        cmocka_unit_test(derived_numbers_are_as_stated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
