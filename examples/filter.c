/* A filter: a budget that stays sound although each question is chosen after the last answer, and
 * an odometer beside it. */
#include <brume/decimal.h>
#include <brume/account/filter.h>
#include <brume/account/odometer.h>

#include "must.h"

static brume_decimal decimal(const char *text)
{
    brume_error error;
    brume_decimal value;
    must(brume_decimal_parse(text, &value, &error), &error);
    return value;
}

int main(void)
{
    brume_error error;
    brume_decimal epsilon = decimal("1"), price = decimal("0.1");
    brume_filter filter;
    brume_charge charge;
    brume_odometer *odometer;
    must(brume_filter_make(BRUME_RULE_PURE, &epsilon, NULL, NULL, &filter, &error), &error);
    must(brume_charge_make(BRUME_RULE_PURE, &price, NULL, &charge, &error), &error);
    must(brume_odometer_open(&odometer, &error), &error);

    int released = 0;
    brume_cost cost = {.pure = BRUME_EXACT, .epsilon = 0.1};
    while (brume_filter_charge(&filter, &charge, &error) == BRUME_OK) {
        must(brume_odometer_add(odometer, &cost, 1, &error), &error);
        released++;
    }
    printf("0.1 fits %d times in a budget of 1; then: %s\n", released, error.message);

    char text[BRUME_FILTER_TEXT];
    must(brume_filter_print(&filter, text, &error), &error);
    printf("the budget, to be stored: %s\n", text);

    brume_reading reading;
    must(brume_odometer_read(odometer, 1e-6, &reading, &error), &error);
    printf("odometer: epsilon %.9g at delta 1e-6, %s\n", reading.epsilon.upper, reading.label);
    brume_odometer_close(odometer);
    return 0;
}
