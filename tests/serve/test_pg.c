/* The wire protocol in memory: what is sent for which messages, and that only Execute, FETCH and
 * Query of a dataset ask anything (connection.h, 1). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>

#include "check.h"

#include "fake_backend.h"
#include "serve/pg/catalog/rewrite.h"

/* ---- messages of a client ---- */

typedef struct script {
    brume_pg_writer out;
} script;

static void put_text_message(script *all, char type, const char *text)
{
    brume_pg_begin(&all->out, type);
    brume_pg_put_text(&all->out, text);
    brume_pg_end(&all->out);
}

static void parse_message(script *all, const char *name, const char *sql)
{
    brume_pg_begin(&all->out, 'P');
    brume_pg_put_text(&all->out, name);
    brume_pg_put_text(&all->out, sql);
    brume_pg_put16(&all->out, 0);
    brume_pg_end(&all->out);
}

/* Bind with text parameters, and one format for all results. */
static void bind_message(script *all, const char *portal, const char *name, size_t count,
                         const char *const *values, uint16_t format)
{
    brume_pg_begin(&all->out, 'B');
    brume_pg_put_text(&all->out, portal);
    brume_pg_put_text(&all->out, name);
    brume_pg_put16(&all->out, 0);
    brume_pg_put16(&all->out, (uint16_t)count);
    for (size_t i = 0; i < count; i++) {
        brume_pg_put32(&all->out, (uint32_t)strlen(values[i]));
        brume_pg_put_bytes(&all->out, values[i], strlen(values[i]));
    }
    brume_pg_put16(&all->out, 1);
    brume_pg_put16(&all->out, format);
    brume_pg_end(&all->out);
}

static void describe_message(script *all, char what, const char *name)
{
    brume_pg_begin(&all->out, 'D');
    brume_pg_put8(&all->out, (uint8_t)what);
    brume_pg_put_text(&all->out, name);
    brume_pg_end(&all->out);
}

static void execute_message(script *all, const char *portal, uint32_t most)
{
    brume_pg_begin(&all->out, 'E');
    brume_pg_put_text(&all->out, portal);
    brume_pg_put32(&all->out, most);
    brume_pg_end(&all->out);
}

static void sync_message(script *all)
{
    brume_pg_put_empty(&all->out, 'S');
}

/* Serve the script, and forget it. */
static fake_peer served(script *all)
{
    fake_peer peer = {0};
    assert_false(all->out.failed);
    fake_serve(&peer, all->out.data, all->out.length);
    brume_pg_writer_free(&all->out);
    return peer;
}

/* The types of the messages that came back, after those of the start, in a text. */
static const char *types_of(const fake_peer *peer)
{
    static char types[4096];
    size_t count = 0;
    for (size_t at = 0; at + 5 <= peer->out_length && count < sizeof types - 1;) {
        brume_pg_reader reader = {.at = peer->out + at + 1, .left = 4};
        uint32_t length = brume_pg_get32(&reader);
        assert_true(length >= 4 && at + 1 + length <= peer->out_length);
        if (peer->out[at] != 'S')
            types[count++] = (char)peer->out[at];
        at += 1 + length;
    }
    types[count] = 0;
    assert_true(count > 0 && types[0] == 'Z');
    return types + 1;
}

static bool says(const fake_peer *peer, const char *text)
{
    return memmem(peer->out, peer->out_length, text, strlen(text)) != NULL;
}

/* ---- tests ---- */

