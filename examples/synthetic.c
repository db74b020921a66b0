/* Synthetic data: a table in, a workload as text, and rows that answer it nearly as well. */
#include <stdlib.h>

#include <brume/mechanism/mechanism.h>
#include <brume/mechanism/expression.h>
#include <brume/synthetic/synthetic.h>
#include <brume/synthetic/workload_text.h>

#include "must.h"

enum { PEOPLE = 5000, ROWS = 8 };

int main(void)
{
    static const char *const wards[] = {"surgery", "medicine", "maternity"};
    brume_error error;
    brume_bits *bits = NULL;
    brume_schema *schema = NULL;
    brume_universe universe;
    brume_workload *workload = NULL;
    must(brume_bits_open(&bits, &error), &error);

    /* What is public: the columns and their domains, and the questions. */
    must(brume_schema_open(&schema, &error), &error);
    must(brume_schema_add_labels(schema, "ward", wards, 3, false, &error), &error);
    must(brume_schema_add_bins(schema, "age", 0, 100, 10, false, &error), &error);
    must(brume_schema_universe(schema, &universe, &error), &error);
    must(brume_workload_parse(schema, "marginals 2\ncount ward = surgery and age >= 60", &workload,
                              &error),
         &error);

    /* What is not: how many people are in each cell. */
    double *counts = calloc(universe.cells, sizeof *counts);
    double *weights = calloc(universe.cells, sizeof *weights);
    if (!counts || !weights) {
        free(counts);
        free(weights);
        return 1;
    }
    for (int i = 0; i < PEOPLE; i++) {
        char age[8];
        snprintf(age, sizeof age, "%d", i % 3 == 2 ? 18 + i % 25 : 30 + i % 60);
        const char *row[] = {wards[i % 3], age};
        uint64_t cell;
        if (brume_schema_cell(schema, &universe, BRUME_ADD_REMOVE, row, &cell))
            counts[cell]++;
    }

    /* The price, as events to record before anything is drawn. */
    brume_synthetic_options options = {.method = BRUME_SYNTHETIC_MWEM,
                                       .adjacency = BRUME_ADD_REMOVE,
                                       .epsilon = 1,
                                       .rounds = 10,
                                       .beta = 0.05};
    brume_event events[BRUME_SYNTHETIC_EVENTS];
    size_t count;
    must(brume_synthetic_events(workload, &options, events, &count, &error), &error);
    for (size_t i = 0; i < count; i++) {
        char text[128];
        must(brume_event_write(&events[i], text, sizeof text, &error), &error);
        printf("charge %s\n", text);
    }

    brume_synthetic_report report;
    must(brume_synthetic_histogram(workload, &options, counts, bits, weights, &report, &error),
         &error);
    printf("%zu queries, about %g records; at 95 %% every answer is within %.0f\n",
           brume_workload_size(workload), report.records, report.bound);

    /* From here on nothing is private. */
    must(brume_synthetic_rows(&universe, weights, bits, ROWS, counts, &error), &error);
    for (uint64_t cell = 0; cell < universe.cells; cell++)
        for (double n = 0; n < counts[cell]; n++) {
            uint32_t record[2];
            char room[BRUME_SCHEMA_TEXT];
            brume_universe_record(&universe, cell, record);
            printf("%s,", brume_schema_text(schema, 0, record[0], room));
            printf("%s\n", brume_schema_text(schema, 1, record[1], room));
        }
    free(counts);
    free(weights);
    brume_workload_close(workload);
    brume_schema_close(schema);
    brume_bits_close(bits);
    return 0;
}
