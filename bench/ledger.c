/* Charges a second: a reservation and its recorded answer, as the release path makes them.
 *
 *   ./run bench ledger [CHARGES] [PROCESSES] [URL]
 *
 * In a file of the temporary folder and, where a URL is named, in that PostgreSQL database, whose
 * schema `brume_bench` is made and left. One dataset, so that all charges wait for each other. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ledger/ledger.h"

static void need(brume_status status, const brume_error *error)
{
    if (status == BRUME_OK)
        return;
    fprintf(stderr, "bench ledger: %s\n", error->message);
    exit(1);
}

static double now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

static void prepare(const char *place, const char *dataset)
{
    brume_error error = {0};
    brume_ledger *ledger = NULL;
    brume_decimal epsilon, zero;
    brume_filter filter;
    need(brume_decimal_parse("1000000", &epsilon, &error), &error);
    need(brume_decimal_parse("0", &zero, &error), &error);
    need(brume_filter_make(BRUME_RULE_PURE, &epsilon, &zero, NULL, &filter, &error), &error);
    json_t *policy = json_pack("{s:s}", "unit", "person");
    brume_registration registration = {.name = dataset,
                                       .source = dataset,
                                       .data_version = "1",
                                       .adjacency = BRUME_ADD_REMOVE,
                                       .filter = &filter,
                                       .policy = policy};
    need(brume_ledger_open(place, BRUME_LEDGER_CREATE, &ledger, &error), &error);
    need(brume_ledger_register(ledger, &registration, &error), &error);
    json_decref(policy);
    brume_ledger_close(ledger);
}

/* Each charge opens the ledger, as each call of a server does. */
static void work(const char *place, const char *dataset, int charges)
{
    brume_error error = {0};
    brume_decimal epsilon, zero;
    brume_charge price;
    need(brume_decimal_parse("0.01", &epsilon, &error), &error);
    need(brume_decimal_parse("0", &zero, &error), &error);
    need(brume_charge_make(BRUME_RULE_PURE, &epsilon, &zero, &price, &error), &error);
    const brume_ledger_charge charge = {.dataset = dataset, .price = &price};
    json_t *answer = json_pack("{s:i}", "count", 42);
    for (int i = 0; i < charges; i++) {
        char key[64];
        uint64_t id = 0;
        brume_ledger *ledger = NULL;
        snprintf(key, sizeof key, "%s %d %d", dataset, (int)getpid(), i);
        const brume_reservation asked = {.charges = &charge,
                                         .charge_count = 1,
                                         .sql = "SELECT COUNT(*) FROM visits",
                                         .answer_key = key};
        need(brume_ledger_open(place, BRUME_LEDGER_WRITE, &ledger, &error), &error);
        need(brume_ledger_reserve(ledger, &asked, &id, &error), &error);
        need(brume_ledger_commit(ledger, id, answer, &error), &error);
        brume_ledger_close(ledger);
    }
    json_decref(answer);
}

static void measure(const char *name, const char *place, int charges, int processes)
{
    char dataset[48];
    snprintf(dataset, sizeof dataset, "bench %d", (int)getpid());
    prepare(place, dataset);
    double start = now();
    for (int i = 0; i < processes; i++)
        if (fork() == 0) {
            work(place, dataset, charges / processes);
            _exit(0);
        }
    bool good = true;
    for (int i = 0, status = 0; i < processes; i++)
        good = wait(&status) > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0 && good;
    double seconds = now() - start;
    int done = charges / processes * processes;
    printf("%-12s %6d charges, %2d processes: %7.2f s, %6.0f a second%s\n", name, done, processes,
           seconds, done / seconds, good ? "" : " (some failed)");
}

int main(int count, char **words)
{
    int charges = count > 1 ? atoi(words[1]) : 1000, processes = count > 2 ? atoi(words[2]) : 2;
    char folder[] = "/tmp/brume-bench-XXXXXX", path[64], schema[512];
    if (charges < 1 || processes < 1 || processes > charges || !mkdtemp(folder))
        return 2;
    snprintf(path, sizeof path, "%s/brume.db", folder);
    measure("file", path, charges, processes);
    static const char *const endings[] = {"", "-wal", "-shm"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        char name[80];
        snprintf(name, sizeof name, "%s%s", path, endings[i]);
        unlink(name);
    }
    rmdir(folder);
    if (count > 3) {
        snprintf(schema, sizeof schema, "%.400s%coptions=-csearch_path%%3Dbrume_bench", words[3],
                 strchr(words[3], '?') ? '&' : '?');
        measure("PostgreSQL", schema, charges, processes);
    }
    return 0;
}
