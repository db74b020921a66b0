/* Errors: every fallible call returns a status; the record says what is wrong and what to do. On
 * failure outputs are untouched. */
#include <stdio.h>

#include <brume/mechanism/expression.h>
#include <brume/status.h>

int main(void)
{
    static const char *const wrong[] = {
        "laplce(scale=1)", "laplace(scale=0)", "gaussian(sigma=nan)",
        "laplace(scal=1)", "pure(epsilon=1",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        brume_error error;
        brume_expression expression = {.count = 17};
        brume_status status = brume_expression_parse(wrong[i], BRUME_REPLACE, &expression, &error);
        if (status == BRUME_OK || expression.count != 17)
            return 1; /* it cannot be */
        printf("%s\n    %s (exit code %d): %s\n", wrong[i], brume_status_word(status),
               brume_status_exit_code(status), error.message);
        if (error.hint[0])
            printf("    hint: %s\n", error.hint);
    }
    return 0;
}
