/* Releases by smooth sensitivity: s and t of the noise, and the t for which the bound is smooth,
 * are the same for all data. Whatever is public stays; the table is another one each time.
 *
 * The linker puts the functions below between the command line and the library (--wrap), so that
 * the numbers themselves are seen, not draws that depend on them. */
#include "check.h"

#include <stdlib.h>
#include <unistd.h>

#include <brume/statistic/interquartile.h>
#include <brume/statistic/quantile.h>
#include <brume/mechanism/smooth.h>
#include <brume/statistic/triangle.h>

#include "command/frame/call.h"
#include "command/frame/output.h"

static brume_error error;

/* What a release used. */
typedef struct used {
    int bounds, releases;
    double bound_t;
    brume_smooth_plan plan;
    double most;
} used;

static used seen;
static int depth;

#define WATCH_BOUND(name, type)                                                                    \
    brume_status __real_##name(const type *, double, double *, brume_error *);                     \
    brume_status __wrap_##name(const type *, double, double *, brume_error *);                     \
    brume_status __wrap_##name(const type *of, double t, double *out, brume_error *why)            \
    {                                                                                              \
        if (depth++ == 0) { /* one statistic may ask another */                                    \
            seen.bounds++;                                                                         \
            seen.bound_t = t;                                                                      \
        }                                                                                          \
        brume_status status = __real_##name(of, t, out, why);                                      \
        depth--;                                                                                   \
        return status;                                                                             \
    }

WATCH_BOUND(brume_quantile_smooth, brume_quantile)
WATCH_BOUND(brume_interquartile_smooth, brume_interquartile)
WATCH_BOUND(brume_triangle_smooth, brume_graph)

brume_status __real_brume_smooth_release(const brume_smooth_plan *, brume_bits *, int64_t, double,
                                         double, int64_t *, brume_error *);
brume_status __wrap_brume_smooth_release(const brume_smooth_plan *, brume_bits *, int64_t, double,
                                         double, int64_t *, brume_error *);
brume_status __wrap_brume_smooth_release(const brume_smooth_plan *plan, brume_bits *bits,
                                         int64_t value, double smooth, double most, int64_t *out,
                                         brume_error *why)
{
    seen.releases++;
    seen.plan = *plan;
    seen.most = most;
    return __real_brume_smooth_release(plan, bits, value, smooth, most, out, why);
}

/* Run one command; its words are separated by single spaces. */
static void run(const char *command)
{
    enum { WORDS = 32 };
    char text[512], *words[WORDS];
    int count = 0, taken = 0;
    snprintf(text, sizeof text, "%s", command);
    for (char *word = strtok(text, " "); word && count < WORDS; word = strtok(NULL, " "))
        words[count++] = word;
    brume_call call = {0};
    const brume_command *found = NULL;
    bool help = false;
    assert_ok(brume_call_open_output(&call, &error));
    assert_ok(brume_find_command(count, words, &found, &taken, &error));
    assert_ok(brume_call_parse(found, count - taken, words + taken, &call, &help, &error));
    assert_ok(found->run(&call, &error));
    brume_call_close(&call);
    brume_call_close_output(&call);
}

/* Tables of numbers with very different medians, spreads and local sensitivities; and graphs with
 * and without triangles. */
static void write_table(int which)
{
    FILE *file = fopen("table.csv", "w");
    assert_non_null(file);
    fputs("x\n", file);
    for (int i = 0; i < 201; i++) {
        const int values[] = {i, 100, i < 101 ? 0 : 1000, 1000 - i * i % 997};
        fprintf(file, "%d\n", values[which]);
    }
    fclose(file);
    file = fopen("graph.csv", "w");
    assert_non_null(file);
    fputs("source,target\n", file);
    for (int i = 0; i < 20; i++)
        for (int j = i + 1; j < 20; j++)
            if (which == 0 || (which == 1 && i == 0) || (which == 2 && j == i + 1) ||
                (which == 3 && j % 3 == 0))
                fprintf(file, "%d,%d\n", i, j);
    fclose(file);
}

/* Rejects: a t (or with it an s) that is taken from the data, in the plan of the noise or for the
 * bound: for instance t = 1/(1 + the local sensitivity), or the t of whichever bound is least. */
static void s_and_t_are_the_same_for_all_data(void **state)
{
    (void)state;
    static const char *const statistics[] = {
        "release median table.csv --column x --bounds 0..1000",
        "release quantile table.csv --column x --bounds 0..1000 --q 0.9",
        "release iqr table.csv --column x --bounds 0..1000",
        "release triangles graph.csv --vertices 20",
    };
    static const char *const noises[] = {"--delta 1e-6",
                                         "",
                                         "--noise student --degrees 4",
                                         "--noise cauchy --smoothness 0.05",
                                         "--noise lln",
                                         "--noise laplace --delta 1e-9 --smoothness 0.01"};
    for (size_t s = 0; s < sizeof statistics / sizeof *statistics; s++)
        for (size_t n = 0; n < sizeof noises / sizeof *noises; n++) {
            used first = {0};
            for (int which = 0; which < 4; which++) {
                char command[400];
                snprintf(command, sizeof command, "%s --method smooth --epsilon 0.8 --no-ledger %s",
                         statistics[s], noises[n]);
                seen = (used){0};
                write_table(which);
                run(command);
                if (seen.bounds != 1 || seen.releases != 1)
                    fail_msg("%s, table %d: %d bounds, %d releases", command, which, seen.bounds,
                             seen.releases);
                /* the bound is smooth for the t that the noise allows for */
                assert_true(seen.bound_t == seen.plan.t);
                if (which == 0)
                    first = seen;
                assert_true(seen.plan.law == first.plan.law && seen.plan.s == first.plan.s &&
                            seen.plan.t == first.plan.t && seen.plan.shape == first.plan.shape &&
                            seen.most == first.most);
            }
            /* and they are of what was typed: laplace and cauchy say what s and t cost */
            if (first.plan.law == BRUME_SMOOTH_LAPLACE)
                assert_holds(brume_smooth_laplace_delta_upper(.8, first.plan.s, first.plan.t) <=
                             (n == 0 ? 1e-6 : 1e-9));
            if (first.plan.law == BRUME_SMOOTH_CAUCHY)
                assert_holds(brume_smooth_cauchy_epsilon_upper(first.plan.s, first.plan.t) <= .8);
        }
}

static char folder[] = "/tmp/brume-smoothness-XXXXXX";

static int enter_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : 1;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink("table.csv");
    unlink("graph.csv");
    return chdir("/") == 0 && rmdir(folder) == 0 ? 0 : 1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(s_and_t_are_the_same_for_all_data),
    };
    return cmocka_run_group_tests_name("smoothness", tests, enter_folder, remove_folder);
}
