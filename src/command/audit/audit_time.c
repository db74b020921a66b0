/* brume audit --time: does the time of an answer tell the neighbour, or the value? */
#include "audit/timing.h"
#include "command/audit/audit.h"
#include "command/frame/output.h"

static json_t *json_tau(const brume_tau *tau)
{
    return json_pack("{s:o, s:o, s:I, s:I, s:I}", "tau_lower", brume_json_real(tau->lower),
                     "tau_upper", brume_json_real(tau->upper), "pairs", (json_int_t)tau->pairs,
                     "longer", (json_int_t)tau->longer, "shorter", (json_int_t)tau->shorter);
}

static brume_status write_json(brume_call *call, const brume_audited *a, const brume_timing *timing,
                               brume_error *error)
{
    return brume_call_write_json(
        call,
        json_pack("{s:s, s:o, s:o, s:[o, o], s:o, s:I, s:s, s:s}", "verdict",
                  brume_timing_tells(timing) ? "violation" : "consistent", "neighbour",
                  json_tau(&timing->neighbour), "value", json_tau(&timing->value), "seconds",
                  brume_json_real(timing->median[0]), brume_json_real(timing->median[1]),
                  "confidence", brume_json_real(a->confidence), "samples", (json_int_t)a->samples,
                  "neighbours", a->neighbours, "outcome", a->outcome),
        error);
}

static void write_tau(brume_call *call, const char *what, const brume_tau *tau)
{
    fprintf(call->out,
            "%s: tau from %+.3f to %+.3f (longer in %llu, shorter in %llu of %llu pairs)\n", what,
            tau->lower, tau->upper, (unsigned long long)tau->longer,
            (unsigned long long)tau->shorter, (unsigned long long)tau->pairs);
}

static void write_text(brume_call *call, const brume_audited *a, const brume_timing *timing)
{
    bool tells = brume_timing_tells(timing);
    fprintf(call->out, "%s%s%s: the time of an answer %s, with confidence %s\n", brume_bold(call),
            tells ? "violation" : "consistent", brume_plain(call),
            tells ? "tells something" : "is not found to tell anything",
            brume_shortest(a->confidence).text);
    write_tau(call, "on the second neighbour against the first", &timing->neighbour);
    write_tau(call, "of a larger outcome against a smaller one", &timing->value);
    char *text = NULL;
    if (asprintf(&text,
                 "neighbours: %s; outcome: %s; half of the answers take at most %.3g s and %.3g s",
                 a->neighbours, a->outcome, timing->median[0], timing->median[1]) < 0)
        return;
    fputs(brume_dim(call), call->out);
    brume_write_wrapped(call->out, text, 0, 2);
    fputs(brume_plain(call), call->out);
    free(text);
}

static void tell(void *context, size_t done)
{
    brume_progress_update(context, done);
}

brume_status brume_audited_time(brume_call *call, const brume_audited *a, brume_audit_draw *of,
                                const void *subject, brume_bits *bits, brume_error *error)
{
    brume_progress progress;
    brume_timing timing;
    brume_audit_options options = brume_audited_options(a);
    options.progress = tell;
    options.progress_context = &progress;
    brume_progress_start(&progress, call, "measuring", 2 * a->samples);
    brume_status status = brume_timing_measure(of, subject, &options, bits, &timing, error);
    brume_progress_end(&progress);
    BRUME_TRY(status);
    if (call->json)
        return write_json(call, a, &timing, error);
    write_text(call, a, &timing);
    return BRUME_OK;
}