static void only_executing_asks(void **state)
{
    (void)state;
    static const char *const values[] = {"5"};
    script all = {0};
    put_text_message(&all, 'Q', "SET brume.epsilon = 0.1");
    parse_message(&all, "s", "SELECT k, count(*) AS n, avg(v) AS a FROM t WHERE v > $1 GROUP BY k");
    describe_message(&all, 'S', "s");
    bind_message(&all, "", "s", 1, values, 0);
    describe_message(&all, 'P', "");
    sync_message(&all);
    put_text_message(&all, 'Q', "SELECT relname FROM pg_class; SHOW TimeZone; BEGIN; ROLLBACK");
    put_text_message(&all, 'Q', "BEGIN; DECLARE c CURSOR FOR SELECT k FROM t; CLOSE c; COMMIT");
    put_text_message(&all, 'Q', "EXPLAIN SELECT count(*) FROM t");
    put_text_message(&all, 'Q', "SELECT bad FROM t");
    fake_peer peer = served(&all);
    assert_int_equal(peer.queries, 0);
    assert_true(peer.explains >= 4);
    assert_string_equal(types_of(&peer), "CZ1tT2TZTDCTDCCCZCCCCZTDDCZEZ");
    fake_clear(&peer);
}

static void every_execution_asks_once(void **state)
{
    (void)state;
    script all = {0};
    put_text_message(&all, 'Q', "SET brume.epsilon = 0.1");
    parse_message(&all, "", "SELECT k, n, a FROM t");
    bind_message(&all, "p", "", 0, NULL, 0);
    execute_message(&all, "p", 2); /* two rows, then the rest: one question */
    execute_message(&all, "p", 2);
    execute_message(&all, "p", 2);
    sync_message(&all);
    fake_peer peer = served(&all);
    assert_int_equal(peer.queries, 1);
    assert_string_equal(types_of(&peer), "CZ12NDDsDCCZ");
    assert_true(says(&peer, "charged epsilon 0.1; left: epsilon 0.9, delta 1e-06"));
    assert_true(says(&peer, "95 % errors: n ±3.5, a ±2.25"));
    fake_clear(&peer);
}

static void no_price_is_spent_by_default(void **state)
{
    (void)state;
    script all = {0};
    put_text_message(&all, 'Q', "SELECT count(*) FROM t");
    fake_peer peer = served(&all);
    assert_int_equal(peer.queries, 0);
    assert_true(says(&peer, "a price is missing") && says(&peer, "22023"));
    fake_clear(&peer);
}

static void the_cap_of_a_connection_holds(void **state)
{
    (void)state;
    script all = {0};
    put_text_message(&all, 'Q', "SET brume.epsilon = 0.1; SET brume.session_cap = 0.3");
    for (int i = 0; i < 5; i++)
        put_text_message(&all, 'Q', "SELECT count(*) FROM t");
    put_text_message(&all, 'Q', "SHOW brume.session_spent");
    fake_peer peer = served(&all);
    assert_int_equal(peer.queries, 3); /* three times 0.1 are 0.3 */
    assert_true(says(&peer, "BR001"));
    assert_true(says(&peer, "0.3"));
    fake_clear(&peer);
}

static void cursors_ask_at_their_first_fetch(void **state)
{
    (void)state;
    script all = {0};
    put_text_message(&all, 'Q', "SET brume.epsilon = 0.1");
    put_text_message(&all, 'Q', "DECLARE c CURSOR FOR SELECT k FROM t"); /* in no transaction */
    put_text_message(&all, 'Q', "BEGIN; DECLARE c SCROLL CURSOR FOR SELECT k FROM t");
    put_text_message(&all, 'Q', "FETCH 2 FROM c");
    put_text_message(&all, 'Q', "FETCH ALL FROM c; FETCH BACKWARD 2 FROM c");
    put_text_message(&all, 'Q', "FETCH ABSOLUTE 1 FROM c; FETCH LAST FROM c; MOVE FIRST FROM c");
    put_text_message(&all, 'Q', "ROLLBACK");
    put_text_message(&all, 'Q', "FETCH 1 FROM c");
    fake_peer peer = served(&all);
    assert_int_equal(peer.queries, 1);
    assert_string_equal(types_of(&peer), "CZEZCCZNTDDCZTDCTDDCZTDCTDCCZNCZEZ");
    assert_true(says(&peer, "stays charged") && says(&peer, "34000") && says(&peer, "MOVE 1"));
    fake_clear(&peer);
}

