/* Proofs that rows are in the journal: the tree against the recursion of [RFC9162, Sec. 2.1], every
 * path of every small tree, and every wrong one refused. */
#include "fixture.h"

#include <string.h>

#include <openssl/evp.h>

#include "ledger/merkle.h"

static brume_error error;

enum { MOST = 40 };

static brume_merkle_hash data_of(size_t i)
{
    brume_merkle_hash data;
    memset(data.bytes, (int)(7 * i + 1), sizeof data.bytes);
    return data;
}

/* MTH of the RFC, word by word: of the leaves from `first` on. */
static brume_merkle_hash recursion(size_t first, size_t count)
{
    uint8_t text[65] = {0};
    brume_merkle_hash left = data_of(first), right;
    size_t length = 33, half = 1;
    if (count > 1) {
        while (2 * half < count)
            half *= 2;
        left = recursion(first, half);
        right = recursion(first + half, count - half);
        text[0] = 1;
        memcpy(text + 33, right.bytes, 32);
        length = 65;
    }
    memcpy(text + 1, left.bytes, 32);
    assert_int_equal(EVP_Digest(text, length, left.bytes, NULL, EVP_sha256(), NULL), 1);
    return left;
}

static bool same(const brume_merkle_hash *a, const brume_merkle_hash *b)
{
    return memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0;
}

static void each_path_leads_to_the_root_of_the_recursion(void **state)
{
    (void)state;
    brume_merkle_hash data[MOST], path[BRUME_MERKLE_LEVELS], root, found;
    for (size_t i = 0; i < MOST; i++)
        data[i] = data_of(i);
    for (size_t n = 1; n <= MOST; n++) {
        brume_merkle *tree = NULL;
        assert_ok(brume_merkle_open(data, n, &tree, &error));
        root = brume_merkle_root(tree);
        brume_merkle_hash expected = recursion(0, n);
        assert_true(same(&root, &expected));
        for (size_t i = 0; i < n; i++) {
            size_t length = brume_merkle_path(tree, i, path);
            assert_ok(brume_merkle_follow(&data[i], i, n, path, length, &found, &error));
            assert_true(same(&found, &root));
        }
        brume_merkle_close(tree);
    }
}

/* Another row, another place, another sibling, a path that is too long or too short. */
static void a_wrong_path_does_not_lead_there(void **state)
{
    (void)state;
    enum { N = 21 };
    brume_merkle_hash data[N], path[BRUME_MERKLE_LEVELS], root, found;
    brume_merkle *tree = NULL;
    for (size_t i = 0; i < N; i++)
        data[i] = data_of(i);
    assert_ok(brume_merkle_open(data, N, &tree, &error));
    root = brume_merkle_root(tree);
    for (size_t i = 0; i < N; i++) {
        size_t length = brume_merkle_path(tree, i, path);
        for (size_t j = 0; j < N; j++) {
            if (j == i)
                continue;
            assert_ok(brume_merkle_follow(&data[j], i, N, path, length, &found, &error));
            assert_false(same(&found, &root));
            if (brume_merkle_follow(&data[i], j, N, path, length, &found, &error) == BRUME_OK)
                assert_false(same(&found, &root));
        }
        for (size_t j = 0; j < length; j++) {
            path[j].bytes[j] ^= 1;
            assert_ok(brume_merkle_follow(&data[i], i, N, path, length, &found, &error));
            assert_false(same(&found, &root));
            path[j].bytes[j] ^= 1;
        }
        assert_fails(brume_merkle_follow(&data[i], i, N, path, length - 1, &found, &error),
                     BRUME_EARGUMENT);
        assert_fails(brume_merkle_follow(&data[i], i, N, path, length + 1, &found, &error),
                     BRUME_EARGUMENT);
    }
    assert_fails(brume_merkle_follow(&data[0], N, N, path, 1, &found, &error), BRUME_EARGUMENT);
    brume_merkle_close(tree);
}

static void the_ledger_proves_the_rows_that_are_asked_for_and_shows_no_other(void **state)
{
    brume_ledger *ledger = fresh_ledger(state);
    uint64_t id = 0;
    json_t *proof = NULL;
    register_dataset(ledger, "visits", "1", NULL);
    for (int i = 0; i < 5; i++)
        assert_ok(reserve(ledger, "visits", i == 2 ? "0.123" : "0.0456", "key", &id, &error));
    assert_ok(brume_ledger_prove(ledger, (const uint64_t[]){2, 5}, 2, &proof, &error));
    assert_int_equal(json_integer_value(json_object_get(proof, "size")), 7);
    const json_t *rows = json_object_get(proof, "rows");
    assert_int_equal(json_array_size(rows), 2);
    assert_int_equal(json_integer_value(json_object_get(json_array_get(rows, 1), "id")), 5);
    char *text = json_dumps(proof, 0);
    assert_non_null(strstr(text, "epsilon=0.123"));
    assert_null(strstr(text, "epsilon=0.0456"));
    free(text);
    assert_ok(brume_ledger_check_proof(proof, &error));
    json_t *row = json_array_get(rows, 0);
    json_object_set_new(row, "time", json_string("2026-01-01T00:00:00.000Z"));
    assert_fails(brume_ledger_check_proof(proof, &error), BRUME_EDAMAGED);
    json_decref(proof);
    assert_fails(brume_ledger_prove(ledger, (const uint64_t[]){8}, 1, &proof, &error),
                 BRUME_EUNKNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_path_leads_to_the_root_of_the_recursion),
        cmocka_unit_test(a_wrong_path_does_not_lead_there),
        with_fresh_ledger(the_ledger_proves_the_rows_that_are_asked_for_and_shows_no_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
