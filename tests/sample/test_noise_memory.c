/* Drawing allocates nothing: malloc and its kin are counted, also those of libcrypto.
 *
 * The one draw in 2^45/scale that MPFR must decide does allocate; the fixed tape has none. */
#include "check.h"

#include <stdbool.h>
#include <stdlib.h>

#include <brume/noise/noise.h>

#include "random/tape.h"

/* glibc's own, under the names it exports for replacements */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);

#if defined(__SANITIZE_ADDRESS__)
static const bool counting_works = false;
static size_t allocations;
#else
static const bool counting_works = true;
static volatile size_t allocations;

void *malloc(size_t size)
{
    allocations++;
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    allocations++;
    return __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
    allocations++;
    return __libc_realloc(memory, size);
}
#endif

enum { N = 1000000 };

static int64_t values[N];

static void the_secure_source_allocates_nothing(void **state)
{
    (void)state;
    brume_error error;
    brume_bits *bits = NULL;
    size_t before = allocations;
    assert_ok(brume_bits_open(&bits, &error));
    if (counting_works)
        assert_true(allocations > before); /* opening does: the count works */
    before = allocations;
    for (int i = 0; i < 3; i++) /* 24 MB: several mixings */
        assert_ok(brume_bits_words(bits, (uint64_t *)values, N, &error));
    assert_int_equal(allocations, before);
    brume_bits_close(bits);
}

/* The last tier of the Gaussians allocates; up to sigma = 2^20 a draw in 10^8 reaches it. */
static void gaussian_draws_and_fills_allocate_nothing(void **state)
{
    (void)state;
    brume_error error;
    const double sigmas[] = {0.3, 10, 1000, 0x1p20};
    for (int law = 0; law < 2; law++)
        for (int i = 0; i < 4; i++) {
            brume_noise *noise = NULL;
            assert_ok(law == 0 ? brume_noise_open_discrete_gaussian(sigmas[i], &noise, &error)
                               : brume_noise_open_rounded_gaussian(sigmas[i], &noise, &error));
            brume_bits *tape = brume_tape_open_seeded(11);
            size_t before = allocations;
            assert_ok(brume_noise_fill(noise, tape, values, N, &error));
            for (int j = 0; j < 1000; j++)
                assert_ok(brume_noise_draw(noise, tape, values, &error));
            assert_int_equal(allocations, before);
            brume_bits_close(tape);
            brume_noise_close(noise);
        }
}

static void draws_fills_and_sums_allocate_nothing(void **state)
{
    (void)state;
    brume_error error;
    const double scales[] = {0.3, 10, 1000, 0x1p40};
    for (int law = 0; law < 3; law++)
        for (int i = 0; i < 4; i++) {
            brume_noise *noise = NULL;
            if (law == 0)
                assert_ok(brume_noise_open_geometric(scales[i], &noise, &error));
            else if (law == 1)
                assert_ok(brume_noise_open_discrete_laplace(scales[i], &noise, &error));
            else
                assert_ok(brume_noise_open_rounded_laplace(scales[i], &noise, &error));
            brume_bits *tape = brume_tape_open_seeded(11);
            size_t before = allocations;
            assert_ok(brume_noise_fill(noise, tape, values, N, &error));
            assert_ok(brume_noise_add(noise, tape, values, values, N, &error));
            for (int j = 0; j < 1000; j++)
                assert_ok(brume_noise_draw(noise, tape, values, &error));
            assert_int_equal(allocations, before);
            brume_bits_close(tape);
            brume_noise_close(noise);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_secure_source_allocates_nothing),
        cmocka_unit_test(draws_fills_and_sums_allocate_nothing),
        cmocka_unit_test(gaussian_draws_and_fills_allocate_nothing),
    };
    return cmocka_run_group_tests_name("noise_memory", tests, NULL, NULL);
}
