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

static int write_value(const json_t *value, int depth, FILE *out);

enum { ONE_LINE = -1 };

/* What stands between members, after `before`: a blank, or a line's end and so many blanks. */
static int write_gap(const char *before, const char *blank, int depth, FILE *out)
{
    if (depth == ONE_LINE)
        return fprintf(out, "%s%s", before, blank);
    return fprintf(out, "%s\n%*s", before, depth, "");
}

static int write_object(const json_t *object, int depth, FILE *out)
{
    const char *name;
    json_t *member, *copy = (json_t *)object; /* the library's iterators are not const */
    int failed = 0, inner = depth == ONE_LINE ? ONE_LINE : depth + 1;
    bool first = true;
    json_object_foreach (copy, name, member) {
        json_t *key = json_string(name);
        failed |= write_gap(first ? "{" : ",", first ? "" : " ", inner, out) < 0;
        failed |= !key || json_dumpf(key, out, JSON_ENCODE_ANY) != 0 || fputs(": ", out) == EOF;
        failed |= write_value(member, inner, out) != 0;
        json_decref(key);
        first = false;
    }
    failed |= (first ? fputs("{", out) : write_gap("", "", depth, out)) < 0;
    return failed || fputc('}', out) == EOF ? -1 : 0;
}

/* Of scalars: on one line. */
static int write_array(const json_t *array, int depth, FILE *out)
{
    int failed = fputc('[', out) == EOF;
    const json_t *one = json_array_get(array, 0);
    bool lines = depth != ONE_LINE && (json_is_object(one) || json_is_array(one));
    for (size_t i = 0; i < json_array_size(array); i++) {
        failed |= lines ? write_gap(i > 0 ? "," : "", "", depth + 1, out) < 0
                        : i > 0 && fputs(", ", out) == EOF;
        failed |= write_value(json_array_get(array, i), lines ? depth + 1 : ONE_LINE, out) != 0;
    }
    if (lines)
        failed |= write_gap("", "", depth, out) < 0;
    return failed || fputc(']', out) == EOF ? -1 : 0;
}

static int write_value(const json_t *value, int depth, FILE *out)
{
    return json_is_object(value)  ? write_object(value, depth, out)
           : json_is_array(value) ? write_array(value, depth, out)
                                  : write_scalar(value, out);
}

int brume_json_write(const json_t *value, FILE *out)
{
    return write_value(value, ONE_LINE, out);
}

int brume_json_write_lines(const json_t *value, FILE *out)
{
    return write_value(value, 0, out) == 0 && fputc('\n', out) != EOF ? 0 : -1;
}
