/* Prints the table of a ziggurat with dyadic heights and rational widths. The build runs it:
 * sample/ziggurat_table.h is its output for `ziggurat_table 256 60`, that of the tests with short
 * words (sample/ziggurat_small_table.h) for `ziggurat_table 4 12`. The tests compare digests of
 * both with those of the tables that were checked, and check the inequalities that the proof needs
 * (proofs/discrete_gaussian.md) on the printed numbers, so nothing here is trusted.
 *
 * f(t) = exp(-t^2/2). On the grid 2^-G: f1 = RU f(R), A = RU(R f1 + f(R)/R), F_1 = f1, and for
 * i >= 1 with x_1 = R, x_i = sqrt(-2 ln F_i): H_i = RD(A / x_i), F_(i+1) = F_i + H_i. Layer i is
 * [0, A/H_i] x [F_i, F_i + H_i); layer 0 is [0, R] x [0, f1] and the tail. R is the largest on its
 * grid for which F_n >= 1. */
#include <mpfr.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { PRECISION = 400, MOST_LAYERS = 256, EDGE_BITS = 48 };

static int layers, grid;
static mpz_t edge, area, floors[MOST_LAYERS + 1], heights[MOST_LAYERS];

/* value = exp(-x^2/2), in direction `round`. */
static void bell(mpfr_t value, const mpfr_t x, mpfr_rnd_t round)
{
    mpfr_sqr(value, x, round == MPFR_RNDU ? MPFR_RNDD : MPFR_RNDU);
    mpfr_div_2ui(value, value, 1, MPFR_RNDN);
    mpfr_neg(value, value, MPFR_RNDN);
    mpfr_exp(value, value, round);
}

/* Build for R = edge 2^-EDGE_BITS; true if F_n >= 1. */
static int build(void)
{
    mpfr_t r, f, t, x;
    mpfr_inits2(PRECISION, r, f, t, x, (mpfr_ptr)0);
    mpfr_set_z_2exp(r, edge, -EDGE_BITS, MPFR_RNDN);
    bell(f, r, MPFR_RNDU);
    mpfr_mul_2si(t, f, grid, MPFR_RNDU);
    mpfr_get_z(floors[1], t, MPFR_RNDU);
    mpz_set_ui(floors[0], 0);
    mpz_set(heights[0], floors[1]);
    mpfr_div(t, f, r, MPFR_RNDU);
    mpfr_mul_2si(t, t, grid, MPFR_RNDU);
    mpfr_mul_z(x, r, floors[1], MPFR_RNDU);
    mpfr_add(t, t, x, MPFR_RNDU);
    mpfr_get_z(area, t, MPFR_RNDU);
    int full = 0, i;
    mpfr_set(x, r, MPFR_RNDN);
    for (i = 1; i < layers && !full; i++) {
        mpfr_set_z_2exp(t, area, -grid, MPFR_RNDN);
        mpfr_div(t, t, x, MPFR_RNDD);
        mpfr_mul_2si(t, t, grid, MPFR_RNDD);
        mpfr_get_z(heights[i], t, MPFR_RNDD);
        mpz_add(floors[i + 1], floors[i], heights[i]);
        mpfr_set_z_2exp(t, floors[i + 1], -grid, MPFR_RNDN);
        full = mpfr_cmp_ui(t, 1) >= 0;
        if (!full) {
            mpfr_log(t, t, MPFR_RNDD); /* RD ln F: x is an upper bound */
            mpfr_mul_si(t, t, -2, MPFR_RNDU);
            mpfr_sqrt(x, t, MPFR_RNDU);
        }
    }
    mpfr_clears(r, f, t, x, (mpfr_ptr)0);
    return full && i == layers ? 1 : full ? 2 : 0; /* 2: full too early, R is too small */
}

/* The 128-bit number z < 2^128 as { high, low }. */
static void print_pair(const mpz_t z)
{
    mpz_t part;
    mpz_init(part);
    mpz_fdiv_q_2exp(part, z, 64);
    printf("{0x%016lxu, ", mpz_get_ui(part));
    mpz_fdiv_r_2exp(part, z, 64);
    printf("0x%016lxu}", mpz_get_ui(part));
    mpz_clear(part);
}

/* inner = RD of the x with exp(-x^2/2) = F_(i+1) (0 if that is >= 1), at most R. */
static void inner_edge(double *inner, int i)
{
    mpfr_t t, r;
    mpfr_inits2(PRECISION, t, r, (mpfr_ptr)0);
    mpfr_set_z_2exp(t, floors[i + 1], -grid, MPFR_RNDN);
    if (mpfr_cmp_ui(t, 1) >= 0) {
        *inner = 0;
    } else {
        mpfr_log(t, t, MPFR_RNDU); /* RU ln F: inner is a lower bound */
        mpfr_mul_si(t, t, -2, MPFR_RNDD);
        mpfr_sqrt(t, t, MPFR_RNDD);
        mpfr_set_z_2exp(r, edge, -EDGE_BITS, MPFR_RNDN);
        *inner = mpfr_get_d(mpfr_less_p(t, r) ? t : r, MPFR_RNDD);
    }
    mpfr_clears(t, r, (mpfr_ptr)0);
}

