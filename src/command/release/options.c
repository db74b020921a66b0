/* The options of `brume release`: which method is meant, and whether what was typed applies to it.
 *
 * Promise: an option that does not apply is an error that names it and what it applies to. */
#include "command/release/release.h"

#include <string.h>

#include <brume/account/filter.h>

#include "number/decimal.h"

static const struct {
    const char *statistic, *method, *options;
} methods[] = {
#define BRUME_RELEASE(statistic, method, options) {statistic, method, options},
#include "command/release/release.def"
#undef BRUME_RELEASE
};
enum { METHODS = sizeof methods / sizeof *methods };

/* Is `word` one of the words of a list with spaces between them? */
static bool lists(const char *words, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = words; *at; at += strspn(at, " ")) {
        size_t here = strcspn(at, " ");
        if (here == length && strncmp(at, word, length) == 0)
            return true;
        at += here;
    }
    return false;
}

static size_t method_of(const char *statistic, const char *method)
{
    for (size_t i = 0; i < METHODS; i++)
        if (strcmp(methods[i].statistic, statistic) == 0 &&
            (!method || strcmp(methods[i].method, method) == 0))
            return i;
    return METHODS;
}

static void add_words(char *all, size_t size, const char *separator, const char *words)
{
    size_t used = strlen(all);
    snprintf(all + used, size - used, "%s%s", used ? separator : "", words);
}

/* Where an option applies, statistic by statistic: "median (smooth, ptr); sum". */
static void where_it_applies(const char *option, char *all, size_t size)
{
    all[0] = 0;
    for (size_t i = 0; i < METHODS; i++) {
        bool first = i == 0 || strcmp(methods[i].statistic, methods[i - 1].statistic) != 0;
        char some[100] = "";
        bool every = true;
        for (size_t j = i;
             first && j < METHODS && strcmp(methods[j].statistic, methods[i].statistic) == 0; j++) {
            bool takes = lists(methods[j].options, option);
            every = every && takes;
            if (takes)
                add_words(some, sizeof some, ", ", methods[j].method);
        }
        if (!some[0])
            continue;
        add_words(all, size, "; ", methods[i].statistic);
        if (!every) {
            size_t used = strlen(all);
            snprintf(all + used, size - used, " by %s", some);
        }
    }
}

static brume_status check_options(const brume_release *release, size_t which, brume_error *error)
{
    static const char always[] = "epsilon adjacency method no-ledger ledger";
    const brume_command *command = release->call->command;
    for (size_t i = 0; i < command->option_count; i++) {
        const char *name = command->options[i].name;
        if (!brume_call_has(release->call, name) || lists(always, name) ||
            lists(methods[which].options, name))
            continue;
        char applies[sizeof error->hint];
        where_it_applies(name, applies, sizeof applies);
        brume_status status = brume_fail(error, BRUME_EARGUMENT, NULL,
                                         "'--%s' does not apply to %s by the method %s", name,
                                         release->statistic, release->method);
        bool several = lists(methods[which].options, "columns");
        if (error && strcmp(name, several ? "column" : "columns") == 0)
            snprintf(error->hint, sizeof error->hint,
                     several ? "it is of several columns: --columns A,B"
                             : "it is of one column: --column A");
        else if (error)
            snprintf(error->hint, sizeof error->hint, "it applies to: %.*s",
                     (int)sizeof error->hint - 20, applies);
        return status;
    }
    return BRUME_OK;
}

static bool has_smooth(const brume_release *release)
{
    return method_of(release->statistic, "smooth") < METHODS;
}

bool brume_release_is_log_normal(const brume_release *release)
{
    const char *noise = brume_call_text(release->call, "noise");
    const char *method = brume_call_text(release->call, "method");
    return noise && strcmp(noise, "lln") == 0 && has_smooth(release) &&
           (!method || strcmp(method, "smooth") == 0);
}

brume_status brume_release_method(brume_release *release, const char *standard, brume_error *error)
{
    const char *typed = brume_call_text(release->call, "method");
    if (brume_call_has(release->call, "noise") && has_smooth(release))
        standard = "smooth"; /* nothing else of these statistics takes a law of noise */
    size_t which = method_of(release->statistic, typed ? typed : standard);
    if (which == METHODS && typed) {
        char all[200] = "";
        for (size_t i = 0; i < METHODS; i++)
            if (strcmp(methods[i].statistic, release->statistic) == 0)
                add_words(all, sizeof all, ", ", methods[i].method);
        return brume_fail(error, BRUME_EUNSUPPORTED, NULL, "%s has no method '%s'; it has: %s",
                          release->statistic, typed, all);
    }
    if (which == METHODS)
        return brume_fail(error, BRUME_EINTERNAL, NULL, "no method for '%s'", release->statistic);
    release->method = methods[which].method;
    return check_options(release, which, error);
}

/* An option that goes with one --noise only. */
static brume_status goes_with(const brume_release *release, const char *option, const char *wanted,
                              const char *noise, brume_error *error)
{
    if (!brume_call_has(release->call, option) || strcmp(noise, wanted) == 0)
        return BRUME_OK;
    return brume_fail(error, BRUME_EARGUMENT, NULL,
                      "'--%s' does not apply to the noise %s, only to '--noise %s'", option, noise,
                      wanted);
}

brume_status brume_release_noise(const brume_release *release, const char **noise,
                                 brume_error *error)
{
    const char *typed = brume_call_text(release->call, "noise");
    *noise = typed ? typed : release->delta > 0 ? "laplace" : "cauchy";
    if (strcmp(*noise, "gaussian") == 0)
        return brume_fail(error, BRUME_EUNSUPPORTED, NULL,
                          "the method 'smooth' has no noise '%s'; it has: laplace, cauchy, "
                          "student, lln",
                          *noise);
    BRUME_TRY(goes_with(release, "delta", "laplace", *noise, error));
    BRUME_TRY(goes_with(release, "degrees", "student", *noise, error));
    return goes_with(release, "rho", "lln", *noise, error);
}

brume_status brume_release_rho(const brume_call *call, brume_decimal *price, double *shown,
                               brume_error *error)
{
    const char *epsilon = brume_call_text(call, "epsilon"), *rho = brume_call_text(call, "rho");
    if (epsilon && rho)
        return brume_fail(error, BRUME_EARGUMENT, "epsilon E stands for rho = E^2/2 here",
                          "'--epsilon' and '--rho' are two prices: give one");
    BRUME_TRY(brume_decimal_parse(rho ? rho : epsilon, price, error));
    if (!rho)
        BRUME_TRY(brume_charge_rho_of_epsilon(price, price, error));
    *shown = brume_decimal_shown_down(price);
    return BRUME_OK;
}

brume_status brume_release_price(const brume_call *call, const char *option, double *out,
                                 brume_error *error)
{
    brume_decimal typed;
    const char *text = brume_call_text(call, option);
    *out = 0;
    if (!text)
        return BRUME_OK;
    BRUME_TRY(brume_decimal_parse(text, &typed, error));
    *out = brume_decimal_lower(&typed); /* down: what is drawn costs no more than was typed */
    if (*out > 0)
        return BRUME_OK;
    return brume_fail(error, BRUME_EARGUMENT, NULL, "'--%s' is %s, less than the least double",
                      option, text);
}
