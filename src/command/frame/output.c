/* The answer of a command, in memory until it has succeeded.
 *
 * Promises: whoever runs the command gets its answer whole or, if it failed, not at all; only
 * brume_call_flush lets parts of it go before, where the host takes them. */
#include "command/frame/output.h"

#include <float.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "command/command.h"
#include "command/frame/watch.h"
#include "command/host.h"

/* Numbers as texts: rounded in a stated direction, in full, or in the decimals of an error bar.
 *
 * A value and its error bar as a person reads them: with as many decimals as the bar makes sense
 * of. */

/* So many digits of a number above 0, never on the other side of it than asked for. */
static brume_number_text digits_towards(double value, int digits, bool up)
{
    brume_number_text out;
    double moved = value,
           step = value * 0.5 * pow(10, -digits); /* at most half of the last digit */
    for (;;) {
        snprintf(out.text, sizeof out.text, "%.*g", digits, moved);
        double shown = strtod(out.text, NULL);
        if (!(up ? shown < value : shown > value) || !(step > 0))
            return out;
        moved += up ? step : -step;
    }
}

brume_number_text brume_digits_up(double value, int digits)
{
    return digits_towards(value, digits, true);
}

brume_number_text brume_digits_down(double value, int digits)
{
    return digits_towards(value, digits, false);
}

brume_number_text brume_shortest(double value)
{
    brume_number_text number;
    int least = fabs(value) < DBL_MIN ? 1 : 15; /* %g drops zeros, so that 15 stands for fewer */
    for (int digits = least; digits <= 17; digits++) {
        snprintf(number.text, sizeof number.text, "%.*g", digits, value);
        if (strtod(number.text, NULL) == value)
            break;
    }
    return number;
}

enum { DECIMALS_MOST = 15 };

/* Decimals of an error bar with two significant digits; none from 10 on. */
static int decimals_of(double error)
{
    int decimals = 1 - (int)floor(log10(error));
    return decimals < 0 ? 0 : decimals > DECIMALS_MOST ? DECIMALS_MOST : decimals;
}

/* So many decimals, never below the number. */
static brume_number_text round_up(double number, int decimals)
{
    brume_number_text out;
    double step = pow(10, -decimals);
    snprintf(out.text, sizeof out.text, "%.*f", decimals, number);
    if (strtod(out.text, NULL) < number)
        snprintf(out.text, sizeof out.text, "%.*f", decimals, number + step * .5);
    return out;
}

brume_readable brume_value_and_error(double value, double error, bool whole)
{
    brume_readable out;
    if (!(error > 0) || fabs(value) >= 1e15 || error >= 1e15) {
        snprintf(out.value.text, sizeof out.value.text, whole ? "%.0f" : "%.6g", value);
        out.error = error > 0 ? brume_digits_up(error, 2) : brume_shortest(error);
        return out;
    }
    int decimals = whole ? 0 : decimals_of(error);
    out.error = round_up(error, decimals);
    snprintf(out.value.text, sizeof out.value.text, "%.*f", decimals, value);
    return out;
}

/* How far long work has come: told to the host at most ten times a second.
 *
 * How far long work has come, for whoever runs the command. */

static double seconds_since(struct timespec from, struct timespec to)
{
    return (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
}

void brume_progress_start(brume_progress *progress, const brume_call *call, const char *label,
                          uint64_t total)
{
    *progress = (brume_progress){.call = call, .label = label, .total = total};
    if (!call || !call->host || !call->host->progress)
        return;
    progress->host = call->host;
    clock_gettime(CLOCK_MONOTONIC, &progress->last);
    progress->host->progress(progress->host->context, label, 0, total);
}

void brume_progress_update(brume_progress *progress, uint64_t done)
{
    if (!progress->host)
        return;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (seconds_since(progress->last, now) < 0.1)
        return;
    progress->last = now;
    progress->host->progress(progress->host->context, progress->label, done, progress->total);
}

void brume_progress_end(brume_progress *progress)
{
    if (progress->host)
        progress->host->progress(progress->host->context, NULL, progress->total, progress->total);
    progress->host = NULL;
}

/* Text for a person in lines of at most BRUME_LINE characters.
 *
 * Text for a person in lines of at most BRUME_LINE characters (of UTF-8). */

static size_t width_of(const char *text, size_t bytes)
{
    size_t width = 0;
    for (size_t i = 0; i < bytes; i++)
        width += ((unsigned char)text[i] & 0xc0) != 0x80;
    return width;
}

size_t brume_text_width(const char *text)
{
    return width_of(text, strlen(text));
}

/* Write one piece after what is on the line, on the next line where it does not fit any more. */
typedef struct wrap_writer {
    FILE *out;
    size_t column, indent;
    bool fresh; /* only the indent is on the line so far */
    const char *continued;
} wrap_writer;

static void write_piece(wrap_writer *w, const char *piece, size_t bytes)
{
    size_t width = width_of(piece, bytes), room = brume_text_width(w->continued);
    if (!w->fresh && w->column + 1 + width + room > BRUME_LINE) {
        fprintf(w->out, "%s\n%*s", w->continued, (int)w->indent, "");
        w->column = w->indent;
        w->fresh = true;
    }
    fprintf(w->out, "%s%.*s", w->fresh ? "" : " ", (int)bytes, piece);
    w->column += width + !w->fresh;
    w->fresh = false;
}

void brume_write_wrapped(FILE *out, const char *text, size_t column, size_t indent)
{
    wrap_writer w = {out, column, indent, true, ""};
    while (*text) {
        size_t word = strcspn(text, " \n");
        if (word > 0)
            write_piece(&w, text, word);
        text += word;
        text += strspn(text, " ");
        if (*text == '\n') {
            fputs(text[1] == '\n' ? "\n\n" : "\n", out);
            text += strspn(text, "\n ");
            fprintf(out, "%*s", *text ? (int)indent : 0, "");
            w.column = indent;
            w.fresh = true;
        }
    }
    if (!w.fresh)
        fputc('\n', out);
}

void brume_write_sentence(FILE *out, const char *format, ...)
{
    va_list arguments;
    char *text = NULL;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length >= 0) {
        brume_write_wrapped(out, text, 0, 2);
        free(text);
        return;
    }
    va_start(arguments, format); /* no memory: in one line, then */
    vfprintf(out, format, arguments);
    va_end(arguments);
    fputc('\n', out);
}

