/* The library for R: sessions, answers as R lists, and noise. Errors of brume become R conditions:
 * a function here returns a list of class "brume_failure", which R/errors.R raises, so that no
 * memory of this file is left behind by a jump. */
#include <math.h>
#include <string.h>

#include <R.h>
#include <R_ext/Rdynload.h>
#include <Rinternals.h>
#include <jansson.h>

#include <brume/brume.h>
#include <brume/session.h>

/* --- errors ----------------------------------------------------------------------------------- */

static SEXP failure(const brume_error *error)
{
    const char *names[] = {"word", "message", "hint", "sqlstate", ""};
    SEXP list = PROTECT(Rf_mkNamed(VECSXP, names));
    const char *texts[] = {brume_status_word(error->status), error->message, error->hint,
                           brume_status_sqlstate(error->status)};
    for (int i = 0; i < 4; i++)
        SET_VECTOR_ELT(list, i, Rf_ScalarString(Rf_mkCharCE(texts[i], CE_UTF8)));
    Rf_setAttrib(list, R_ClassSymbol, Rf_mkString("brume_failure"));
    UNPROTECT(1);
    return list;
}

static SEXP refusal(const char *message)
{
    brume_error error = {.status = BRUME_EARGUMENT};
    snprintf(error.message, sizeof error.message, "%s", message);
    return failure(&error);
}

/* --- JSON to R -------------------------------------------------------------------------------- */

static SEXP to_r(const json_t *value);

static SEXP object_to_r(const json_t *value)
{
    R_xlen_t count = (R_xlen_t)json_object_size(value), i = 0;
    SEXP list = PROTECT(Rf_allocVector(VECSXP, count));
    SEXP names = PROTECT(Rf_allocVector(STRSXP, count));
    const char *name;
    json_t *member;
    json_object_foreach ((json_t *)value, name, member) {
        SET_STRING_ELT(names, i, Rf_mkCharCE(name, CE_UTF8));
        SET_VECTOR_ELT(list, i++, to_r(member));
    }
    Rf_setAttrib(list, R_NamesSymbol, names);
    UNPROTECT(2);
    return list;
}

static SEXP to_r(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return object_to_r(value);
    case JSON_ARRAY: {
        R_xlen_t count = (R_xlen_t)json_array_size(value);
        SEXP list = PROTECT(Rf_allocVector(VECSXP, count));
        for (R_xlen_t i = 0; i < count; i++)
            SET_VECTOR_ELT(list, i, to_r(json_array_get(value, (size_t)i)));
        UNPROTECT(1);
        return list;
    }
    case JSON_STRING: {
        /* a key of the data may have a zero byte in it, which R has no text for */
        const char *text = json_string_value(value);
        return Rf_ScalarString(Rf_mkCharCE(text, CE_UTF8));
    }
    case JSON_INTEGER:
        return Rf_ScalarReal((double)json_integer_value(value));
    case JSON_REAL:
        return Rf_ScalarReal(json_real_value(value));
    case JSON_TRUE:
    case JSON_FALSE:
        return Rf_ScalarLogical(json_is_true(value));
    default:
        return R_NilValue;
    }
}

/* The answer, which is freed, as an R value; lines of JSON as a list of them. */
static SEXP answer_to_r(char *text)
{
    json_error_t where;
    json_t *parsed = json_loads(text, JSON_DECODE_ANY | JSON_ALLOW_NUL, &where);
    brume_free(text);
    if (!parsed)
        return refusal("an answer is not JSON");
    SEXP made = PROTECT(to_r(parsed));
    json_decref(parsed);
    UNPROTECT(1);
    return made;
}

/* --- R to JSON -------------------------------------------------------------------------------- */

static json_t *element_to_json(SEXP value, R_xlen_t i)
{
    switch (TYPEOF(value)) {
    case LGLSXP:
        return LOGICAL(value)[i] == NA_LOGICAL ? json_null() : json_boolean(LOGICAL(value)[i]);
    case INTSXP:
        return INTEGER(value)[i] == NA_INTEGER ? json_null() : json_integer(INTEGER(value)[i]);
    case REALSXP: {
        double x = REAL(value)[i];
        if (x == floor(x) && fabs(x) < 9007199254740992.0)
            return json_integer((json_int_t)x);
        return isfinite(x) ? json_real(x) : NULL;
    }
    case STRSXP:
        return STRING_ELT(value, i) == NA_STRING
                   ? json_null()
                   : json_string(Rf_translateCharUTF8(STRING_ELT(value, i)));
    default:
        return NULL;
    }
}

/* A value without names of length one is a scalar, of another length an array; with names it is an
 * object. NULL: there is no JSON for it. */
