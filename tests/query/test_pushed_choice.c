/* What a server keeps of every unit by a keyed hash: groups that nobody declared, distinct values,
 * keys alone and modes.
 *
 * The hash is computed here too, so that what is kept is known: the server's numbers are those of
 * the kept rows, as counted here or, where each unit keeps several groups, as the bounder of
 * streamed rows counts these rows alone. What one unit moves, removed or replaced, is within the
 * limits, and statements that look at the rows of others are told apart. All of a unit's groups are
 * kept equally often. */
#include "check.h"

#include <stdlib.h>

#include <libpq-fe.h>

#include "postgres_hash.h"
#include "query/collect/collect.h"
#include "query/collect/place.h"
#include "query/collect/pushed.h"
#include "query/plan/make_plan.h"
#include "query/plan/question.h"
#include "random/tape.h"
#include "registered.h"

enum { UNITS = 6, ROWS = 60, SEED = 11 };
enum { NOTHING = INT64_MIN }; /* NULL */

static const char *url;
static PGconn *server;
static brume_error error;
static uint64_t seed = 5;

static uint64_t below(uint64_t end)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (seed >> 33) % end;
}

static PGresult *run(const char *sql)
{
    PGresult *result = PQexec(server, sql);
    ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
        fail_msg("%s: %s", sql, PQerrorMessage(server));
    return result;
}

static int connect_here(void **state)
{
    (void)state;
    url = getenv("BRUME_TEST_POSTGRESQL");
    assert_non_null(url);
    server = PQconnectdb(url);
    assert_int_equal(PQstatus(server), CONNECTION_OK);
    PQclear(run("CREATE TABLE c (u int4, k text, l int8, x int8); CREATE TABLE kept (LIKE c)"));
    return 0;
}

static int disconnect(void **state)
{
    (void)state;
    PQfinish(server);
    return 0;
}

/* ---- tables ---- */

typedef struct row {
    int64_t u;     /* NOTHING: nobody's */
    const char *k; /* NULL */
    int64_t l, x;
    int64_t rank;
    bool kept;
} row;

typedef struct table {
    size_t count;
    row rows[ROWS];
} table;

static const char *const names[] = {"a", "b", "it's", "\"quoted\\\"", "sixteen bytes ab", NULL};

static row random_row(void)
{
    static const int64_t numbers[] = {1, 2, 3, -1, INT64_C(1) << 40, NOTHING};
    row made = {.u = below(12) ? (int64_t)(below(2) ? below(UNITS) : below(2)) : NOTHING};
    made.k = names[below(6)];
    made.l = numbers[below(6)];
    made.x = below(5) ? (int64_t)below(31) - 15 : NOTHING;
    return made;
}

static table random_table(size_t count)
{
    table made = {.count = count};
    for (size_t i = 0; i < count; i++)
        made.rows[i] = random_row();
    return made;
}

static void put_number(FILE *out, int64_t number, const char *after)
{
    if (number == NOTHING)
        fprintf(out, "NULL%s", after);
    else
        fprintf(out, "%lld%s", (long long)number, after);
}

/* Fill `name` with the rows, or with those that are kept. */
static void fill(const char *name, const table *from, bool all)
{
    char *sql = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&sql, &length);
    fprintf(out, "DELETE FROM %s; INSERT INTO %s VALUES (NULL, 'a', 1, 1)", name, name);
    for (size_t i = 0; i < from->count; i++) {
        const row *one = &from->rows[i];
        if (!all && !one->kept)
            continue;
        char *text = one->k ? PQescapeLiteral(server, one->k, strlen(one->k)) : NULL;
        fputs(", (", out);
        put_number(out, one->u, ", ");
        fprintf(out, "%s, ", text ? text : "NULL");
        put_number(out, one->l, ", ");
        put_number(out, one->x, ")");
        PQfreemem(text);
    }
    fclose(out);
    PQclear(run(sql));
    free(sql);
}

/* ---- what is kept, computed here ---- */

static uint64_t hash_number(int64_t number, uint64_t key)
{
    return number == NOTHING
               ? key
               : postgres_hash_number(number, postgres_hash_number(number >> 32, key));
}

static uint64_t hash_text(const char *text, uint64_t key)
{
    return text ? postgres_hash_bytes(text, strlen(text), key) : key;
}