/* Where the piece at `words` ends: at a space outside of quotes and brackets that the value of an
 * option does not follow. */
static size_t piece_length(const char *words)
{
    bool quoted = false, option = words[0] == '-';
    int depth = 0;
    for (size_t i = 0; words[i]; i++) {
        quoted ^= words[i] == '\'';
        if (quoted)
            continue;
        depth += (words[i] == '[' || words[i] == '(') - (words[i] == ']' || words[i] == ')');
        if (words[i] != ' ' || depth > 0)
            continue;
        if (!option || words[i + 1] == '-' || words[i + 1] == '[' || words[i + 1] == '(')
            return i;
        option = false;
    }
    return strlen(words);
}

void brume_write_words(FILE *out, const char *words, size_t column, size_t indent,
                       const char *continued)
{
    wrap_writer w = {out, column, indent, true, continued};
    while (*words) {
        size_t piece = piece_length(words);
        write_piece(&w, words, piece);
        words += piece;
        words += strspn(words, " ");
    }
    fputc('\n', out);
}

brume_status brume_call_open_output(brume_call *call, brume_error *error)
{
    call->out = open_memstream(&call->buffer, &call->buffer_length);
    return call->out ? BRUME_OK : brume_no_memory(error, NULL);
}

brume_status brume_call_output(brume_call *call, brume_error *error)
{
    if (fflush(call->out) != 0 || ferror(call->out))
        return brume_no_memory(error, "the answer");
    return BRUME_OK;
}

void brume_call_close_output(brume_call *call)
{
    if (call->out)
        fclose(call->out);
    free(call->buffer);
    call->out = NULL;
    call->buffer = NULL;
}

void brume_call_note(const brume_call *call, const char *format, ...)
{
    char *line = NULL;
    if (!call->host || !call->host->note)
        return;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&line, format, arguments) >= 0)
        call->host->note(call->host->context, line);
    va_end(arguments);
    free(line);
}

brume_status brume_call_flush(brume_call *call, brume_error *error)
{
    BRUME_TRY(brume_call_output(call, error));
    if (!call->host || !call->host->write)
        return BRUME_OK;
    brume_status status =
        call->host->write(call->host->context, call->buffer, call->buffer_length, error);
    rewind(call->out); /* a memory stream starts over */
    return status;
}

brume_status brume_call_write_json(brume_call *call, json_t *object, brume_error *error)
{
    if (!object)
        return brume_no_memory(error, "the answer");
    int failed = brume_json_write(object, call->out);
    json_decref(object);
    if (failed || fputc('\n', call->out) == EOF)
        return brume_no_memory(error, "the answer");
    return BRUME_OK;
}

const char *brume_bold(const brume_call *call)
{
    return call->colour ? "\033[1m" : "";
}

const char *brume_dim(const brume_call *call)
{
    return call->colour ? "\033[2m" : "";
}

const char *brume_plain(const brume_call *call)
{
    return call->colour ? "\033[0m" : "";
}

void brume_write_escaped(FILE *out, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '&':
            fputs("&amp;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        default:
            fputc(*text, out);
        }
}

/* ---- the host's watch ---- */

static brume_status watch(const brume_call *call, bool only_noted, const brume_watch **out,
                          brume_error *error)
{
    const brume_host *host = call->host;
    return host && host->watch ? host->watch(host->context, call, only_noted, out, error)
                               : BRUME_OK;
}

brume_status brume_call_watch(const brume_call *call, const brume_watch **out, brume_error *error)
{
    return watch(call, false, out, error);
}

brume_status brume_call_watch_noted(const brume_call *call, const brume_watch **out,
                                    brume_error *error)
{
    return watch(call, true, out, error);
}

brume_status brume_call_check_timeout(const brume_call *call, brume_error *error)
{
    if (!brume_call_has(call, "no-ledger") || !brume_call_has(call, "timeout"))
        return BRUME_OK;
    return brume_fail(error, BRUME_EARGUMENT, "leave it out: Ctrl-C ends it, and nothing is spent",
                      "'--timeout' is for registered datasets");
}

/* JSON as the commands print it: the library's text, but for reals.
 *
 * JSON as the commands print it. */

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

/* For scalars: on one line. */
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
