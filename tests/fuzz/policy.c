/* Any text as a recorded policy, a bound or a value of a domain: refused with a message, or kept
 * and read back the same. A declared value is one value: no two texts of a domain name one key. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "query/plan/policy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool condition)
{
    if (!condition)
        abort();
}

static bool same_key(const brume_key_value *a, const brume_key_value *b)
{
    if (a->wire != b->wire)
        return false;
    if (a->wire == BRUME_WIRE_INTEGER)
        return a->integer == b->integer;
    return a->text.length == b->text.length &&
           memcmp(a->text.data, b->text.data, a->text.length) == 0;
}

/* What is kept is read back the same, and can be opened. */
static void check_kept(const brume_policy *policy, bool declared)
{
    json_t *json = brume_policy_to_json(policy);
    brume_policy *again = NULL;
    brume_source source;
    brume_column *columns = NULL;
    must(json != NULL && brume_policy_from_json(json, &again, NULL) == BRUME_OK);
    json_t *twice = brume_policy_to_json(again);
    must(json_equal(json, twice));
    must(brume_policy_source(again, &source, &columns, NULL) == BRUME_OK);
    for (size_t i = 0; i < source.column_count; i++)
        must(source.columns[i].name && source.columns[i].native);
    for (size_t i = 0; i < again->column_count; i++)
        for (size_t j = 0; j < again->columns[i].domain_count && j < 50; j++) {
            brume_key_value one, other;
            brume_type type = again->columns[i].type;
            char **domain = again->columns[i].domain;
            must(brume_policy_domain_value(type, domain[j], &one, NULL) == BRUME_OK);
            for (size_t k = 0; declared && k < j; k++) {
                must(brume_policy_domain_value(type, domain[k], &other, NULL) == BRUME_OK);
                must(!same_key(&one, &other));
            }
        }
    free(columns);
    json_decref(json);
    json_decref(twice);
    brume_policy_close(again);
}

/* The text, cut at '|' into at most 8 parts, as bounds and as domains of columns of each type. */
static void check_declarations(char *text)
{
    static brume_column columns[] = {
        {(char *)"b", {BRUME_TYPE_BOOLEAN, 0, 0}, BRUME_LEAF_PLAIN, (char *)"BOOLEAN", false},
        {(char *)"i", {BRUME_TYPE_INTEGER, 0, 0}, BRUME_LEAF_PLAIN, (char *)"INTEGER", false},
        {(char *)"l", {BRUME_TYPE_BIGINT, 0, 0}, BRUME_LEAF_PLAIN, (char *)"BIGINT", false},
        {(char *)"d", {BRUME_TYPE_DECIMAL, 9, 2}, BRUME_LEAF_PLAIN, (char *)"DECIMAL(9,2)", false},
        {(char *)"r", {BRUME_TYPE_DOUBLE, 0, 0}, BRUME_LEAF_FINITE, (char *)"DOUBLE", false},
        {(char *)"t", {BRUME_TYPE_TEXT, 0, 0}, BRUME_LEAF_PLAIN, (char *)"VARCHAR", false},
        {(char *)"y", {BRUME_TYPE_DATE, 0, 0}, BRUME_LEAF_CALENDAR, (char *)"DATE", false},
        {(char *)"s",
         {BRUME_TYPE_TIMESTAMP, 0, 0},
         BRUME_LEAF_CALENDAR,
         (char *)"TIMESTAMP",
         false},
        {(char *)"x", {BRUME_TYPE_REFUSED, 0, 0}, BRUME_LEAF_PLAIN, (char *)"BLOB", false},
    };
    enum { COLUMNS = sizeof columns / sizeof *columns, PARTS = 8 };
    brume_description description = {(char *)"file:x", (char *)"", columns, COLUMNS};
    const char *parts[PARTS];
    size_t count = 0;
    brume_policy *policy = NULL;
    brume_error error;
    for (char *part = strtok(text, "|"); part && count < PARTS; part = strtok(NULL, "|"))
        parts[count++] = part;
    if (count == 0 || brume_policy_make("x.csv", NULL, &description, &policy, NULL) != BRUME_OK)
        return;
    for (size_t i = 0; i < COLUMNS; i++) {
        const char *name = columns[i].name;
        error = (brume_error){0};
        brume_status status = brume_policy_set_domain(policy, name, parts, count, &error);
        must(status == BRUME_OK || (status == BRUME_EARGUMENT && error.message[0]));
        if (count < 2)
            continue;
        status = brume_policy_set_bounds(policy, name, parts[0], parts[1], &error);
        must(status == BRUME_OK || (status == BRUME_EARGUMENT && error.message[0]));
    }
    (void)brume_policy_set_unit(policy, parts[0], &error);
    check_kept(policy, true);
    brume_policy_close(policy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    if (size > 0)
        memcpy(text, data, size);
    text[size] = 0;
    json_t *json = json_loadb(text, size, JSON_DECODE_ANY, NULL);
    brume_policy *policy = NULL;
    if (json && brume_policy_from_json(json, &policy, NULL) == BRUME_OK)
        check_kept(policy, false);
    brume_policy_close(policy);
    json_decref(json);
    check_declarations(text);
    free(text);
    return 0;
}