static void rank_rows(table *all, uint64_t key)
{
    for (size_t i = 0; i < all->count; i++) {
        row *one = &all->rows[i];
        uint64_t h = postgres_hash_number((int64_t)hash_number(one->u, key), key);
        h = postgres_hash_number((int64_t)hash_text(one->k, key), h);
        one->rank = (int64_t)postgres_hash_number((int64_t)hash_number(one->l, key), h);
    }
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : !a && !b;
}

static bool same_pair(const row *a, const row *b)
{
    return a->u == b->u && same_text(a->k, b->k) && a->l == b->l;
}

/* Is this the first row of its pair? */
static bool is_first(const table *all, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (same_pair(&all->rows[j], &all->rows[i]))
            return false;
    return true;
}

/* Of each unit the `groups` pairs of the least ranks. */
static void keep(table *all, uint64_t key, uint64_t groups)
{
    rank_rows(all, key);
    for (size_t i = 0; i < all->count; i++) {
        row *one = &all->rows[i];
        uint64_t before = 0;
        for (size_t j = 0; j < all->count; j++)
            before += all->rows[j].u == one->u && all->rows[j].rank < one->rank && is_first(all, j);
        one->kept = one->u != NOTHING && before < groups;
    }
}

/* ---- queries ---- */

typedef struct asked {
    brume_engine *engine;
    brume_question *question;
    brume_plan *plan;
    brume_bits *bits;
} asked;

static asked open_query(const char *name, const char *sql, uint64_t groups, uint64_t rows)
{
    asked all = {.bits = brume_tape_open_seeded(SEED)};
    const brume_source source = {.location = url, .table = name};
    brume_policy *policy = registered_policy(&source);
    assert_ok(brume_policy_set_unit(policy, "u", &error));
    assert_ok(brume_policy_set_bounds(policy, "x", "-10", "12", &error));
    policy->limits_fixed = groups > 0;
    policy->max_groups = groups;
    policy->max_rows = rows;
    assert_ok(brume_question_alone(policy, "c", sql, &all.question, &error));
    all.question->datasets[0]->filter.rule = BRUME_RULE_APPROXIMATE;
    brume_payment payment = {.epsilon = "1", .delta = "1e-6"};
    assert_ok(brume_query_plan_make(all.question->query, all.question->tables, &payment, &all.plan,
                                    &error));
    assert_ok(brume_engine_open(&source, 1, &all.engine, &error));
    return all;
}

static void close_query(asked *all)
{
    brume_query_plan_close(all->plan);
    brume_question_close(all->question);
    brume_engine_close(all->engine);
    brume_bits_close(all->bits);
}

static brume_collected *collect(const asked *all, bool pushed, size_t measurement)
{
    brume_collected *collected = NULL;
    assert_ok(brume_place(all->question, all->plan, pushed ? BRUME_WHERE_ENGINE : BRUME_WHERE_BRUME,
                          &error));
    assert_ok(brume_collect(&all->plan->measurements[measurement].collection, all->engine, 1,
                            all->bits, &collected, &error));
    return collected;
}

/* The key that the next pushed collection draws. */
static uint64_t next_key(const asked *all)
{
    uint64_t word;
    brume_bits *again = brume_tape_open_seeded(SEED);
    for (size_t i = 0; i <= brume_tape_main_read(all->bits); i++)
        assert_ok(brume_bits_words(again, &word, 1, &error));
    brume_bits_close(again);
    return word;
}

static bool is_of(const row *one, const brume_key_value *keys)
{
    const brume_text *text = &keys[0].text;
    bool k = one->k ? !keys[0].null && text->length == strlen(one->k) &&
                          memcmp(text->data, one->k, text->length) == 0
                    : keys[0].null;
    return k && (one->l == NOTHING ? keys[1].null : !keys[1].null && keys[1].integer == one->l);
}

/* ---- the same as what is computed here ---- */

static void each_unit_keeps_one_private_group(void **state)
{
    (void)state;
    size_t groups_seen = 0;
    for (int round = 0; round < 8; round++) {
        asked all = open_query("c", "SELECT k, l, COUNT(*) FROM c GROUP BY k, l", 0, 0);
        table rows = random_table(round ? 1 + below(ROWS) : 0);
        fill("c", &rows, true);
        uint64_t key = next_key(&all);
        keep(&rows, key, 1);
        brume_collected *there = collect(&all, true, 0);
        size_t count = 0, units = 0;
        const brume_bounded_group *groups = brume_collected_groups(there, &count);
        for (size_t g = 0; g < count; g++) {
            uint64_t here = 0;
            for (size_t i = 0; i < rows.count; i++)
                here += rows.rows[i].kept && is_first(&rows, i) &&
                        is_of(&rows.rows[i], groups[g].keys);
            assert_int_equal(groups[g].units, here);
            assert_int_equal(groups[g].number, g);
            units += here;
        }
        bool there_are[UNITS] = {false};
        for (size_t i = 0; i < rows.count; i++)
            if (rows.rows[i].u != NOTHING)
                there_are[rows.rows[i].u] = true;
        for (size_t u = 0; u < UNITS; u++)
            units -= there_are[u];
        assert_int_equal(units, 0);
        groups_seen += count;
        brume_collected_close(there);
        close_query(&all);
    }
    assert_true(groups_seen > 10);
}