int main(int argc, char **argv)
{
    layers = argc > 1 ? atoi(argv[1]) : 256;
    grid = argc > 2 ? atoi(argv[2]) : 60;
    if (layers < 2 || layers > MOST_LAYERS || grid < 8 || grid > 60)
        return 2;
    mpz_inits(edge, area, (mpz_ptr)0);
    for (int i = 0; i < layers; i++)
        mpz_inits(floors[i], heights[i], (mpz_ptr)0);
    mpz_init(floors[layers]);

    mpz_t low, high, z;
    mpz_inits(low, high, z, (mpz_ptr)0);
    mpz_ui_pow_ui(low, 2, EDGE_BITS);
    mpz_mul_ui(high, low, 5);
    for (;;) { /* invariant: low is full, high is not */
        mpz_add(edge, low, high);
        mpz_fdiv_q_2exp(edge, edge, 1);
        if (mpz_cmp(edge, low) == 0)
            break;
        mpz_set(build() ? low : high, edge);
    }
    if (build() != 1)
        return 1;

    mpfr_t t;
    mpfr_init2(t, PRECISION);
    mpfr_set_z_2exp(t, edge, -EDGE_BITS, MPFR_RNDN);
    printf("/* Printed by tools/ziggurat_table.c with arguments %d %d; do not edit. */\n"
           "/* clang-format off */\n",
           layers, grid);
    printf("enum { ZIGGURAT_LAYERS = %d, ZIGGURAT_GRID_BITS = %d, ZIGGURAT_EDGE_BITS = %d };\n",
           layers, grid, EDGE_BITS);
    printf("#define ZIGGURAT_EDGE        %a /* R, exact */\n", mpfr_get_d(t, MPFR_RNDN));
    gmp_printf("#define ZIGGURAT_EDGE_SCALED %Zdu /* R 2^%d */\n", edge, EDGE_BITS);
    gmp_printf("#define ZIGGURAT_AREA        %Zdu /* A 2^%d */\n", area, grid);
    /* The tail's envelope over the curve at R: c / f(R), c = R (A - R f1), to nearest. */
    mpfr_t c, f;
    mpfr_inits2(PRECISION, c, f, (mpfr_ptr)0);
    mpfr_mul_z(c, t, floors[1], MPFR_RNDN);
    mpfr_z_sub(c, area, c, MPFR_RNDN);
    mpfr_mul(c, c, t, MPFR_RNDN);
    mpfr_mul_2si(c, c, -grid, MPFR_RNDN);
    bell(f, t, MPFR_RNDN);
    printf("#define ZIGGURAT_TAIL_HEIGHT %a /* c = R (A - R f1), nearest */\n",
           mpfr_get_d(c, MPFR_RNDN));
    mpfr_div(c, c, f, MPFR_RNDN);
    printf("#define ZIGGURAT_TAIL_RATIO  %a /* c / f(R), nearest */\n", mpfr_get_d(c, MPFR_RNDN));
    /* R f1 / A as a fraction of 2^128, rounded down. */
    mpz_mul(z, edge, floors[1]);
    mpz_mul_2exp(z, z, 128 - EDGE_BITS);
    mpz_fdiv_q(z, z, area);
    printf("/* Share of layer 0 that is its rectangle, R f1 / A, times 2^128, rounded down. */\n"
           "static const struct ziggurat_fixed ziggurat_rectangle = ");
    print_pair(z);
    printf(";\n/* F_i 2^%d, exact. */\nstatic const uint64_t ziggurat_floor[%d] = {\n", grid,
           layers + 1);
    for (int i = 0; i <= layers; i++)
        gmp_printf("    %Zdu,\n", floors[i]);
    printf("};\n/* H_i 2^%d, exact. */\nstatic const uint64_t ziggurat_height[%d] = {\n", grid,
           layers);
    for (int i = 0; i < layers; i++)
        gmp_printf("    %Zdu,\n", heights[i]);
    printf("};\n/* A / H_i, to nearest. */\nstatic const double ziggurat_width[%d] = {\n", layers);
    for (int i = 0; i < layers; i++) {
        mpfr_set_z(t, area, MPFR_RNDN);
        mpfr_div_z(t, t, heights[i], MPFR_RNDN);
        printf("    %a,\n", mpfr_get_d(t, MPFR_RNDN));
    }
    printf("};\n/* A / H_i times 2^126, rounded down. */\n"
           "static const struct ziggurat_fixed ziggurat_width_fixed[%d] = {\n",
           layers);
    for (int i = 0; i < layers; i++) {
        mpz_mul_2exp(z, area, 126);
        mpz_fdiv_q(z, z, heights[i]);
        printf("    ");
        print_pair(z);
        printf(",\n");
    }
    printf("};\n/* Rounded down: exp(-inner^2/2) >= F_(i+1), inner <= R. */\n"
           "static const double ziggurat_inner[%d] = {\n",
           layers);
    for (int i = 0; i < layers; i++) {
        double inner;
        inner_edge(&inner, i);
        printf("    %a,\n", inner);
    }
    printf(
        "};\n/* inner_i H_i / A times 2^64, rounded down: the share of the layer below its inner edge. */\n"
        "static const uint64_t ziggurat_inside[%d] = {\n",
        layers);
    for (int i = 0; i < layers; i++) {
        double inner;
        inner_edge(&inner, i);
        mpfr_set_d(t, inner, MPFR_RNDN);
        mpfr_mul_z(t, t, heights[i], MPFR_RNDD);
        mpfr_div_z(t, t, area, MPFR_RNDD);
        mpfr_mul_2si(t, t, 64, MPFR_RNDD);
        mpfr_get_z(z, t, MPFR_RNDD);
        gmp_printf("    %Zdu,\n", z);
    }
    printf("};\n");
    mpfr_clears(t, c, f, (mpfr_ptr)0);
    mpz_clears(low, high, z, edge, area, (mpz_ptr)0);
    for (int i = 0; i < layers; i++)
        mpz_clears(floors[i], heights[i], (mpz_ptr)0);
    mpz_clear(floors[layers]);
    mpfr_free_cache();
    return fflush(stdout) == 0 ? 0 : 1;
}