static json_t *to_json(SEXP value)
{
    R_xlen_t count = Rf_xlength(value);
    SEXP names = Rf_getAttrib(value, R_NamesSymbol);
    if (value == R_NilValue)
        return json_null();
    if (names == R_NilValue && TYPEOF(value) != VECSXP && count == 1)
        return element_to_json(value, 0);
    json_t *made = names == R_NilValue ? json_array() : json_object();
    for (R_xlen_t i = 0; made && i < count; i++) {
        json_t *member = TYPEOF(value) == VECSXP ? to_json(VECTOR_ELT(value, i))
                                                 : element_to_json(value, i);
        const char *name = names == R_NilValue ? NULL : Rf_translateCharUTF8(STRING_ELT(names, i));
        if (!member || (name ? json_object_set_new(made, name, member)
                             : json_array_append_new(made, member)) != 0) {
            json_decref(made);
            made = NULL;
        }
    }
    return made;
}

/* The options as a text that R frees; NULL: there is no JSON for them. */
static const char *options_text(SEXP options)
{
    if (Rf_xlength(options) == 0)
        return "{}";
    json_t *object = to_json(options);
    char *text = object ? json_dumps(object, 0) : NULL;
    json_decref(object);
    if (!text)
        return NULL;
    char *kept = R_alloc(strlen(text) + 1, 1);
    strcpy(kept, text);
    free(text);
    return kept;
}

static const char *text_of(SEXP value)
{
    return value == R_NilValue ? NULL : Rf_translateCharUTF8(STRING_ELT(value, 0));
}

/* --- sessions --------------------------------------------------------------------------------- */

static void check_interrupt(void *unused)
{
    (void)unused;
    R_CheckUserInterrupt();
}

/* Ctrl-C during long work: the call ends, and says whether its price was charged. */
static void on_progress(void *session, const char *label, uint64_t done, uint64_t total)
{
    (void)label, (void)done, (void)total;
    if (!R_ToplevelExec(check_interrupt, NULL))
        brume_session_cancel(session);
}

static void on_note(void *unused, const char *line)
{
    (void)unused;
    REprintf("%s\n", line);
}

static void close_session(SEXP pointer)
{
    brume_session_close(R_ExternalPtrAddr(pointer));
    R_ClearExternalPtr(pointer);
}

static SEXP r_open(SEXP ledger, SEXP options)
{
    brume_session *session = NULL;
    brume_error error = {0};
    const char *text = options_text(options);
    if (!text)
        return refusal("options are numbers, texts, TRUE or FALSE");
    if (brume_session_open(text_of(ledger), text, &session, &error) != BRUME_OK)
        return failure(&error);
    brume_session_on_progress(session, on_progress, session);
    brume_session_on_note(session, on_note, NULL);
    SEXP pointer = PROTECT(R_MakeExternalPtr(session, R_NilValue, R_NilValue));
    R_RegisterCFinalizerEx(pointer, close_session, TRUE);
    UNPROTECT(1);
    return pointer;
}

static SEXP r_close(SEXP pointer)
{
    close_session(pointer);
    return R_NilValue;
}

static SEXP r_call(SEXP pointer, SEXP command, SEXP options)
{
    brume_session *session = R_ExternalPtrAddr(pointer);
    const char *text = options_text(options);
    brume_error error = {0};
    char *answer = NULL;
    if (!session)
        return refusal("the connection is closed");
    if (!text)
        return refusal("options are finite numbers, texts, TRUE or FALSE");
    if (brume_session_call(session, text_of(command), text, &answer, &error) != BRUME_OK)
        return failure(&error);
    return answer_to_r(answer);
}

static SEXP r_stream_open(SEXP pointer, SEXP command, SEXP options)
{
    brume_session *session = R_ExternalPtrAddr(pointer);
    const char *text = options_text(options);
    brume_error error = {0};
    if (!session || !text)
        return refusal(text ? "the connection is closed"
                            : "options are finite numbers, texts, TRUE or FALSE");
    if (brume_session_stream_open(session, text_of(command), text, &error) != BRUME_OK)
        return failure(&error);
    return R_NilValue;
}

static SEXP r_stream_ask(SEXP pointer, SEXP question)
{
    brume_session *session = R_ExternalPtrAddr(pointer);
    brume_error error = {0};
    char *answer = NULL;
    bool halted = false;
    if (!session)
        return refusal("the connection is closed");
    if (brume_session_stream_ask(session, text_of(question), &answer, &halted, &error) != BRUME_OK)
        return failure(&error);
    return answer_to_r(answer);
}

static SEXP r_stream_close(SEXP pointer)
{
    brume_session *session = R_ExternalPtrAddr(pointer);
    brume_error error = {0};
    if (session && brume_session_stream_close(session, &error) != BRUME_OK)
        return failure(&error);
    return R_NilValue;
}

