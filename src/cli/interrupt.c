/* Ctrl-C in a command that pays: it ends, and says what became of the price.
 *
 * While nothing is spent the handler ends the process at once, unless the first signal is only
 * noted. Later the first signal cancels the engine and lets the ledger be written, and the command
 * ends with the error of brume_spend; a second signal does not wait for that. The process may end
 * anywhere: a killed process leaves a ledger that holds. Only functions that are safe in a handler
 * are called in it; the texts are made before. */
#include "cli/interrupt.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { PHASES = BRUME_PHASE_RECORDED + 1 };

static const struct {
    const char *message, *hint;
} said[PHASES] = {
    [BRUME_PHASE_FREE] = {"interrupted; nothing was spent", ""},
    [BRUME_PHASE_RESERVING] = {"interrupted; whether the price was spent is not known",
                               "'brume history' shows it if it was"},
    [BRUME_PHASE_RUNNING] = {"interrupted; the price stays spent", "'brume history' shows it"},
    [BRUME_PHASE_SPENT] = {"interrupted; the price stays spent", "'brume history' shows it"},
    [BRUME_PHASE_RECORDED] = {"interrupted; the price stays spent",
                              "the answer is recorded: the same question again is free"},
};

static char texts[PHASES][320];
static volatile sig_atomic_t phase_now, signals, only_noted;
static brume_engine *volatile running;

static void on_signal(int number)
{
    (void)number;
    int phase = phase_now;
    brume_engine *engine = running;
    signals = signals + 1;
    if ((phase == BRUME_PHASE_FREE && !only_noted) || signals > 1) {
        ssize_t written = write(STDERR_FILENO, texts[phase], strlen(texts[phase]));
        _exit(written < 0 ? 1 : brume_status_exit_code(BRUME_ECANCELLED));
    }
    if (engine)
        brume_engine_cancel(engine);
}

static void enter(void *context, brume_phase phase, brume_engine *engine)
{
    (void)context;
    /* The engine is known only while it may be cancelled. */
    running = NULL;
    phase_now = (sig_atomic_t)phase;
    running = engine;
}

static bool interrupted(void *context)
{
    (void)context;
    return signals > 0;
}

static void make_text(const brume_call *call, size_t phase)
{
    const char *message = said[phase].message, *hint = said[phase].hint;
    if (call->json)
        snprintf(texts[phase], sizeof texts[phase],
                 "{\"error\":{\"code\":\"%s\",\"message\":\"%s\",\"hint\":\"%s\"}}\n",
                 brume_status_word(BRUME_ECANCELLED), message, hint);
    else
        snprintf(texts[phase], sizeof texts[phase], "brume %s: %s\n%s%s%s", call->command->name,
                 message, *hint ? "  hint: " : "", hint, *hint ? "\n" : "");
}

const brume_watch *brume_interrupt_watch(const brume_call *call)
{
    static const brume_watch watch = {enter, interrupted, NULL};
    for (size_t i = 0; i < PHASES; i++)
        make_text(call, i);
    /* A second signal must get through while the first one waits for a server. */
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_NODEFER};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    return &watch;
}

const brume_watch *brume_interrupt_note(const brume_call *call)
{
    only_noted = 1;
    return brume_interrupt_watch(call);
}
