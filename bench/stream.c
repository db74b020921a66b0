/* Streams: how much processor time a question takes, and how much memory many take.
 *
 *     ./run bench stream [ROWS [QUESTIONS]]      1000000 rows and 400 questions unless typed
 *
 * Runs the command line (build/src/cli/brume, or $BRUME). What opening costs is measured by a
 * stream of one question and subtracted. Conditions: `numbers` compares two integers, `text` one of
 * four names, `mixed` three columns; of a quarter of all rows or less. Units have about three rows
 * each. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char folder[] = "/tmp/brume-stream.XXXXXX";
static const char *program;

typedef struct used {
    double processor, wall; /* seconds */
    long memory;            /* KiB, at most */
} used;

static void stop(const char *what)
{
    fprintf(stderr, "stream: %s\n", what);
    exit(1);
}

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* Run a command of the shell in the folder. */
static used run(const char *command)
{
    struct timespec start, end;
    struct rusage usage;
    int status = 0;
    clock_gettime(CLOCK_MONOTONIC, &start);
    pid_t child = fork();
    if (child == 0) {
        if (chdir(folder) != 0 || setenv("BRUME", program, 1) != 0)
            _exit(126);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &usage) != child || status != 0)
        stop(command);
    clock_gettime(CLOCK_MONOTONIC, &end);
    return (used){.processor = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                               (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6,
                  .wall = (double)(end.tv_sec - start.tv_sec) +
                          (double)(end.tv_nsec - start.tv_nsec) * 1e-9,
                  .memory = usage.ru_maxrss};
}

static FILE *new_file(const char *name)
{
    char path[64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    if (!file)
        stop(path);
    return file;
}

static void make_rows(uint64_t rows)
{
    static const char *const towns[] = {"Lyon", "Nice", "Lille", "Paris"};
    FILE *out = new_file("people.csv");
    fputs("person,town,age,income\n", out);
    for (uint64_t i = 0; i < rows; i++) {
        uint64_t x = mix(i + 1);
        fprintf(out, "p%llu,%s,%llu,%llu\n", (unsigned long long)(mix(i % (rows / 3 + 1)) >> 40),
                towns[x % 4], (unsigned long long)(x / 4 % 100),
                (unsigned long long)(x / 400 % 100000));
    }
    fclose(out);
}

enum { NUMBERS, TEXT, MIXED, KINDS };
static const char *const kinds[] = {"numbers", "text", "mixed"};

static void make_questions(int kind, uint64_t count)
{
    FILE *out = new_file("questions");
    for (uint64_t i = 0; i < count; i++) {
        unsigned age = (unsigned)(mix(i) % 50), income = (unsigned)(mix(~i) % 100000);
        if (kind == NUMBERS)
            fprintf(out, "age < %u AND income >= %u\n", age, income);
        else if (kind == TEXT)
            fprintf(out, "town = '%s'\n", i % 2 ? "Lyon" : "Lille");
        else
            fprintf(out, "age < %u AND town = 'Lyon' AND income >= %u\n", age + 50, income);
    }
    fclose(out);
}

static used ask_conditions(int kind, uint64_t count)
{
    make_questions(kind, count);
    return run(
        "\"$BRUME\" stream sparse-vector --threshold 1e9 --epsilon 1 --hits 3 --dataset people "
        "< questions > answers");
}

static void measure_conditions(uint64_t rows, uint64_t count)
{
    make_rows(rows);
    run("\"$BRUME\" register people people.csv --unit person --columns 'person text, town text, age "
        "integer, income integer' --budget epsilon=1000 --json > registered");
    used one = ask_conditions(NUMBERS, 1);
    printf("%llu rows of about a third as many units; opening takes %.2f s of processor time\n\n",
           (unsigned long long)rows, one.processor);
    printf("conditions  ms of processor a question  a second on one core  a second here  MiB\n");
    for (int kind = 0; kind < KINDS; kind++) {
        used many = ask_conditions(kind, count + 1);
        double each = (many.processor - one.processor) / (double)count;
        printf("%-10s  %26.2f  %20.1f  %13.1f  %3ld\n", kinds[kind], each * 1e3, 1 / each,
               (double)count / (many.wall - one.wall), many.memory / 1024);
    }
    used few = ask_conditions(MIXED, count / 4 + 1), many = ask_conditions(MIXED, count * 4 + 1);
    printf("memory: %ld MiB after %llu questions, %ld MiB after %llu\n\n", few.memory / 1024,
           (unsigned long long)(count / 4 + 1), many.memory / 1024,
           (unsigned long long)(count * 4 + 1));
}

static used ask_numbers(uint64_t count)
{
    FILE *out = new_file("numbers");
    for (uint64_t i = 0; i < count; i++)
        fprintf(out, "%llu.%llu\n", (unsigned long long)(mix(i) % 1000),
                (unsigned long long)(mix(i) / 1000 % 1000));
    fclose(out);
    return run("\"$BRUME\" stream sparse-vector --threshold 1e9 --epsilon 1 --hits 3 --no-ledger < "
               "numbers > answers");
}

static void measure_numbers(uint64_t count)
{
    used few = ask_numbers(count / 1000), many = ask_numbers(count);
    printf("numbers: %.0f lines a second of processor time, %.0f here; %ld MiB after %llu, %ld MiB "
           "after %llu\n",
           (double)count / many.processor, (double)count / many.wall, few.memory / 1024,
           (unsigned long long)(count / 1000), many.memory / 1024, (unsigned long long)count);
}

int main(int argc, char **argv)
{
    uint64_t rows = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000;
    uint64_t questions = argc > 2 ? strtoull(argv[2], NULL, 10) : 400;
    char path[4096];
    if (rows < 3 || questions < 4)
        stop("at least 3 rows and 4 questions");
    program = getenv("BRUME") ? getenv("BRUME") : realpath("build/src/cli/brume", path);
    if (!program || access(program, X_OK) != 0 || !mkdtemp(folder))
        stop("no build/src/cli/brume");
    unsetenv("BRUME_LEDGER");
    measure_conditions(rows, questions);
    measure_numbers(1000000);
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) == 0 ? 0 : 1;
}
