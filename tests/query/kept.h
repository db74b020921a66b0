/* What an engine keeps of every unit by a keyed hash, for tests of each engine: tables, and what is
 * kept of them by the hash as it is computed here; queries; and the checks that every engine must
 * pass. What differs between engines is in a kept_engine. */
#ifndef BRUME_TESTS_QUERY_KEPT_H
#define BRUME_TESTS_QUERY_KEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "asked.h"

enum { KEPT_UNITS = 6, KEPT_ROWS = 60, KEPT_NAMES = 6 };
enum { KEPT_NOTHING = INT64_MIN }; /* NULL */

/* ---- tables (u, k, l, x) ---- */

typedef struct kept_row {
    int64_t u;     /* KEPT_NOTHING: nobody's */
    const char *k; /* NULL */
    int64_t l, x;
    int64_t rank;
    bool kept;
} kept_row;

typedef struct kept_table {
    size_t count;
    kept_row rows[KEPT_ROWS];
} kept_table;

/* So many random rows of the engine's names. */
kept_table kept_random_table(size_t count);

/* Print a number or NULL, and what comes after it. */
void kept_put_number(FILE *out, int64_t number, const char *after);

/* ---- statements on neighbours ---- */

/* A statement, and how far each unit may move its columns in all groups together, and in how many
 * groups. */
typedef struct kept_statement {
    char *sql;
    size_t keys, columns;
    double most[2];
    int groups;
} kept_statement;

/* Its answer: rows of numbers under keys, as text (NULL: none). */
typedef struct kept_answer {
    size_t count;
    struct {
        char *keys[2];
        double numbers[2];
    } rows[KEPT_ROWS + 1];
} kept_answer;

/* A kind of statement, and one that is wrong: `from` is replaced in it. */
typedef struct kept_kind {
    const char *sql, *from, *to;
    uint64_t groups, rows;
} kept_kind;

/* ---- engines ---- */

typedef struct kept_engine {
    const char *url;
    const char *names[KEPT_NAMES]; /* values of k, one of them NULL */
    /* Fill the table `name` with the rows, or with those that are kept. */
    void (*fill)(const char *name, const kept_table *from, bool all);
    /* The engine's hash, computed here. */
    int64_t (*rank)(const kept_row *one, uint64_t key);
    /* Let the printed statements read these rows. */
    void (*show)(const kept_table *from);
    kept_answer (*ask)(const kept_statement *of);
    /* The dialect of the statements, and what they call the table of `show`. */
    brume_dialect dialect;
    const char *shown_as;
    kept_kind kinds[3]; /* one group a unit, two distinct values, two groups and three rows each */
    /* Rounds of the checks below, fewer for an engine that takes its time: the last one for each
     * kind of statement. Several groups are from `least` to `most`. */
    int single, shown, distinct, neighbours;
    uint64_t least, most;
} kept_engine;

/* The engine that the following is about. */
extern const kept_engine *kept_here;

/* A query on the engine's table of that name, planned under these limits (0: none). */
asked kept_open(const char *name, const char *sql, uint64_t groups, uint64_t rows);

/* ---- the checks, as tests of cmocka ---- */

void kept_check_single(void **state);     /* each unit keeps one private group */
void kept_check_shown(void **state);      /* shown groups have the totals of streamed rows */
void kept_check_distinct(void **state);   /* distinct values are those that a unit keeps */
void kept_check_several(void **state);    /* several groups are kept as computed here */
void kept_check_neighbours(void **state); /* one unit moves no more than its limits */

#endif
