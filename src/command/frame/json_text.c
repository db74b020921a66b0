/* JSON as the commands print it: the library's text, but for reals. */
#include "command/frame/json_text.h"

#include <stdlib.h>
#include <string.h>

#include "command/command.h"

/* 1e-06 becomes 1e-6, 1e+300 becomes 1e300, 2 becomes 2.0: a real stays one for those who read it.
 */
static int write_real(double value, FILE *out)
{
    brume_number_text number = brume_shortest(value);
    char *exponent = strchr(number.text, 'e');
    if (!exponent)
        return fprintf(out, strchr(number.text, '.') ? "%s" : "%s.0", number.text) < 0 ? -1 : 0;
    *exponent = '\0';
    return fprintf(out, "%se%d", number.text, atoi(exponent + 1)) < 0 ? -1 : 0;
}

static int write_scalar(const json_t *value, FILE *out)
{
    if (json_is_real(value))
        return write_real(json_real_value(value), out);
    return json_dumpf(value, out, JSON_ENCODE_ANY);
}

static int write_object(const json_t *object, FILE *out)
{
    const char *name;
    json_t *member, *copy = (json_t *)object; /* the library's iterators are not const */
    int failed = fputc('{', out) == EOF;
    bool first = true;
    json_object_foreach (copy, name, member) {
        json_t *key = json_string(name);
        failed |= !first && fputs(", ", out) == EOF;
        failed |= !key || json_dumpf(key, out, JSON_ENCODE_ANY) != 0 || fputs(": ", out) == EOF;
        failed |= brume_json_write(member, out) != 0;
        json_decref(key);
        first = false;
    }
    return failed || fputc('}', out) == EOF ? -1 : 0;
}

static int write_array(const json_t *array, FILE *out)
{
    int failed = fputc('[', out) == EOF;
    for (size_t i = 0; i < json_array_size(array); i++) {
        failed |= i > 0 && fputs(", ", out) == EOF;
        failed |= brume_json_write(json_array_get(array, i), out) != 0;
    }
    return failed || fputc(']', out) == EOF ? -1 : 0;
}

int brume_json_write(const json_t *value, FILE *out)
{
    return json_is_object(value)  ? write_object(value, out)
           : json_is_array(value) ? write_array(value, out)
                                  : write_scalar(value, out);
}
