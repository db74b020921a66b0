/* Every number of an answer has noise of its own. The bits are those of a seeded tape, and what is
 * drawn is compared with what the sampler draws from the same bits: exactly. */
#include "check.h"

#include <stdlib.h>

#include <brume/noise/noise.h>

#include "ask_json.h"
#include "query/release/draw.h"
#include "random/tape.h"
#include "registered.h"

static brume_error error;

static brume_noise *open_noise(brume_noise_kind kind, double scale)
{
    brume_noise *noise = NULL;
    if (kind == BRUME_NOISE_DISCRETE_LAPLACE)
        assert_ok(brume_noise_open_discrete_laplace(scale, &noise, &error));
    else if (kind == BRUME_NOISE_ROUNDED_GAUSSIAN)
        assert_ok(brume_noise_open_rounded_gaussian(scale, &noise, &error));
    else
        assert_ok(brume_noise_open_discrete_gaussian(scale, &noise, &error));
    return noise;
}

/* Rejects: one draw for all counts; a sum written to another count's place; another kind or scale
 * of noise. */
static void counts_get_the_samplers_noise_each_its_own(void **state)
{
    (void)state;
    enum { N = 300 };
    static const brume_noise_kind kinds[] = {
        BRUME_NOISE_DISCRETE_LAPLACE, BRUME_NOISE_ROUNDED_GAUSSIAN, BRUME_NOISE_DISCRETE_GAUSSIAN};
    static const double scales[] = {1, 7.5, 1e6};
    for (size_t k = 0; k < 3; k++)
        for (size_t s = 0; s < 3; s++) {
            int64_t counts[N], draws[N];
            double noisy[N];
            brume_bits *one = brume_tape_open_seeded(s), *other = brume_tape_open_seeded(s);
            brume_noise *noise = open_noise(kinds[k], scales[s]);
            for (int i = 0; i < N; i++)
                counts[i] = 1000 * i;
            assert_ok(brume_draw_counts(kinds[k], scales[s], counts, N, one, noisy, &error));
            assert_ok(brume_noise_fill(noise, other, draws, N, &error));
            for (int i = 0; i < N; i++)
                assert_true(noisy[i] == (double)(counts[i] + draws[i]));
            brume_noise_close(noise);
            brume_bits_close(one);
            brume_bits_close(other);
        }
}

enum { WARDS = 40 };

/* Ward i of 40 has 100 i rows of the age i, each row a unit's. */
static void open_wards(registered *all, brume_rule rule, uint64_t seed)
{
    registered_terms terms = {"t", rule, "1000", rule == BRUME_RULE_PURE ? NULL : "0.1",
                              BRUME_ADD_REMOVE};
    char names[WARDS][8];
    const char *domain[WARDS];
    FILE *file = registered_begin(all);
    fputs("ward,age\n", file);
    for (int i = 0; i < WARDS; i++) {
        snprintf(names[i], sizeof names[i], "w%02d", i);
        domain[i] = names[i];
        for (int row = 0; row < 100 * i; row++)
            fprintf(file, "w%02d,%d\n", i, i);
    }
    registered_open(all, file, seed);
    brume_policy *policy = registered_file(all->csv, "age bigint");
    assert_ok(brume_policy_set_bounds(policy, "age", "0", "100", &error));
    assert_ok(brume_policy_set_domain(policy, "ward", domain, WARDS, &error));
    registered_enter(all->ledger, policy, &terms);
}

static double scale_of(const json_t *answer, size_t measure)
{
    const json_t *event = json_array_get(json_object_get(answer, "events"), measure);
    const json_t *scale = json_object_get(event, "scale");
    return json_number_value(scale ? scale : json_object_get(event, "sigma"));
}

/* Rejects: one draw for all groups, or one for all measures; numbers that are shown without noise.
 */
static void groups_and_measures_get_the_samplers_noise_each_its_own(void **state)
{
    (void)state;
    static const struct {
        brume_rule rule;
        const char *delta;
        brume_noise_kind kind;
    } cases[] = {{BRUME_RULE_PURE, NULL, BRUME_NOISE_DISCRETE_LAPLACE},
                 {BRUME_RULE_CONCENTRATED, NULL, BRUME_NOISE_DISCRETE_GAUSSIAN}};
    for (size_t c = 0; c < 2; c++) {
        registered all;
        open_wards(&all, cases[c].rule, 40 + c);
        brume_bits *same = brume_tape_open_seeded(40 + c);
        brume_payment payment = {.epsilon = "0.5", .delta = cases[c].delta};
        json_t *answer = NULL;
        assert_ok(ask_json(all.ledger, "SELECT ward, COUNT(*), SUM(age) FROM t GROUP BY ward",
                           &payment, NULL, all.bits, NULL, &answer, &error));
        const json_t *rows = json_object_get(answer, "rows");
        int64_t counts[WARDS], sums[WARDS];
        brume_noise *of_counts = open_noise(cases[c].kind, scale_of(answer, 0));
        brume_noise *of_sums = open_noise(cases[c].kind, scale_of(answer, 1));
        assert_ok(brume_noise_fill(of_counts, same, counts, WARDS, &error));
        assert_ok(brume_noise_fill(of_sums, same, sums, WARDS, &error));
        size_t compared = 0;
        for (size_t i = 5; i < WARDS; i++) { /* far from 0, where answers end */
            const json_t *row = json_array_get(rows, i);
            double count = json_number_value(json_array_get(row, 1));
            double sum = json_number_value(json_array_get(row, 2));
            assert_holds(count == (double)(100 * (int64_t)i + counts[i]));
            assert_holds(sum == (double)(100 * (int64_t)(i * i) + sums[i]));
            compared++;
        }
        assert_int_equal(compared, WARDS - 5);
        brume_noise_close(of_counts);
        brume_noise_close(of_sums);
        json_decref(answer);
        brume_bits_close(same);
        registered_close(&all);
    }
}

/* Rejects: the noisy units of one value taken for those of all. */
static void the_mode_is_the_value_of_most_units_whatever_stands_first(void **state)
{
    (void)state;
    static const registered_terms terms = {"t", BRUME_RULE_APPROXIMATE, "1000", "0.1",
                                           BRUME_ADD_REMOVE};
    static const int units[] = {1, 300, 700, 400, 2};
    registered all;
    FILE *file = registered_begin(&all);
    fputs("person,drug\n", file);
    for (int value = 0, person = 0; value < 5; value++)
        for (int i = 0; i < units[value]; i++)
            fprintf(file, "p%d,%c\n", person++, "abcde"[value]);
    registered_open(&all, file, 50);
    brume_policy *policy = registered_file(all.csv, "drug text");
    assert_ok(brume_policy_set_unit(policy, "person", &error));
    policy->max_rows = 1;
    registered_enter(all.ledger, policy, &terms);
    brume_payment payment = {.epsilon = "2", .delta = "1e-9"};
    json_t *answer = NULL;
    assert_ok(ask_json(all.ledger, "SELECT MODE() WITHIN GROUP (ORDER BY drug) FROM t", &payment,
                       NULL, all.bits, NULL, &answer, &error));
    const json_t *row = json_array_get(json_object_get(answer, "rows"), 0);
    assert_string_equal(json_string_value(json_array_get(row, 0)), "c");
    json_decref(answer);
    registered_close(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_get_the_samplers_noise_each_its_own),
        cmocka_unit_test(groups_and_measures_get_the_samplers_noise_each_its_own),
        cmocka_unit_test(the_mode_is_the_value_of_most_units_whatever_stands_first),
    };
    return cmocka_run_group_tests_name("draws of answers", tests, NULL, NULL);
}
