/* Counting keys, and the sort under everything. */
#include "check.h"

#include <stdlib.h>

#include <brume/statistic/key_count.h>

#include "base/sort.h"
#include "sequence.h"

static uint64_t seed = 1;

static uint64_t draw(void)
{
    return sequence_next(&seed) >> 20;
}

static int ascending(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;
    return *a < *b ? -1 : *a > *b;
}

/* From -2^(63 - narrow) to 2^(63 - narrow) - 1. */
static int64_t random_integer(int narrow)
{
    return (int64_t)(draw() << 40 ^ draw() << 20 ^ draw()) >> narrow;
}

static void integers_sort_like_the_standard_sort(void **state)
{
    (void)state;
    brume_error error;
    for (int trial = 0; trial < 200; trial++) {
        size_t n = draw() % 3000;
        int64_t low = INT64_MIN >> (trial % 64), high = -(low + 1);
        int64_t *a = calloc(n + 1, sizeof *a), *b = calloc(n + 1, sizeof *b);
        for (size_t i = 0; i < n; i++)
            a[i] = b[i] = random_integer(trial % 64);
        assert_ok(brume_sort_integers(a, n, low, high, &error));
        qsort(b, n, sizeof *b, ascending);
        assert_memory_equal(a, b, n * sizeof *a);
        free(a);
        free(b);
    }
}

static void companions_go_with_their_integers(void **state)
{
    (void)state;
    brume_error error;
    for (int trial = 0; trial < 200; trial++) {
        size_t n = trial < 100 ? (size_t)trial : draw() % 3000; /* short ones sort otherwise */
        int64_t low = INT64_MIN >> (trial % 64), high = -(low + 1);
        int64_t *a = calloc(n + 1, sizeof *a), *b = calloc(n + 1, sizeof *b);
        uint32_t *from = calloc(n + 1, sizeof *from);
        for (size_t i = 0; i < n; i++) {
            a[i] = b[i] = random_integer(trial % 64);
            from[i] = (uint32_t)i;
        }
        assert_ok(brume_sort_with(a, from, n, low, high, &error));
        for (size_t i = 0; i < n; i++) {
            assert_true(from[i] < n && a[i] == b[from[i]]);
            assert_true(i == 0 || a[i - 1] < a[i] || (a[i - 1] == a[i] && from[i - 1] < from[i]));
        }
        free(a);
        free(b);
        free(from);
    }
}

static void keys_of_any_bytes_and_length_are_counted_and_sorted(void **state)
{
    (void)state;
    brume_error error;
    brume_key_count *keys = NULL;
    assert_ok(brume_key_count_open(&keys, &error));
    enum { DISTINCT = 3000, LONGEST = 90 }; /* some do not fit into an entry */
    static char text[DISTINCT][LONGEST];
    static size_t length[DISTINCT];
    static uint64_t count[DISTINCT];
    for (int i = 0; i < DISTINCT; i++) {
        /* Different by construction: a number, then filler with zero bytes in it. */
        length[i] = 3 + draw() % (LONGEST - 3);
        memset(text[i], i % 3 ? 'a' : 0, LONGEST);
        text[i][length[i] - 1] = (char)i;
        text[i][length[i] - 2] = (char)(i >> 8);
    }
    for (int round = 0; round < 30000; round++) {
        int i = (int)(draw() % DISTINCT);
        assert_ok(brume_key_count_add(keys, text[i], length[i], 1 + (uint64_t)round % 2, &error));
        for (int j = 0; j < DISTINCT; j++)
            if (length[j] == length[i] && memcmp(text[j], text[i], length[i]) == 0)
                count[j] += 1 + (uint64_t)round % 2;
    }
    assert_ok(brume_key_count_sort(keys, NULL, &error));
    const char *before = NULL;
    size_t before_length = 0, n = brume_key_count_size(keys);
    uint64_t total = 0;
    assert_holds(n > 2000);
    for (size_t i = 0; i < n; i++) {
        const char *key;
        size_t key_length;
        uint64_t here = brume_key_count_at(keys, i, &key, &key_length);
        total += here;
        int found = -1;
        for (int j = 0; j < DISTINCT && found < 0; j++)
            if (length[j] == key_length && memcmp(text[j], key, key_length) == 0)
                found = j;
        assert_holds(found >= 0);
        assert_int_equal(here, count[found]);
        if (before) {
            size_t shorter = before_length < key_length ? before_length : key_length;
            int order = memcmp(before, key, shorter);
            assert_holds(order < 0 || (order == 0 && before_length < key_length));
        }
        before = key;
        before_length = key_length;
    }
    assert_int_equal(total, 45000);
    assert_fails(brume_key_count_add(keys, "x", 1, 1, &error), BRUME_EARGUMENT);
    brume_key_count_close(keys);
}