/* Which groups of `of` are shown: every other one that both have. Returns how many. */
static size_t choose_shown(const brume_collected *of, const brume_collected *other, bool *shown)
{
    size_t count = 0, others = 0, both = 0, chosen = 0;
    const brume_bounded_group *groups = brume_collected_groups(of, &count);
    const brume_bounded_group *rest = brume_collected_groups(other, &others);
    for (size_t g = 0; g < count; g++)
        for (size_t i = 0; i < others; i++)
            if (brume_keys_compare(groups[g].keys, rest[i].keys, 2) == 0 && both++ % 2 == 0) {
                shown[groups[g].number] = true;
                chosen++;
            }
    return chosen;
}

/* Histogram and sums over the groups that are shown, against those of streamed rows. Which groups
 * there are differs, because the hashes do. */
static void shown_groups_have_the_same_totals(void **state)
{
    (void)state;
    static const brume_total_limit limit = {{BRUME_TOTAL_SUM, 0}, 9, 0};
    static const brume_limited_sum sum = {.kind = BRUME_MEASURE_DIRECT, .shift = 20};
    asked all = open_query("c", "SELECT k, l, COUNT(*), SUM(x) FROM c GROUP BY k, l", 0, 0);
    size_t shown_all = 0;
    for (int round = 0; round < 12; round++) {
        table rows = random_table(ROWS);
        fill("c", &rows, true);
        brume_collected *pair[2] = {collect(&all, false, 0), collect(&all, true, 0)};
        uint64_t bins[2][BRUME_LIMIT_BINS];
        brume_i128 sums[2][ROWS];
        size_t shown_count[2];
        for (int w = 0; w < 2; w++) {
            size_t count = 0, at = 0;
            bool *shown = calloc(brume_collected_numbers(pair[w]) + 1, 1);
            shown_count[w] = choose_shown(pair[w], pair[1 - w], shown);
            assert_ok(brume_collected_histogram(pair[w], &limit.of, 1, BRUME_LIMIT_BINS, shown,
                                                bins[w], &error));
            assert_ok(brume_collected_limit(pair[w], &limit, 1, 1, shown, &sum, 1, &error));
            const brume_bounded_group *groups = brume_collected_groups(pair[w], &count);
            for (size_t g = 0; g < count; g++)
                if (shown[groups[g].number])
                    sums[w][at++] = groups[g].limited[0];
            free(shown);
        }
        assert_int_equal(shown_count[0], shown_count[1]);
        assert_memory_equal(bins[0], bins[1], sizeof bins[0]);
        assert_memory_equal(sums[0], sums[1], shown_count[0] * sizeof *sums[0]);
        shown_all += shown_count[0];
        brume_collected_close(pair[0]);
        brume_collected_close(pair[1]);
    }
    assert_true(shown_all > 10);
    close_query(&all);
}

