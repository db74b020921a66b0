/* A ledger file with any bytes changed, cut or made up: every call ends with OK or a clear error,
 * what is refused charges nothing, and what is charged is charged once and on the true state.
 *
 * The first byte chooses: even, the rest are edits of a whole ledger (three bytes of place, one of
 * content; a place beyond the end cuts the file); odd, the rest is the file. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ledger/ledger.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char path[64];
static uint8_t *whole;
static size_t whole_size;

static void must(bool condition)
{
    if (!condition)
        abort();
}

static void clear_place(void)
{
    static const char *const endings[] = {"", "-wal", "-shm", "-journal", ".stream"};
    char each[96];
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        snprintf(each, sizeof each, "%s%s", path, endings[i]);
        unlink(each);
    }
}

static void remove_place(void)
{
    clear_place();
    *strrchr(path, '/') = 0;
    rmdir(path);
}

static brume_charge price(const char *epsilon)
{
    brume_decimal amount, none;
    brume_charge charge;
    must(brume_decimal_parse(epsilon, &amount, NULL) == BRUME_OK);
    must(brume_decimal_parse("0", &none, NULL) == BRUME_OK);
    must(brume_charge_make(BRUME_RULE_PURE, &amount, &none, &charge, NULL) == BRUME_OK);
    return charge;
}

static brume_status reserve(brume_ledger *ledger, const char *epsilon, const char *key,
                            uint64_t *id, brume_error *error)
{
    brume_charge asked = price(epsilon);
    brume_ledger_charge charge = {.dataset = "visits", .price = &asked};
    brume_reservation reservation = {.charges = &charge,
                                     .charge_count = 1,
                                     .sql = "SELECT COUNT(*) FROM visits",
                                     .answer_key = key};
    return brume_ledger_reserve(ledger, &reservation, id, error);
}

/* A budget of 1 with 0.5 answered and 0.25 open. */
static void make_whole(void)
{
    brume_ledger *ledger = NULL;
    brume_filter filter;
    uint64_t id = 0;
    brume_charge one = price("1");
    char folder[] = "/tmp/brume-fuzz-ledger-XXXXXX";
    must(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/l.db", folder);
    atexit(remove_place);
    must(brume_filter_make(BRUME_RULE_PURE, &one.amount, &one.delta, NULL, &filter, NULL) ==
         BRUME_OK);
    json_t *policy = json_pack("{s:s}", "unit", "person"), *answer = json_pack("[i]", 42);
    brume_registration registration = {.name = "visits",
                                       .source = "here",
                                       .data_version = "1",
                                       .adjacency = BRUME_ADD_REMOVE,
                                       .filter = &filter,
                                       .policy = policy};
    must(brume_ledger_open(path, BRUME_LEDGER_CREATE, &ledger, NULL) == BRUME_OK);
    must(brume_ledger_register(ledger, &registration, NULL) == BRUME_OK);
    must(reserve(ledger, "0.25", "open", &id, NULL) == BRUME_OK);
    must(reserve(ledger, "0.5", "answered", &id, NULL) == BRUME_OK);
    must(brume_ledger_commit(ledger, id, answer, NULL) == BRUME_OK);
    brume_ledger_close(ledger);
    json_decref(policy);
    json_decref(answer);
    FILE *file = fopen(path, "rb");
    must(file && fseek(file, 0, SEEK_END) == 0);
    whole_size = (size_t)ftell(file);
    rewind(file);
    whole = malloc(whole_size);
    must(whole && fread(whole, 1, whole_size, file) == whole_size);
    fclose(file);
}

static void write_file(const uint8_t *data, size_t size)
{
    clear_place();
    FILE *file = fopen(path, "wb");
    must(file && fwrite(data, 1, size, file) == size && fclose(file) == 0);
}

static void write_edited(const uint8_t *edits, size_t size)
{
    uint8_t *edited = malloc(whole_size);
    must(edited != NULL);
    memcpy(edited, whole, whole_size);
    size_t length = whole_size;
    for (size_t i = 0; i + 4 <= size; i += 4) {
        size_t place = (size_t)edits[i] << 16 | (size_t)edits[i + 1] << 8 | edits[i + 2];
        if (place < length)
            edited[place] = edits[i + 3];
        else if (length > 0)
            length = place % length;
    }
    write_file(edited, length);
    free(edited);
}

/* What the file says is left for "visits", and whether all of it holds. */
static brume_status look(brume_charge *left, bool *holds)
{
    brume_ledger *ledger = NULL;
    brume_dataset *dataset = NULL;
    brume_ledger_report report;
    brume_error error = {0};
    brume_status status = brume_ledger_open(path, BRUME_LEDGER_READ, &ledger, &error);
    *holds = false;
    if (status == BRUME_OK) {
        brume_status verified = brume_ledger_verify(ledger, &report, &error);
        must(verified == BRUME_OK || (error.message[0] && verified != BRUME_EINTERNAL));
        *holds = verified == BRUME_OK;
        json_t *answer = NULL, *history = NULL;
        if (brume_ledger_recall(ledger, "answered", &answer, NULL, NULL) == BRUME_OK && answer)
            json_decref(answer);
        if (brume_ledger_history(ledger, NULL, NULL, &history, NULL) == BRUME_OK)
            json_decref(history);
        status = brume_ledger_dataset(ledger, "visits", &dataset, &error);
    }
    if (status == BRUME_OK)
        status = brume_filter_left(&dataset->filter, left, &error);
    must(status == BRUME_OK || (error.message[0] && status != BRUME_EINTERNAL));
    brume_dataset_close(dataset);
    brume_ledger_close(ledger);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!whole)
        make_whole();
    if (size < 1)
        return 0;
    bool edits = data[0] % 2 == 0, held = false, holds = false;
    if (edits)
        write_edited(data + 1, size - 1);
    else
        write_file(data + 1, size - 1);
    brume_charge before, after, true_before = price("0.25"), true_after = price("0.15");
    bool known = look(&before, &held) == BRUME_OK;
    brume_ledger *ledger = NULL;
    brume_error error = {0};
    uint64_t id = 0;
    brume_status status = brume_ledger_open(path, BRUME_LEDGER_WRITE, &ledger, &error);
    if (status == BRUME_OK)
        status = reserve(ledger, "0.1", "key", &id, &error);
    brume_ledger_close(ledger);
    must(status == BRUME_OK || (error.message[0] && status != BRUME_EINTERNAL));
    bool known_after = look(&after, &holds) == BRUME_OK;
    /* A ledger that holds still does; nothing charged makes one out of what did not. */
    must(holds == held || (status == BRUME_OK && !held && !holds));
    if (status == BRUME_OK) {
        must(known && known_after);
        must(brume_decimal_compare(&after.amount, &before.amount) < 0);
        if (edits) { /* only the true state may be charged on */
            must(brume_decimal_compare(&before.amount, &true_before.amount) == 0);
            must(brume_decimal_compare(&after.amount, &true_after.amount) == 0);
        }
    } else if (known && known_after) {
        must(brume_decimal_compare(&after.amount, &before.amount) == 0);
    }
    clear_place();
    return 0;
}
