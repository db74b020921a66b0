/* A table that is registered in a ledger of its own. */
#include "registered.h"

#include "check.h"
#include "columns.h"

#include <stdlib.h>
#include <unistd.h>

#include "random/tape.h"

FILE *registered_begin(registered *all)
{
    snprintf(all->folder, sizeof all->folder, "/tmp/brume-registered-XXXXXX");
    assert_non_null(mkdtemp(all->folder));
    snprintf(all->csv, sizeof all->csv, "%s/table.csv", all->folder);
    snprintf(all->path, sizeof all->path, "%s/brume.db", all->folder);
    FILE *csv = fopen(all->csv, "w");
    assert_non_null(csv);
    return csv;
}

void registered_open(registered *all, FILE *csv, uint64_t seed)
{
    brume_error error = {0};
    assert_int_equal(fclose(csv), 0);
    assert_ok(brume_ledger_open(all->path, BRUME_LEDGER_CREATE, &all->ledger, &error));
    all->bits = brume_tape_open_seeded(seed);
}

void registered_remove_ledger(const char *path)
{
    static const char *const endings[] = {"", "-wal", "-shm", ".stream"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        char each[256];
        snprintf(each, sizeof each, "%s%s", path, endings[i]);
        unlink(each);
    }
}

void registered_close(registered *all)
{
    brume_ledger_close(all->ledger);
    brume_bits_close(all->bits);
    registered_remove_ledger(all->path);
    unlink(all->csv);
    assert_int_equal(rmdir(all->folder), 0);
}

brume_policy *registered_policy(const brume_source *source)
{
    brume_error error = {0};
    brume_engine *engine = NULL;
    brume_description description = {0};
    brume_policy *policy = NULL;
    assert_ok(brume_engine_open(source, 1, &engine, &error));
    assert_ok(brume_engine_describe(engine, 0, &description, &error));
    brume_engine_close(engine);
    assert_ok(brume_policy_make(source->location, source->table, &description, &policy, &error));
    brume_description_clear(&description);
    return policy;
}

brume_policy *registered_file(const char *location, const char *declared)
{
    declared_columns read;
    columns_read(declared, &read);
    brume_source source = columns_source(location, &read);
    return registered_policy(&source);
}

void registered_enter(brume_ledger *ledger, brume_policy *policy, const registered_terms *terms)
{
    brume_error error = {0};
    brume_decimal epsilon, delta = {0};
    brume_filter filter;
    assert_ok(brume_decimal_parse(terms->epsilon, &epsilon, &error));
    if (terms->delta)
        assert_ok(brume_decimal_parse(terms->delta, &delta, &error));
    assert_ok(brume_filter_make(terms->rule, &epsilon, terms->delta ? &delta : NULL, NULL, &filter,
                                &error));
    json_t *json = brume_policy_to_json(policy);
    brume_registration registration = {.name = terms->name,
                                       .source = policy->location,
                                       .data_version = "1",
                                       .adjacency = terms->adjacency,
                                       .filter = &filter,
                                       .policy = json};
    assert_ok(brume_ledger_register(ledger, &registration, &error));
    json_decref(json);
    brume_policy_close(policy);
}