static void distinct_values_are_those_that_a_unit_keeps(void **state)
{
    (void)state;
    asked all = open_query("c", "SELECT k, COUNT(DISTINCT l) FROM c GROUP BY k", 0, 0);
    size_t fewer = 0;
    assert_int_equal(all.plan->measurements[1].kind, BRUME_MEASUREMENT_DISTINCT);
    for (int round = 0; round < 8; round++) {
        table rows = random_table(1 + below(ROWS));
        for (size_t i = 0; i < rows.count; i++) /* rows without a value are not asked about */
            if (rows.rows[i].l == NOTHING)
                rows.rows[i].u = NOTHING;
        fill("c", &rows, true);
        brume_collected *groups_of = collect(&all, true, 0);
        uint64_t key = next_key(&all);
        brume_collected *values = collect(&all, true, 1);
        assert_true(brume_collected_counts_there(values));
        for (uint64_t limit = 1; limit <= 3; limit++) {
            size_t count = 0;
            const brume_bounded_group *groups = brume_collected_groups(groups_of, &count);
            const brume_bounded_group *asked_of[8];
            int64_t counts[8];
            for (size_t g = 0; g < count; g++)
                asked_of[g] = &groups[g];
            /* of the first groups alone, as if no other were shown */
            size_t shown = limit == 2 ? count / 2 : count;
            table left = rows;
            for (size_t i = 0; i < left.count; i++) {
                bool there = false;
                for (size_t g = 0; g < shown; g++) {
                    const brume_key_value keys[] = {groups[g].keys[0], {.null = true}};
                    row alike = left.rows[i];
                    alike.l = NOTHING;
                    there = there || is_of(&alike, keys);
                }
                if (!there)
                    left.rows[i].u = NOTHING;
            }
            keep(&left, key, limit);
            brume_collected_restrict(values, asked_of, shown, 1);
            assert_ok(brume_collected_count_values(values, limit, asked_of, shown, counts, &error));
            for (size_t g = 0; g < shown; g++) {
                int64_t here = 0, whole = 0;
                for (size_t i = 0; i < left.count; i++) {
                    const brume_key_value keys[] = {groups[g].keys[0],
                                                    {.null = false, .integer = left.rows[i].l}};
                    bool kept = false, seen = false;
                    for (size_t j = 0; j < left.count; j++) { /* the same value, of any unit */
                        bool same = left.rows[j].u != NOTHING && is_of(&left.rows[j], keys);
                        seen = seen || (same && j < i);
                        kept = kept || (same && left.rows[j].kept);
                    }
                    bool own = left.rows[i].u != NOTHING && is_of(&left.rows[i], keys) && !seen;
                    here += own && kept;
                    whole += own;
                }
                assert_int_equal(counts[g], here);
                fewer += here < whole;
            }
        }
        brume_collected_close(values);
        brume_collected_close(groups_of);
    }
    assert_true(fewer > 5); /* something was cut */
    close_query(&all);
}

static void compare_groups(brume_collected *a, brume_collected *b)
{
    size_t count = 0, other = 0;
    const brume_bounded_group *left = brume_collected_groups(a, &count);
    const brume_bounded_group *right = brume_collected_groups(b, &other);
    assert_int_equal(count, other);
    for (size_t g = 0; g < count; g++) {
        assert_int_equal(brume_keys_compare(left[g].keys, right[g].keys, 2), 0);
        assert_int_equal(left[g].units, right[g].units);
        assert_int_equal(left[g].rows, right[g].rows);
    }
}

/* The server cuts the table; the bounder gets what is left of it, where nothing is cut. Keys alone,
 * and modes of values that nobody declared. */
static void several_groups_are_kept_as_computed_here(void **state)
{
    (void)state;
    size_t cut = 0;
    for (uint64_t groups = 1; groups <= 4; groups++)
        for (int mode = 0; mode < 2; mode++) {
            const char *sql = mode ? "SELECT k, MODE() WITHIN GROUP (ORDER BY l) FROM c GROUP BY k"
                                   : "SELECT k, l FROM c GROUP BY k, l";
            asked all = open_query("c", sql, groups, 2), left = open_query("kept", sql, 500, 500);
            size_t of = mode ? 1 : 0;
            brume_collection *collection = &all.plan->measurements[of].collection;
            assert_true(collection->bounded && !collection->totals);
            assert_int_equal(collection->max_groups, mode ? 2 * groups : groups);
            left.plan->measurements[of].collection.max_rows = collection->max_rows;
            table rows = random_table(ROWS);
            for (size_t i = 0; mode && i < rows.count; i++)
                if (rows.rows[i].l == NOTHING)
                    rows.rows[i].u = NOTHING;
            fill("c", &rows, true);
            keep(&rows, next_key(&all), collection->max_groups);
            fill("kept", &rows, false);
            brume_collected *there = collect(&all, true, of), *here = collect(&left, false, of);
            compare_groups(there, here);
            for (size_t r = 0; r < rows.count; r++)
                cut += rows.rows[r].u != NOTHING && !rows.rows[r].kept;
            brume_collected_close(there);
            brume_collected_close(here);
            close_query(&all);
            close_query(&left);
        }
    assert_true(cut > 100);
}

/* ---- neighbours ---- */

/* A statement's result: rows of numbers under keys, as text. */
typedef struct answer {
    PGresult *result;
    int keys;
} answer;

