/* The same inputs and the same bits give the same integers on every machine: hashes of draws from a
 * seeded tape, recorded on x86-64. tools/arm64 runs this under another architecture.
 *
 * A hash goes over the draws and over how many words they took. A new hash means that draws are
 * made otherwise, which is allowed and not covered by a version (docs/stability.md): record it
 * here, after both architectures have given it. */
#include <brume/noise/gaussian.h>
#include <brume/noise/grid_noise.h>
#include <brume/noise/laplace.h>
#include <brume/noise/noise.h>
#include <brume/noise/primitive.h>
#include <brume/noise/randomized_response.h>
#include <brume/noise/release.h>
#include <brume/noise/select.h>

#include <inttypes.h>

#include "check.h"
#include "random/tape.h"

enum { DRAWS = 20000, SLOW_DRAWS = 1000 };

static int64_t drawn[DRAWS];
static brume_error error;

/* FNV-1a over the bytes, lowest first, so that it does not depend on how a machine stores them. */
static uint64_t hash_word(uint64_t hash, uint64_t word)
{
    for (int i = 0; i < 64; i += 8)
        hash = (hash ^ (word >> i & 0xff)) * UINT64_C(1099511628211);
    return hash;
}

static uint64_t hash_drawn(size_t count, const brume_bits *bits)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < count; i++)
        hash = hash_word(hash, (uint64_t)drawn[i]);
    hash = hash_word(hash, brume_tape_main_read(bits));
    return hash_word(hash, brume_tape_more_read(bits));
}

static void check(const char *what, uint64_t hash, uint64_t recorded)
{
    if (hash != recorded)
        fail_msg("%s: 0x%016" PRIx64 ", recorded 0x%016" PRIx64, what, hash, recorded);
}

typedef brume_status noise_opener(double width, brume_noise **out, brume_error *error);

static void noise_of_every_law_and_width(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        noise_opener *open;
        double width;
        uint64_t hash;
    } laws[] = {
        {"discrete Laplace", brume_noise_open_discrete_laplace, 0.3, UINT64_C(0x3b97613e22d72a86)},
        {"discrete Laplace", brume_noise_open_discrete_laplace, 11.547344110854548,
         UINT64_C(0xd5a83efbfce9ca6f)},
        {"discrete Laplace", brume_noise_open_discrete_laplace, 3e9, UINT64_C(0x70c39661379c19d5)},
        {"geometric", brume_noise_open_geometric, 7.5, UINT64_C(0x77f635ef5e9f16ae)},
        {"discrete Gaussian", brume_noise_open_discrete_gaussian, 0.4,
         UINT64_C(0x5379323e46684a93)},
        {"discrete Gaussian", brume_noise_open_discrete_gaussian, 42.246788906209794,
         UINT64_C(0x63883694b105218b)},
        {"discrete Gaussian", brume_noise_open_discrete_gaussian, 1e7,
         UINT64_C(0x0cbf04a267392cfb)},
        {"rounded Laplace", brume_noise_open_rounded_laplace, 0.7, UINT64_C(0x63e4b44949f2a295)},
        {"rounded Laplace", brume_noise_open_rounded_laplace, 577367.2055427275,
         UINT64_C(0x057a709c4e93d98c)},
        {"rounded Gaussian", brume_noise_open_rounded_gaussian, 0.9, UINT64_C(0xe8bff01acfd1fca1)},
        {"rounded Gaussian", brume_noise_open_rounded_gaussian, 123456.789,
         UINT64_C(0x58d115455972f96e)},
    };
    for (size_t i = 0; i < sizeof laws / sizeof *laws; i++) {
        brume_noise *noise = NULL;
        brume_bits *bits = brume_tape_open_seeded(100 + i);
        assert_ok(laws[i].open(laws[i].width, &noise, &error));
        assert_ok(brume_noise_fill(noise, bits, drawn, DRAWS, &error));
        check(laws[i].name, hash_drawn(DRAWS, bits), laws[i].hash);
        brume_noise_close(noise);
        brume_bits_close(bits);
    }
}

