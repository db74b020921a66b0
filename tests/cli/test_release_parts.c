/* What the parts of a release share: by enumeration. */
#include "check.h"

#include <math.h>

#include "query/statistic/release.h"

/* All pairs of values of a range, centred as releases centre them. Rejects: a share that a pair
 * exceeds, and one that is above what a fine range reaches. */
static void a_replaced_value_moves_sum_and_squares_by_no_more_than_their_share(void **state)
{
    (void)state;
    double reached = 0;
    for (int64_t range = 1; range <= 128; range++) {
        int64_t centre = range / 2, reach = range - centre;
        double share = brume_release_moments_share_up(range, reach), most = 0;
        for (int64_t x = -centre; x <= reach; x++)
            for (int64_t y = -centre; y <= reach; y++)
                most = fmax(most, fabs((double)(x - y)) / (double)range +
                                      fabs((double)(x * x - y * y)) / (double)(reach * reach));
        assert_holds(most <= share && share <= 2);
        reached = most / share;
    }
    assert_holds(reached > 0.9999);
    assert_true(brume_release_moments_share_up(1 << 20, 1 << 19) == 1.5625);
    assert_true(brume_release_moments_share_up(1, 1) == 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_replaced_value_moves_sum_and_squares_by_no_more_than_their_share),
    };
    return cmocka_run_group_tests_name("parts of releases", tests, NULL, NULL);
}