static answer ask(const char *sql, int keys)
{
    return (answer){run(sql), keys};
}

static bool same_keys(const answer *a, int i, const answer *b, int j)
{
    for (int k = 0; k < a->keys; k++)
        if (PQgetisnull(a->result, i, k) != PQgetisnull(b->result, j, k) ||
            strcmp(PQgetvalue(a->result, i, k), PQgetvalue(b->result, j, k)) != 0)
            return false;
    return true;
}

static double number(const answer *of, int i, int column)
{
    return i < 0 ? 0 : strtod(PQgetvalue(of->result, i, of->keys + column), NULL);
}

static int find(const answer *in, const answer *of, int i)
{
    for (int j = 0; j < PQntuples(in->result); j++)
        if (same_keys(of, i, in, j))
            return j;
    return -1;
}

/* How far a column moves, in all groups together; *groups is in how many. */
static double moved(const answer *a, const answer *b, int column, int *groups)
{
    double sum = 0;
    *groups = 0;
    for (int side = 0; side < 2; side++) {
        const answer *from = side ? b : a, *to = side ? a : b;
        for (int i = 0; i < PQntuples(from->result); i++) {
            int j = find(to, from, i);
            double far = fabs(number(from, i, column) - number(to, j, column));
            if ((side && j >= 0) || far == 0)
                continue; /* seen from the other side */
            sum += far;
            ++*groups;
        }
    }
    return sum;
}

/* What is checked: a statement, and how far each unit may move its columns, each group's at most
 * `each` and all together `most`. */
typedef struct checked {
    char *sql;
    int keys, columns;
    double most[3];
    int groups;
} checked;

/* The worst of what the units move, over what they may: at most 1 if all is right. `times` is 1 for
 * a unit that goes and 2 for one that has other rows. */
static double worst_move(const checked *of, const table *all, bool replace)
{
    double worst = 0, times = replace ? 2 : 1;
    fill("c", all, true);
    answer before = ask(of->sql, of->keys);
    for (int64_t unit = 0; unit < UNITS; unit++) {
        table other = *all;
        for (size_t i = 0; i < other.count; i++)
            if (other.rows[i].u == unit) {
                other.rows[i] = random_row();
                other.rows[i].u = replace ? unit : NOTHING;
            }
        fill("c", &other, true);
        answer after = ask(of->sql, of->keys);
        for (int column = 0; column < of->columns; column++) {
            int groups = 0;
            double far = moved(&before, &after, column, &groups);
            worst = fmax(worst, far / (times * of->most[column]));
            worst = fmax(worst, groups / (times * of->groups));
        }
        PQclear(after.result);
    }
    PQclear(before.result);
    return worst;
}

static char *replaced(const char *text, const char *from, const char *to)
{
    char *out = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&out, &length);
    const char *at = strstr(text, from);
    if (!at)
        fail_msg("no '%s' in: %s", from, text);
    fprintf(file, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    fclose(file);
    return out;
}

static checked print(const asked *all, int kind)
{
    static const char *const tables[] = {"public.c"};
    const uint64_t key = UINT64_C(0xf23456789abcdef);
    const brume_collection *collection = &all->plan->measurements[kind == 1 ? 1 : 0].collection;
    char *rows = NULL;
    checked made = {.keys = kind == 1 ? 1 : 2, .columns = 1, .most = {1}, .groups = 1};
    assert_ok(brume_collect_statement(collection, BRUME_DIALECT_POSTGRESQL, tables, &rows, &error));
    if (kind == 0) {
        assert_ok(brume_push_print_kept(collection, rows, key, &made.sql, &error));
    } else if (kind == 1) {
        made.most[0] = made.groups = 2;
        assert_ok(brume_push_print_distinct(collection, rows, key, 2, &made.sql, &error));
    } else { /* two groups, three rows in each */
        made = (checked){.keys = 2, .columns = 2, .most = {2, 6}, .groups = 2};
        assert_ok(brume_push_print_bounded(collection, rows, key, &made.sql, &error));
    }
    free(rows);
    return made;
}

