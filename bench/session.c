/* What calls of a session take from C, for comparison with other languages.
 *
 *   session     in a folder with people.csv (columns person, town)
 *
 * Reads lines "WHAT CALLS" and answers each, when it has made so many calls, with one line: the
 * microseconds of a call by the clock (the median) and of processor time (all threads, the mean).
 * WHAT is account; query, each asked anew; again, a query that is read again for free; or noise for
 * ten million integers. python/bench/overhead.py makes the same calls from Python in turn. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <brume/bits.h>
#include <brume/noise/laplace.h>
#include <brume/session.h>

enum { MOST_CALLS = 10000, INTEGERS = 10000000 };

typedef struct place {
    brume_session *session;
    brume_bits *bits;
    int64_t *values;
    int asked;
} place;

static double now(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec * 1e-3;
}

static void check(brume_status status, const brume_error *error)
{
    if (status != BRUME_OK) {
        fprintf(stderr, "session: %s\n", error->message);
        exit(1);
    }
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void account(place *here)
{
    brume_error error = {0};
    char *answer = NULL;
    check(brume_session_call(here->session, "account",
                             "{\"expr\": \"gaussian(sigma=5)\", \"delta\": 1e-6}", &answer, &error),
          &error);
    brume_free(answer);
}

static void ask(place *here, int number)
{
    brume_error error = {0};
    char *answer = NULL, sql[120];
    struct ArrowArrayStream rows = {0};
    snprintf(sql, sizeof sql, "SELECT COUNT(*) AS n FROM people WHERE person <> 'c%d'", number);
    check(brume_session_query(here->session, sql, "{\"epsilon\": 0.001}", &rows, &answer, &error),
          &error);
    rows.release(&rows);
    brume_free(answer);
}

static void query(place *here)
{
    ask(here, ++here->asked);
}

static void again(place *here)
{
    ask(here, 0);
}

static void noise(place *here)
{
    brume_error error = {0};
    check(
        brume_discrete_laplace_add(here->bits, 10.0, here->values, here->values, INTEGERS, &error),
        &error);
}

static void measure(void (*act)(place *), place *here, int calls)
{
    static double times[MOST_CALLS];
    double before = now(CLOCK_PROCESS_CPUTIME_ID);
    for (int i = 0; i < calls; i++) {
        double began = now(CLOCK_MONOTONIC);
        act(here);
        times[i] = now(CLOCK_MONOTONIC) - began;
    }
    double spent = now(CLOCK_PROCESS_CPUTIME_ID) - before;
    qsort(times, (size_t)calls, sizeof *times, by_size);
    printf("%.3f %.3f\n", times[calls / 2], spent / calls);
    fflush(stdout);
}

int main(void)
{
    static const struct {
        const char *name;
        void (*act)(place *);
    } acts[] = {{"account", account}, {"query", query}, {"again", again}, {"noise", noise}};
    place here = {.values = calloc(INTEGERS, sizeof *here.values)};
    brume_error error = {0};
    char what[16];
    int calls;
    if (!here.values)
        return 1;
    check(brume_bits_open(&here.bits, &error), &error);
    check(brume_session_open("c.db", NULL, &here.session, &error), &error);
    check(brume_session_call(here.session, "register",
                             "{\"name\": \"people\", \"source\": \"people.csv\", \"unit\": "
                             "\"person\", \"budget\": {\"epsilon\": 1000}}",
                             NULL, &error),
          &error);
    while (scanf("%15s %d", what, &calls) == 2 && calls > 0 && calls <= MOST_CALLS)
        for (size_t i = 0; i < sizeof acts / sizeof *acts; i++)
            if (strcmp(acts[i].name, what) == 0)
                measure(acts[i].act, &here, calls);
    brume_session_close(here.session);
    brume_bits_close(here.bits);
    free(here.values);
    return 0;
}