static void only_the_kept_keys_stay(void **state)
{
    (void)state;
    brume_error error;
    brume_key_count *keys = NULL;
    assert_ok(brume_key_count_open(&keys, &error));
    const char *const names[] = {"pear", "", "apple", "a much longer key than fits inside"};
    for (uint64_t i = 0; i < 4; i++)
        assert_ok(brume_key_count_add(keys, names[i], strlen(names[i]), i + 1, &error));
    const unsigned char keep[] = {1, 1, 0, 1};
    assert_ok(brume_key_count_sort(keys, keep, &error));
    assert_int_equal(brume_key_count_size(keys), 3);
    const char *key;
    size_t length;
    assert_int_equal(brume_key_count_at(keys, 0, &key, &length), 2);
    assert_int_equal(length, 0);
    assert_int_equal(brume_key_count_at(keys, 1, &key, &length), 4);
    assert_int_equal(brume_key_count_at(keys, 2, &key, &length), 1);
    brume_key_count_close(keys);
}

static void a_count_saturates(void **state)
{
    (void)state;
    brume_error error;
    brume_key_count *keys = NULL;
    assert_ok(brume_key_count_open(&keys, &error));
    for (int i = 0; i < 3; i++)
        assert_ok(brume_key_count_add(keys, "k", 1, UINT64_MAX / 3, &error));
    const char *key;
    size_t length;
    assert_holds(brume_key_count_at(keys, 0, &key, &length) == INT64_MAX);
    brume_key_count_close(keys);
    brume_key_count_close(NULL);
}

/* Rejects: a count with noise that is lost, or one below 0 that is shown as a very large one. */
static void counts_that_are_put_are_read_back_and_none_is_negative(void **state)
{
    (void)state;
    brume_error error;
    static const char names[] = "abcd";
    const int64_t put[] = {5, -3, 0, INT64_MAX};
    brume_key_count *keys = NULL;
    assert_ok(brume_key_count_open(&keys, &error));
    for (size_t i = 0; i < 4; i++)
        assert_ok(brume_key_count_add(keys, &names[i], 1, 7, &error));
    brume_key_count_put(keys, put);
    for (size_t i = 0; i < 4; i++) {
        const char *key;
        size_t length;
        uint64_t count = brume_key_count_at(keys, i, &key, &length);
        assert_true(count == (put[i] > 0 ? (uint64_t)put[i] : 0) && length == 1 &&
                    *key == names[i]);
    }
    brume_key_count_close(keys);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_sort_like_the_standard_sort),
        cmocka_unit_test(companions_go_with_their_integers),
        cmocka_unit_test(keys_of_any_bytes_and_length_are_counted_and_sorted),
        cmocka_unit_test(only_the_kept_keys_stay),
        cmocka_unit_test(a_count_saturates),
        cmocka_unit_test(counts_that_are_put_are_read_back_and_none_is_negative),
    };
    return cmocka_run_group_tests_name("key_count", tests, NULL, NULL);
}
