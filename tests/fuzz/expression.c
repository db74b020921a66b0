/* Fuzz: any text is an expression or is refused with a filled error and nothing written; what is
 * accepted is written back as terms that parse to the same events. */
#include <stdlib.h>
#include <string.h>

#include <brume/mechanism/expression.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool condition)
{
    if (!condition)
        abort();
}

static void check_round_trip(const brume_event *event, brume_adjacency adjacency)
{
    char text[2000];
    brume_error error = {0};
    must(brume_event_write(event, text, sizeof text, &error) == BRUME_OK);
    brume_expression again = {0};
    must(brume_expression_parse(text, adjacency, &again, &error) == BRUME_OK);
    must(again.count == 1 && again.events[0].mechanism == event->mechanism);
    must(again.events[0].base == event->base && again.events[0].count == event->count);
    must(again.events[0].sensitivity == event->sensitivity);
    for (size_t i = 0; i < BRUME_EVENT_PARAMETERS; i++)
        must(again.events[0].parameter[i] == event->parameter[i]);
    brume_expression_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const brume_adjacency adjacencies[] = {BRUME_ADD_REMOVE, BRUME_REPLACE, BRUME_EDGE};
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    if (size > 0)
        memcpy(text, data, size);
    text[size] = 0;
    for (size_t i = 0; i < sizeof adjacencies / sizeof *adjacencies; i++) {
        brume_expression expression, untouched;
        memset(&expression, 0x5a, sizeof expression);
        memset(&untouched, 0x5a, sizeof untouched);
        brume_error error = {0};
        brume_status status = brume_expression_parse(text, adjacencies[i], &expression, &error);
        if (status != BRUME_OK) {
            must(error.status == status && error.message[0]);
            must(memcmp(&expression, &untouched, sizeof expression) == 0);
            continue;
        }
        for (size_t j = 0; j < expression.count && !expression.has_unknown && j < 20; j++)
            check_round_trip(&expression.events[j], adjacencies[i]);
        brume_expression_free(&expression);
    }
    free(text);
    return 0;
}