/* Also of statements that look at others' rows: these are found out. */
static void one_unit_moves_no_more_than_its_limits(void **state)
{
    (void)state;
    static const struct {
        const char *sql, *from, *to;
        uint64_t groups, rows;
    } kinds[] = {
        {"SELECT k, l, COUNT(*) FROM c GROUP BY k, l", "PARTITION BY \"r0\" ", "", 0, 0},
        {"SELECT k, COUNT(DISTINCT l) FROM c GROUP BY k", "\"g\" <= '2'", "\"g\" <= '4'", 0, 0},
        {"SELECT k, l FROM c GROUP BY k, l", "PARTITION BY \"r0\" ", "", 2, 3},
    };
    PQclear(run("SET search_path = pg_catalog, public"));
    for (int kind = 0; kind < 3; kind++) {
        asked all = open_query("c", kinds[kind].sql, kinds[kind].groups, kinds[kind].rows);
        checked right = print(&all, kind), wrong = right;
        wrong.sql = replaced(right.sql, kinds[kind].from, kinds[kind].to);
        double worst[2] = {0, 0}, found = 0;
        for (int round = 0; round < 10; round++) {
            table rows = random_table(ROWS / 2);
            for (int replace = 0; replace < 2; replace++) {
                double far = worst_move(&right, &rows, replace);
                assert_true(far <= 1);
                worst[replace] = fmax(worst[replace], far);
                found = fmax(found, worst_move(&wrong, &rows, replace));
            }
        }
        assert_true(worst[0] == 1); /* the limits are reached */
        assert_true(worst[1] > 0.7);
        assert_true(found > 1);
        free(right.sql);
        free(wrong.sql);
        close_query(&all);
    }
    PQclear(run("RESET search_path"));
}

/* ---- the law of the choice ---- */

/* One unit in five groups, one of them NULL, under 4,000 keys: each is kept in a fifth of them.
 * Chi-square with 4 degrees of freedom is above 33.4 with probability 1e-6; keys are fixed, so that
 * the test always does the same. */
static void all_groups_are_kept_equally_often(void **state)
{
    (void)state;
    enum { KEYS = 4000, GROUPS = 5 };
    asked all = open_query("c", "SELECT k, l, COUNT(*) FROM c GROUP BY k, l", 0, 0);
    const brume_collection *collection = &all.plan->measurements[0].collection;
    static const char *const tables[] = {"public.c"};
    char *rows = NULL, *sql = NULL, key_text[32];
    int64_t counts[GROUPS] = {0};
    PQclear(
        run("DELETE FROM c; INSERT INTO c VALUES (1, 'a', 1, 1), (1, 'b', 1, 1), (1, NULL, 1, 1), "
            "(1, 'a', NULL, 1), (1, 'a', 1099511627777, 1)"));
    assert_ok(brume_collect_statement(collection, BRUME_DIALECT_POSTGRESQL, tables, &rows, &error));
    const uint64_t key = 1234567;
    assert_ok(brume_push_print_kept(collection, rows, key, &sql, &error));
    /* the key as a column of numbers, so that all are one statement */
    char *whole = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&whole, &length);
    snprintf(key_text, sizeof key_text, "'%lld'::int8", 1234567LL);
    fputs("SELECT r1, r2, count(*) FROM (SELECT hashint8extended(i, 99) AS key FROM "
          "generate_series(1, 4000) AS s(i)) AS keys, LATERAL (",
          out);
    for (const char *at = sql, *next; *at; at = next) {
        next = strstr(at, key_text);
        fprintf(out, "%.*s%s", next ? (int)(next - at) : (int)strlen(at), at, next ? "key" : "");
        next = next ? next + strlen(key_text) : at + strlen(at);
    }
    fputs(") AS kept GROUP BY r1, r2", out);
    fclose(out);
    PGresult *result = run(whole);
    assert_int_equal(PQntuples(result), GROUPS);
    double far = 0, expected = (double)KEYS / GROUPS;
    for (int i = 0; i < GROUPS; i++) {
        counts[i] = strtoll(PQgetvalue(result, i, 2), NULL, 10);
        far += ((double)counts[i] - expected) * ((double)counts[i] - expected) / expected;
    }
    if (far > 33.4)
        fail_msg("chi-square %g", far);
    PQclear(result);
    free(whole);
    free(rows);
    free(sql);
    close_query(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_unit_keeps_one_private_group),
        cmocka_unit_test(shown_groups_have_the_same_totals),
        cmocka_unit_test(distinct_values_are_those_that_a_unit_keeps),
        cmocka_unit_test(several_groups_are_kept_as_computed_here),
        cmocka_unit_test(one_unit_moves_no_more_than_its_limits),
        cmocka_unit_test(all_groups_are_kept_equally_often),
    };
    return cmocka_run_group_tests(tests, connect_here, disconnect);
}
