/* What a call of a session takes from C, for comparison with other languages.
 *
 *   session CALLS    in a folder with people.csv (columns person, town)
 *
 * Prints microseconds, the median of CALLS calls each: an account, a query that is asked anew, and
 * noise for ten million integers (milliseconds). python/bench/overhead.py runs it beside the same
 * calls from Python. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <brume/bits.h>
#include <brume/noise/laplace.h>
#include <brume/session.h>

enum { MOST_CALLS = 10000, INTEGERS = 10000000 };

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
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

static double median(double *times, int count)
{
    qsort(times, (size_t)count, sizeof *times, by_size);
    return times[count / 2];
}

static double account(brume_session *session, int calls, double *times)
{
    brume_error error = {0};
    for (int i = 0; i < calls; i++) {
        char *answer = NULL;
        double began = now();
        check(brume_session_call(session, "account",
                                 "{\"expr\": \"gaussian(sigma=5)\", \"delta\": 1e-6}", &answer,
                                 &error),
              &error);
        times[i] = now() - began;
        brume_free(answer);
    }
    return median(times, calls);
}

static double query(brume_session *session, int calls, double *times)
{
    brume_error error = {0};
    for (int i = 0; i < calls; i++) {
        char *answer = NULL, sql[120];
        struct ArrowArrayStream rows = {0};
        snprintf(sql, sizeof sql, "SELECT COUNT(*) AS n FROM people WHERE person <> 'c%d'", i);
        double began = now();
        check(brume_session_query(session, sql, "{\"epsilon\": 0.001}", &rows, &answer, &error),
              &error);
        times[i] = now() - began;
        rows.release(&rows);
        brume_free(answer);
    }
    return median(times, calls);
}

static double noise(double *times, int calls)
{
    int64_t *values = calloc(INTEGERS, sizeof *values);
    brume_bits *bits = NULL;
    brume_error error = {0};
    if (!values)
        exit(1);
    check(brume_bits_open(&bits, &error), &error);
    for (int i = 0; i < calls; i++) {
        double began = now();
        check(brume_discrete_laplace_add(bits, 10.0, values, values, INTEGERS, &error), &error);
        times[i] = now() - began;
    }
    brume_bits_close(bits);
    free(values);
    return median(times, calls) * 1e-3;
}

int main(int argc, char **argv)
{
    static double times[MOST_CALLS];
    int calls = argc > 1 ? atoi(argv[1]) : 200;
    brume_session *session = NULL;
    brume_error error = {0};
    if (calls < 1 || calls > MOST_CALLS)
        return 2;
    check(brume_session_open("c.db", NULL, &session, &error), &error);
    check(brume_session_call(session, "register",
                             "{\"name\": \"people\", \"source\": \"people.csv\", \"unit\": "
                             "\"person\", \"budget\": {\"epsilon\": 1000}}",
                             NULL, &error),
          &error);
    printf("account %.2f\n", account(session, calls, times));
    printf("query %.1f\n", query(session, calls, times));
    printf("noise %.2f\n", noise(times, 9));
    brume_session_close(session);
    return 0;
}
