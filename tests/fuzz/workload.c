/* Fuzz: any text is a workload or is refused with a line; what is accepted has queries, all of them
 * in [0, 1] on every cell. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <brume/synthetic/workload_text.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool condition)
{
    if (!condition)
        abort();
}

enum { CELLS = 3 * 4 * 3 };

static brume_schema *people(void)
{
    static const char *const sexes[] = {"f", "m"}, *const cities[] = {"lyon", "1", "and"};
    brume_schema *schema = NULL;
    must(brume_schema_open(&schema, NULL) == BRUME_OK);
    must(brume_schema_add_labels(schema, "sex", sexes, 2, true, NULL) == BRUME_OK);
    must(brume_schema_add_bins(schema, "age", 0, 80, 4, false, NULL) == BRUME_OK);
    must(brume_schema_add_labels(schema, "city", cities, 3, false, NULL) == BRUME_OK);
    return schema;
}

static void check_queries(const brume_workload *workload)
{
    size_t count = brume_workload_size(workload);
    double *answers = malloc(count * sizeof *answers);
    must(count > 0 && answers);
    for (int cell = 0; cell < CELLS; cell++) {
        double weights[CELLS] = {0};
        weights[cell] = 1;
        must(brume_workload_answer(workload, weights, answers, NULL) == BRUME_OK);
        for (size_t i = 0; i < count; i++)
            must(answers[i] >= 0 && answers[i] <= 1);
    }
    free(answers);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static brume_schema *schema;
    if (!schema)
        schema = people();
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    if (size > 0)
        memcpy(text, data, size);
    text[size] = 0;
    brume_workload *workload = NULL;
    brume_error error = {0};
    uint32_t value = 0;
    for (size_t column = 0; column < brume_schema_columns(schema); column++)
        if (brume_schema_value(schema, column, text, &value))
            must(value < brume_schema_size(schema, column));
    if (brume_workload_parse(schema, text, &workload, &error) == BRUME_OK)
        check_queries(workload);
    else
        must(workload == NULL && error.message[0]);
    brume_workload_close(workload);
    free(text);
    return 0;
}
