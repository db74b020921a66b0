/* Thousands of random mixtures against independent sums. With arguments: that many lattice
 * mixtures, that many continuous ones, from that seed (`./run audit`). */
#include "check.h"

#include <stdlib.h>

#include "accountant/random_mixture.h"

static uint64_t seed = 100;
static unsigned lattice_count = 2000, continuous_count = 150;

static void lattice_mixtures_never_miss_the_truth(void **state)
{
    (void)state;
    mixture_report report = check_lattice_mixtures(seed, lattice_count);
    print_message("# %u checked, %u wider than asked, widest %.2g\n", report.checked, report.wide,
                  report.widest);
    assert_int_equal(report.outside, 0);
    assert_int_equal(report.contradictory, 0);
    assert_true(report.checked >= lattice_count);
    assert_true(report.wide <= report.checked / 50);
}

static void continuous_mixtures_never_miss_the_truth(void **state)
{
    (void)state;
    mixture_report report = check_continuous_mixtures(seed + 1, continuous_count);
    print_message("# %u checked, %u wider than asked, widest %.2g\n", report.checked, report.wide,
                  report.widest);
    assert_int_equal(report.outside, 0);
    assert_int_equal(report.contradictory, 0);
    assert_int_equal(report.wide, 0);
}

int main(int argc, char **argv)
{
    if (argc == 4) {
        lattice_count = (unsigned)strtoul(argv[1], NULL, 10);
        continuous_count = (unsigned)strtoul(argv[2], NULL, 10);
        seed = strtoull(argv[3], NULL, 10);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lattice_mixtures_never_miss_the_truth),
        cmocka_unit_test(continuous_mixtures_never_miss_the_truth),
    };
    return cmocka_run_group_tests_name("accountant mixtures", tests, NULL, NULL);
}
