/* Fuzz: any text is a decimal, a charge or a budget, or is refused; what is accepted prints back to
 * itself (a decimal: to the same number), and a budget never holds more than its limits. */
#include <stdlib.h>
#include <string.h>

#include <brume/account/filter.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool condition)
{
    if (!condition)
        abort();
}

static void check_decimal(const char *text)
{
    brume_decimal x, again;
    char printed[BRUME_DECIMAL_TEXT];
    if (brume_decimal_parse(text, &x, NULL) != BRUME_OK)
        return;
    brume_decimal_print(&x, printed, sizeof printed);
    must(brume_decimal_parse(printed, &again, NULL) == BRUME_OK);
    must(memcmp(&x, &again, sizeof x) == 0 && brume_decimal_compare(&x, &again) == 0);
    must(brume_decimal_lower(&x) <= brume_decimal_upper(&x));
}

static void check_budget(const char *text)
{
    brume_filter filter;
    brume_charge charge;
    char printed[BRUME_FILTER_TEXT];
    if (brume_charge_parse(text, &charge, NULL) == BRUME_OK) {
        must(brume_charge_print(&charge, printed, NULL) == BRUME_OK);
        must(strcmp(printed, text) == 0);
    }
    if (brume_filter_parse(text, &filter, NULL) != BRUME_OK)
        return;
    must(brume_filter_print(&filter, printed, NULL) == BRUME_OK && strcmp(printed, text) == 0);
    must(brume_filter_left(&filter, &charge, NULL) == BRUME_OK);
    must(brume_filter_charge(&filter, &charge, NULL) == BRUME_OK);
    must(brume_decimal_compare(&filter.spent, &filter.limit) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    if (size > 0)
        memcpy(text, data, size);
    text[size] = 0;
    check_decimal(text);
    check_budget(text);
    free(text);
    return 0;
}