static SEXP r_version(void)
{
    return Rf_mkString(brume_session_version());
}

/* --- noise ------------------------------------------------------------------------------------ */

typedef brume_status add_integers(brume_bits *bits, double spread, const int64_t *values,
                                  int64_t *out, size_t n, brume_error *error);
typedef brume_status add_reals(brume_bits *bits, double spread, int exponent, const double *values,
                               double *out, size_t n, brume_error *error);

/* R has no integers of 64 bits: whole numbers come and go as doubles. R/noise.R has checked that
 * they are whole and below 2^53. */
static SEXP r_noise_whole(SEXP values, SEXP spread, SEXP is_gaussian)
{
    size_t n = (size_t)Rf_xlength(values);
    int64_t *whole = (int64_t *)R_alloc(n ? n : 1, sizeof *whole);
    add_integers *add = Rf_asLogical(is_gaussian) ? brume_discrete_gaussian_add
                                                  : brume_discrete_laplace_add;
    brume_bits *bits = NULL;
    brume_error error = {0};
    for (size_t i = 0; i < n; i++)
        whole[i] = (int64_t)REAL(values)[i];
    brume_status status = brume_bits_open(&bits, &error);
    if (status == BRUME_OK)
        status = add(bits, Rf_asReal(spread), whole, whole, n, &error);
    brume_bits_close(bits);
    if (status != BRUME_OK)
        return failure(&error);
    SEXP out = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)n));
    for (size_t i = 0; i < n; i++)
        REAL(out)[i] = (double)whole[i];
    UNPROTECT(1);
    return out;
}

static SEXP r_noise_real(SEXP values, SEXP spread, SEXP exponent, SEXP is_gaussian)
{
    size_t n = (size_t)Rf_xlength(values);
    SEXP out = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)n));
    add_reals *add = Rf_asLogical(is_gaussian) ? brume_release_gaussian : brume_release_laplace;
    brume_bits *bits = NULL;
    brume_error error = {0};
    int step = Rf_asInteger(exponent); /* NA: one that suits the noise */
    brume_status status = brume_bits_open(&bits, &error);
    if (status == BRUME_OK && step == NA_INTEGER)
        status = brume_release_exponent(Rf_asReal(spread), &step, &error);
    if (status == BRUME_OK)
        status = add(bits, Rf_asReal(spread), step, REAL(values), REAL(out), n, &error);
    brume_bits_close(bits);
    UNPROTECT(1);
    return status == BRUME_OK ? out : failure(&error);
}

static SEXP r_randomized_response(SEXP truth, SEXP epsilon, SEXP k)
{
    size_t n = (size_t)Rf_xlength(truth);
    uint8_t *answers = (uint8_t *)R_alloc(n ? n : 1, 1);
    brume_bits *bits = NULL;
    brume_error error = {0};
    for (size_t i = 0; i < n; i++)
        answers[i] = (uint8_t)INTEGER(truth)[i]; /* R/noise.R has checked 0 .. k-1 */
    brume_status status = brume_bits_open(&bits, &error);
    if (status == BRUME_OK)
        status = brume_randomized_response(bits, Rf_asReal(epsilon), (unsigned)Rf_asInteger(k),
                                           answers, answers, n, &error);
    brume_bits_close(bits);
    if (status != BRUME_OK)
        return failure(&error);
    SEXP out = PROTECT(Rf_allocVector(INTSXP, (R_xlen_t)n));
    for (size_t i = 0; i < n; i++)
        INTEGER(out)[i] = answers[i];
    UNPROTECT(1);
    return out;
}

static const R_CallMethodDef entries[] = {
    {"r_open", (DL_FUNC)&r_open, 2},
    {"r_close", (DL_FUNC)&r_close, 1},
    {"r_call", (DL_FUNC)&r_call, 3},
    {"r_stream_open", (DL_FUNC)&r_stream_open, 3},
    {"r_stream_ask", (DL_FUNC)&r_stream_ask, 2},
    {"r_stream_close", (DL_FUNC)&r_stream_close, 1},
    {"r_version", (DL_FUNC)&r_version, 0},
    {"r_noise_whole", (DL_FUNC)&r_noise_whole, 3},
    {"r_noise_real", (DL_FUNC)&r_noise_real, 4},
    {"r_randomized_response", (DL_FUNC)&r_randomized_response, 3},
    {NULL, NULL, 0},
};

void R_init_brume(DllInfo *library)
{
    R_registerRoutines(library, NULL, entries, NULL, NULL);
    R_useDynamicSymbols(library, FALSE);
}
