/* Cards: what each mechanism is and what one release of it costs. A cost is stated in every
 * currency the mechanism can pay in; an absent entry means "cannot be said", never zero. */
#include <stdio.h>

#include <brume/mechanism/expression.h>
#include <brume/mechanism/mechanism.h>

static void print_cost(const brume_cost *cost)
{
    if (cost->pure)
        printf("    epsilon %.6g", cost->epsilon);
    else
        printf("    no finite epsilon");
    if (cost->concentrated)
        printf(", rho %.6g", cost->rho);
    if (cost->delta_failure > 0)
        printf(", failing with probability %.3g", cost->delta_failure);
    printf("%s\n", cost->pure == BRUME_EXACT ? " (exact)" : "");
}

int main(void)
{
    size_t count;
    const brume_card *const *cards = brume_cards(&count);
    for (size_t i = 0; i < count; i++)
        printf("%-22s %s\n", cards[i]->name, cards[i]->summary);

    const char *text = "laplace(scale=10)*5 + gaussian(sigma=2, sensitivity=1)*100";
    brume_error error;
    brume_expression expression;
    brume_status status = brume_expression_parse(text, BRUME_ADD_REMOVE, &expression, &error);
    if (status != BRUME_OK) {
        fprintf(stderr, "cards: %s\n", error.message);
        return brume_status_exit_code(status);
    }
    printf("\n%s, one release of each term:\n", text);
    for (size_t i = 0; i < expression.count && status == BRUME_OK; i++) {
        brume_cost cost;
        char term[200];
        status = brume_event_write(&expression.events[i], term, sizeof term, &error);
        if (status == BRUME_OK)
            status = brume_event_cost(&expression.events[i], &cost, &error);
        if (status == BRUME_OK) {
            printf("  %s\n", term);
            print_cost(&cost);
        }
    }
    brume_expression_free(&expression);
    return brume_status_exit_code(status);
}