/* What the session is asked: the values as literals, whatever is in them. */
static void parameters_are_literals(void **state)
{
    (void)state;
    static const struct {
        const char *value, *sql;
    } cases[] = {
        {"lyon", "SELECT k FROM t WHERE k =  'lyon' "},
        {"O'Brien", "SELECT k FROM t WHERE k =  'O''Brien' "},
        {"'; DROP TABLE t; --", "SELECT k FROM t WHERE k =  '''; DROP TABLE t; --' "},
        {"\\'", "SELECT k FROM t WHERE k =  '\\''' "},
        {"$1", "SELECT k FROM t WHERE k =  '$1' "},
        {"", "SELECT k FROM t WHERE k =  '' "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *values[] = {cases[i].value};
        script all = {0};
        put_text_message(&all, 'Q', "SET brume.epsilon = 0.1");
        parse_message(&all, "", "SELECT k FROM public.t WHERE k = $1");
        bind_message(&all, "", "", 1, values, 0);
        execute_message(&all, "", 0);
        sync_message(&all);
        fake_peer peer = served(&all);
        assert_int_equal(peer.queries, 1);
        assert_string_equal(peer.last_sql, cases[i].sql);
        fake_clear(&peer);
    }
}

static void numbers_are_checked(void **state)
{
    (void)state;
    static const struct {
        uint32_t type;
        const char *text;
        bool good;
    } cases[] = {{23, "12", true},         {23, "-12", true},    {23, "1 OR 1=1", false},
                 {23, "", false},          {701, "1e5", true},   {701, "NaN", false},
                 {701, "Infinity", false}, {1700, ".5", true},   {16, "t", true},
                 {16, "maybe", false},     {1007, "{1}", false}, {0, "anything", true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        brume_pg_value value = {0};
        brume_error error;
        brume_status status = brume_pg_value_read(cases[i].type, 0, (const uint8_t *)cases[i].text,
                                                  strlen(cases[i].text), &value, &error);
        assert_int_equal(status == BRUME_OK, cases[i].good);
        free(value.text);
    }
}

static void binary_times_are_read(void **state)
{
    (void)state;
    static const struct {
        uint32_t type;
        size_t length;
        uint8_t bytes[8];
        const char *text; /* NULL: it is none */
    } cases[] = {{1082, 4, {0, 0, 0, 0}, "2000-01-01"},
                 {1082, 4, {0xff, 0xff, 0xff, 0xff}, "1999-12-31"},
                 {1082, 4, {0, 0, 0x22, 0x4c}, "2024-01-15"},
                 {1082, 3, {0, 0, 0}, NULL},
                 {1082, 4, {0x7f, 0xff, 0xff, 0xff}, NULL},
                 {1114, 8, {0}, "2000-01-01 00:00:00"},
                 {1114, 8, {0, 0, 0, 0, 0, 0, 0, 1}, "2000-01-01 00:00:00.000001"},
                 {1114, 8, {255, 255, 255, 255, 255, 255, 255, 255}, "1999-12-31 23:59:59.999999"},
                 {1114, 8, {0x7f, 255, 255, 255, 255, 255, 255, 255}, NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        brume_pg_value value = {0};
        brume_error error;
        brume_status status =
            brume_pg_value_read(cases[i].type, 1, cases[i].bytes, cases[i].length, &value, &error);
        assert_int_equal(status == BRUME_OK, cases[i].text != NULL);
        if (cases[i].text)
            assert_string_equal(value.text, cases[i].text);
        free(value.text);
    }
}

static void binary_results_have_their_sizes(void **state)
{
    (void)state;
    static const uint8_t seven[] = {0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 7};
    static const uint8_t three_halves[] = {0, 0, 0, 8, 0x3f, 0xf8, 0, 0, 0, 0, 0, 0};
    script all = {0};
    put_text_message(&all, 'Q', "SET brume.epsilon = 0.1");
    parse_message(&all, "", "SELECT k, n, a FROM t");
    bind_message(&all, "", "", 0, NULL, 1);
    execute_message(&all, "", 0);
    sync_message(&all);
    fake_peer peer = served(&all);
    assert_non_null(memmem(peer.out, peer.out_length, seven, sizeof seven));
    assert_non_null(memmem(peer.out, peer.out_length, three_halves, sizeof three_halves));
    fake_clear(&peer);
}

static void error_columns_stand_behind_values(void **state)
{
    (void)state;
    script all = {0};
    put_text_message(&all, 'Q', "SET brume.epsilon = 0.1; SET brume.error_columns = on");
    put_text_message(&all, 'Q', "SELECT k, n, a FROM t");
    fake_peer peer = served(&all);
    assert_true(says(&peer, "n_error_95") && says(&peer, "a_error_95"));
    static const uint8_t bar[] = {0, 0, 0, 3, '3', '.', '5'};
    assert_non_null(memmem(peer.out, peer.out_length, bar, sizeof bar));
    fake_clear(&peer);
}

/* The bar is the noise and the allowance; where what was cut is not known there is none. */
static void what_was_cut_is_told(void **state)
{
    (void)state;
    script all = {0};
    put_text_message(&all, 'Q', "SET brume.epsilon = 0.1; SET brume.error_columns = on");
    put_text_message(&all, 'Q', "SELECT k, n, a FROM cut");
    fake_peer peer = served(&all);
    static const uint8_t bar[] = {0, 0, 0, 7, '2', '0', '0', '0', '3', '.', '5'};
    static const uint8_t noise[] = {0, 0, 0, 4, '2', '.', '2', '5'};
    assert_non_null(memmem(peer.out, peer.out_length, bar, sizeof bar));
    assert_null(memmem(peer.out, peer.out_length, noise, sizeof noise));
    assert_true(says(&peer, "95 % errors: n ±20004\n"));
    assert_false(says(&peer, "a ±"));
    assert_true(says(&peer, "Each patient counts with at most 9 visits.\na: Pay more."));
    assert_true(says(&peer, "brume.unit_limit"));
    assert_true(says(&peer, "WARNING") && says(&peer, "'y' is not in the domain"));
    assert_true(
        says(&peer, "charged epsilon 0.1, delta 2.001e-08; left: epsilon 0.9, delta 1.999e-07"));
    fake_clear(&peer);
}

static void after_an_error_messages_are_skipped_until_sync(void **state)
{
    (void)state;
    script all = {0};
    put_text_message(&all, 'Q', "SET brume.epsilon = 0.1");
    parse_message(&all, "", "SELECT bad FROM t");
    bind_message(&all, "", "", 0, NULL, 0);
    describe_message(&all, 'P', "");
    execute_message(&all, "", 0);
    parse_message(&all, "", "SELECT k FROM t");
    bind_message(&all, "", "", 0, NULL, 0);
    execute_message(&all, "", 0);
    sync_message(&all);
    fake_peer peer = served(&all);
    assert_int_equal(peer.queries, 0);
    assert_string_equal(types_of(&peer), "CZ12EZ");
    fake_clear(&peer);
}

static void nonsense_is_refused(void **state)
{
    (void)state;
    script all = {0};
    bind_message(&all, "", "nobody", 0, NULL, 0);
    sync_message(&all);
    execute_message(&all, "nobody", 0);
    sync_message(&all);
    parse_message(&all, "", "SELECT 1; SELECT 2");
    sync_message(&all);
    put_text_message(&all, 'Q', "DELETE FROM t");
    put_text_message(&all, 'Q', "SELECT * FROM t, pg_class");
    put_text_message(&all, 'Q', "SELECT * FROM pg_catalog.nothing");
    put_text_message(&all, 'Q', "SELECT 1 INTO x");
    put_text_message(&all, 'Q', "COPY t TO STDOUT");
    brume_pg_put_empty(&all.out, '!');
    fake_peer peer = served(&all);
    assert_int_equal(peer.queries, 0);
    assert_string_equal(types_of(&peer), "EZEZEZEZEZEZEZEZE");
    fake_clear(&peer);
}

static void what_is_open_is_bounded(void **state)
{
    (void)state;
    script all = {0};
    char *text = malloc(1000001), name[20];
    assert_non_null(text);
    memset(text, ' ', 1000000);
    memcpy(text, "SELECT 1", 8);
    text[1000000] = 0;
    for (int i = 0; i < 5; i++) {
        snprintf(name, sizeof name, "s%d", i);
        parse_message(&all, name, text);
        sync_message(&all);
    }
    free(text);
    fake_peer peer = served(&all);
    assert_string_equal(types_of(&peer), "1Z1Z1Z1ZEZ");
    assert_true(says(&peer, "53400"));
    fake_clear(&peer);
}

static void what_cannot_be_answered_has_names_and_no_sql(void **state)
{
    (void)state;
    static const struct {
        const char *sql, *names;
    } cases[] = {
        {"SELECT nothing_like_it(oid), relname || 'x', 3 FROM pg_class",
         "nothing_like_it ?column? ?column?"},
        {"SELECT relname::text COLLATE \"C\", CASE WHEN true THEN 1 END, no(1) AS o FROM pg_class",
         "relname case o"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        PgQuery__ParseResult *tree = NULL;
        brume_pg_rewritten made;
        brume_error error;
        int position;
        char names[200] = "";
        assert_int_equal(brume_pg_parse(cases[i].sql, &tree, &position, &error), BRUME_OK);
        assert_int_equal(brume_pg_rewrite(tree, &made, &error), BRUME_OK);
        assert_null(made.sql);
        for (size_t j = 0; j < made.output_count; j++)
            snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", j ? " " : "",
                     made.outputs[j].name);
        assert_string_equal(names, cases[i].names);
        brume_pg_rewritten_clear(&made);
        pg_query__parse_result__free_unpacked(tree, NULL);
    }
}

/* Each line: a query, and what DuckDB is asked. */
static void names_become_those_of_the_database(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"SELECT c.relname, 'x'::regclass::text AS t FROM pg_catalog.pg_class c",
         "SELECT c.relname AS relname, brume_regclass_text(brume_to_regclass('x')) AS t "
         "FROM main.pg_class c"},
        {"SELECT relname !~ 'a' OR relname ILIKE 'b' AS r FROM pg_class",
         "SELECT brume_not_matches(relname, 'a') OR brume_ilike(relname, 'b') AS r "
         "FROM main.pg_class pg_class"},
        {"WITH a AS (SELECT 1 AS n) SELECT * FROM a",
         "WITH \"with a\" AS (SELECT 1 AS n) SELECT * FROM \"with a\" a"},
        {"SELECT oid = ANY('{1}') AS f, tableoid, pg_relation_size(oid) FROM pg_type",
         "SELECT brume_has(brume_array('{1}'), brume_text(oid)) AS f, 1247::int8 AS tableoid, "
         "NULL::text AS pg_relation_size FROM main.pg_type pg_type"},
        {"SELECT k.word, n FROM pg_get_keywords() AS k, generate_series(1, 2) AS n",
         "SELECT k.word AS word, n AS n FROM main.pg_get_keywords k, "
         "unnest(brume_generate_series(1, 2)) n(n)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        PgQuery__ParseResult *tree = NULL;
        brume_pg_rewritten made;
        brume_error error;
        int position;
        assert_int_equal(brume_pg_parse(cases[i][0], &tree, &position, &error), BRUME_OK);
        assert_int_equal(brume_pg_rewrite(tree, &made, &error), BRUME_OK);
        assert_non_null(made.sql);
        assert_string_equal(made.sql, cases[i][1]);
        brume_pg_rewritten_clear(&made);
        pg_query__parse_result__free_unpacked(tree, NULL);
    }
}

/* ---- the start ---- */

static void start_packet(script *all, const char *user)
{
    size_t start = all->out.length;
    brume_pg_put32(&all->out, 0);
    brume_pg_put32(&all->out, 3 << 16);
    brume_pg_put_text(&all->out, "user");
    brume_pg_put_text(&all->out, user);
    brume_pg_put8(&all->out, 0);
    all->out.data[start + 3] = (uint8_t)(all->out.length - start);
}

/* RFC 7677, section 3 has an exchange of this password; here the salt and nonces are others, and
 * the client's proof is computed as its section says. */
static void scram_accepts_the_password_and_no_other(void **state)
{
    (void)state;
    static const char *const passwords[] = {"pencil", "pencils", "pencil"};
    static const char *const names[] = {"alice", "alice", "mallory"};
    for (int i = 0; i < 3; i++) {
        brume_user *user = NULL;
        brume_error error;
        bool accepted = true;
        char final[BRUME_PG_SCRAM_TEXT], message[2000], text[1000], proof[64];
        uint8_t salted[32], client[32], stored[32], signature[32];
        unsigned length = 32;
        static const char first[] = "n,,n=,r=rOprNGfwEbeRWgbNEkqO";
        assert_int_equal(fake_find_user(NULL, names[i], &user, &error), BRUME_OK);
        brume_pg_scram scram = {.verifier = user->scram, .is_mock = user->role == BRUME_ROLE_NONE};
        assert_int_equal(
            brume_pg_scram_begin(&scram, (const uint8_t *)first, strlen(first), &error), BRUME_OK);
        snprintf(text, sizeof text, "c=biws,r=%s", scram.nonce);
        snprintf(message, sizeof message, "%s,%s,%s", first + 3, scram.server_first, text);
        PKCS5_PBKDF2_HMAC(passwords[i], -1, user->scram.salt, BRUME_SCRAM_SALT, 4096, EVP_sha256(),
                          32, salted);
        HMAC(EVP_sha256(), salted, 32, (const uint8_t *)"Client Key", 10, client, &length);
        SHA256(client, 32, stored);
        HMAC(EVP_sha256(), stored, 32, (const uint8_t *)message, strlen(message), signature,
             &length);
        for (int j = 0; j < 32; j++)
            client[j] ^= signature[j];
        EVP_EncodeBlock((uint8_t *)proof, client, 32);
        snprintf(message, sizeof message, "%s,p=%s", text, proof);
        assert_int_equal(brume_pg_scram_end(&scram, (const uint8_t *)message, strlen(message),
                                            &accepted, final, &error),
                         BRUME_OK);
        assert_int_equal(accepted, i == 0);
        brume_user_close(user);
    }
}

static void a_start_without_a_proof_is_refused(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        script all = {0};
        start_packet(&all, i ? "nobody" : "alice");
        put_text_message(&all, 'Q', "SELECT 1"); /* in the place of SASLInitialResponse */
        fake_peer peer = {0};
        fake_start(&peer, all.out.data, all.out.length);
        assert_true(says(&peer, "SCRAM-SHA-256") && says(&peer, "08P01"));
        assert_int_equal(peer.queries + peer.explains + peer.others, 0);
        brume_pg_writer_free(&all.out);
        fake_clear(&peer);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_executing_asks),
        cmocka_unit_test(every_execution_asks_once),
        cmocka_unit_test(no_price_is_spent_by_default),
        cmocka_unit_test(the_cap_of_a_connection_holds),
        cmocka_unit_test(cursors_ask_at_their_first_fetch),
        cmocka_unit_test(parameters_are_literals),
        cmocka_unit_test(numbers_are_checked),
        cmocka_unit_test(binary_times_are_read),
        cmocka_unit_test(binary_results_have_their_sizes),
        cmocka_unit_test(error_columns_stand_behind_values),
        cmocka_unit_test(what_was_cut_is_told),
        cmocka_unit_test(after_an_error_messages_are_skipped_until_sync),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(what_is_open_is_bounded),
        cmocka_unit_test(what_cannot_be_answered_has_names_and_no_sql),
        cmocka_unit_test(names_become_those_of_the_database),
        cmocka_unit_test(scram_accepts_the_password_and_no_other),
        cmocka_unit_test(a_start_without_a_proof_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