static void reals_rounded_to_a_grid(void **state)
{
    (void)state;
    static const struct {
        brume_grid_law law;
        double shape;
        uint64_t hash;
    } laws[] = {
        {BRUME_GRID_LAPLACE, 0, UINT64_C(0xf42b33bb2212c3c3)},
        {BRUME_GRID_GAUSSIAN, 0, UINT64_C(0x4266fd0ec8760888)},
        {BRUME_GRID_CAUCHY, 0, UINT64_C(0x1f31afdca88ea701)},
        {BRUME_GRID_STUDENT, 3.5, UINT64_C(0x2a2b4eef6cda3e9d)},
        {BRUME_GRID_LAPLACE_LOG_NORMAL, 0.75, UINT64_C(0x55854fc4d3e1ce6e)},
        {BRUME_GRID_GUMBEL, 0, UINT64_C(0x18dd331c889bd5ef)},
    };
    for (size_t i = 0; i < sizeof laws / sizeof *laws; i++) {
        brume_bits *bits = brume_tape_open_seeded(200 + i);
        for (size_t k = 0; k < SLOW_DRAWS; k++)
            assert_ok(brume_grid_noise(bits, laws[i].law, laws[i].shape, (double)k / 3, 1.7, -30,
                                       &drawn[k], &error));
        check("grid noise", hash_drawn(SLOW_DRAWS, bits), laws[i].hash);
        brume_bits_close(bits);
    }
}

static void coins_and_choices(void **state)
{
    (void)state;
    brume_bits *bits = brume_tape_open_seeded(300);
    for (size_t k = 0; k + 4 <= DRAWS; k += 4) {
        bool real, ratio;
        uint64_t below, moved;
        assert_ok(brume_sample_bernoulli_exp_real(bits, (double)k / 7919, &real, &error));
        assert_ok(brume_sample_bernoulli_exp(bits, k % 17, 11, &ratio, &error));
        assert_ok(brume_sample_below(bits, 1 + k * k, &below, &error));
        assert_ok(brume_randomized_response_noise(bits, 0.1 + (double)k / 9000, 5, &moved, &error));
        drawn[k] = real;
        drawn[k + 1] = ratio;
        drawn[k + 2] = (int64_t)below;
        drawn[k + 3] = (int64_t)moved;
    }
    check("coins", hash_drawn(DRAWS, bits), UINT64_C(0x70b5749377e2c978));
    brume_bits_close(bits);
    static const brume_select_noise noises[] = {BRUME_SELECT_GUMBEL, BRUME_SELECT_EXPONENTIAL,
                                                BRUME_SELECT_LAPLACE};
    static const uint64_t hashes[] = {UINT64_C(0xa656676df7a69208), UINT64_C(0x01d73fd4778be8b7),
                                      UINT64_C(0x5481f7d857bfc416)};
    for (size_t i = 0; i < 3; i++) {
        bits = brume_tape_open_seeded(310 + i);
        for (size_t k = 0; k < SLOW_DRAWS; k++) {
            const double scores[] = {0, 0.1 * (double)(k % 9), 1, 1.5, -3, 1e-3};
            size_t chosen;
            assert_ok(brume_select_noisy_max(bits, noises[i], 1.3, scores, 6, &chosen, &error));
            drawn[k] = (int64_t)chosen;
        }
        check("choices", hash_drawn(SLOW_DRAWS, bits), hashes[i]);
        brume_bits_close(bits);
    }
}

/* The bits of a double, since the noise that is drawn depends on all of them. */
static int64_t bits_of(double value)
{
    int64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static void widths_that_a_price_buys(void **state)
{
    (void)state;
    size_t used = 0;
    for (int k = 1; k <= 20; k++) {
        double epsilon = 0.07 * k, delta = pow(2, -10 - k), width;
        assert_ok(brume_laplace_scale(3, epsilon, &width, &error));
        drawn[used++] = bits_of(width);
        assert_ok(brume_gaussian_sigma(epsilon, delta, 3, &width, &error));
        drawn[used++] = bits_of(width);
        assert_ok(brume_discrete_gaussian_sigma(epsilon, delta, 3, &width, &error));
        drawn[used++] = bits_of(width);
        assert_ok(brume_gaussian_sigma_of_rho(epsilon, 3, &width, &error));
        drawn[used++] = bits_of(width);
    }
    brume_bits *none = brume_tape_open_seeded(0);
    check("widths", hash_drawn(used, none), UINT64_C(0x38b5108ba2159d50));
    brume_bits_close(none);
}

static void one_other_draw_gives_another_hash(void **state)
{
    (void)state;
    brume_bits *bits = brume_tape_open_seeded(1);
    uint64_t hash = hash_drawn(DRAWS, bits);
    drawn[DRAWS / 2] ^= 1;
    assert_true(hash_drawn(DRAWS, bits) != hash);
    drawn[DRAWS / 2] ^= 1;
    assert_true(hash_drawn(DRAWS, bits) == hash);
    brume_bits_close(bits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(noise_of_every_law_and_width),
        cmocka_unit_test(reals_rounded_to_a_grid),
        cmocka_unit_test(coins_and_choices),
        cmocka_unit_test(widths_that_a_price_buys),
        cmocka_unit_test(one_other_draw_gives_another_hash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
