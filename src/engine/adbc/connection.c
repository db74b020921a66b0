/* A connection through an ADBC driver.
 *
 * A cancel may come from a signal handler, where the driver must not be called: a thread that does
 * nothing else waits for it, and cancels the statement that runs. */
#include "engine/adbc/connection.h"

#include <dlfcn.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/library.h"

struct brume_adbc {
    brume_adbc_library *library;
    const brume_adbc_functions *functions;
    brume_adbc_handle database, connection, statement;
    bool has_database, has_connection, has_statement, has_canceller;
    pthread_t canceller;
    pthread_mutex_t lock; /* guards statement, has_statement and asked */
    bool asked;           /* a cancel came while no statement ran: it is for the next one */
    sem_t wake;           /* posted by a cancel, and at the end */
    atomic_bool closing;
};

/* What a driver says of a failure is dropped unread. */
static bool succeeded(uint8_t code, brume_adbc_error *said)
{
    if (said->release)
        said->release(said);
    return code == BRUME_ADBC_OK;
}

#define NOTHING_SAID                                                                               \
    {                                                                                              \
        .vendor_code = INT32_MIN                                                                   \
    }

static bool call(brume_adbc_call function, brume_adbc_handle *handle)
{
    brume_adbc_error said = NOTHING_SAID;
    return succeeded(function(handle, &said), &said);
}

/* ---- the library ---- */

/* Under the library's lock. It stays loaded: many drivers cannot be unloaded. */
static bool load(brume_adbc_library *library)
{
    const char *path = getenv(library->environment);
    void *opened = dlopen(path && *path ? path : library->name, RTLD_NOW | RTLD_LOCAL);
    brume_adbc_entry entry;
    brume_adbc_error said = NOTHING_SAID;
    return opened && brume_library_find(opened, library->entry, &entry) &&
           succeeded(entry(BRUME_ADBC_VERSION, &library->functions, &said), &said) &&
           library->functions.statement_cancel;
}

static brume_status need(brume_adbc_library *library, brume_error *error)
{
    pthread_mutex_lock(&library->lock);
    library->loaded = library->loaded || load(library);
    bool loaded = library->loaded;
    pthread_mutex_unlock(&library->lock);
    if (loaded)
        return BRUME_OK;
    char *hint = brume_engine_format("install %s, or put its path into the environment as %s",
                                     library->name, library->environment);
    brume_status status = brume_fail(error, BRUME_EUNSUPPORTED, hint,
                                     "%s sources need an ADBC driver of version 1.1",
                                     library->server);
    free(hint);
    return status;
}

/* ---- cancelling ---- */

static void *cancel_when_asked(void *context)
{
    brume_adbc *adbc = context;
    while (sem_wait(&adbc->wake) != 0 || !atomic_load(&adbc->closing)) {
        pthread_mutex_lock(&adbc->lock);
        adbc->asked = !adbc->has_statement;
        if (adbc->has_statement)
            (void)call(adbc->functions->statement_cancel, &adbc->statement);
        pthread_mutex_unlock(&adbc->lock);
    }
    return NULL;
}

/* The thread takes no signals: they are for those who expect them. */
static bool start_canceller(brume_adbc *adbc)
{
    sigset_t all, before;
    sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0)
        return false;
    adbc->has_canceller = pthread_create(&adbc->canceller, NULL, cancel_when_asked, adbc) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return adbc->has_canceller;
}

void brume_adbc_cancel(brume_adbc *adbc)
{
    sem_post(&adbc->wake);
}

/* ---- opening ---- */

static brume_status unreachable(const brume_adbc *adbc, brume_error *error)
{
    return brume_fail(error, BRUME_ESOURCE, "check host, port and token, and that it runs",
                      "cannot connect to the %s server", adbc->library->server);
}

static brume_status connect(brume_adbc *adbc, const char *const *options, brume_error *error)
{
    const brume_adbc_functions *functions = adbc->functions;
    bool good = adbc->has_database = call(functions->database_new, &adbc->database);
    for (size_t i = 0; good && options[i]; i += 2) {
        brume_adbc_error said = NOTHING_SAID;
        good = succeeded(
            functions->database_set_option(&adbc->database, options[i], options[i + 1], &said),
            &said);
    }
    good = good && call(functions->database_init, &adbc->database);
    good = good && (adbc->has_connection = call(functions->connection_new, &adbc->connection));
    brume_adbc_error said = NOTHING_SAID;
    good = good &&
           succeeded(functions->connection_init(&adbc->connection, &adbc->database, &said), &said);
    return good ? BRUME_OK : unreachable(adbc, error);
}

brume_status brume_adbc_open(brume_adbc_library *library, const char *const *options,
                             brume_adbc **out, brume_error *error)
{
    BRUME_TRY(need(library, error));
    brume_adbc *adbc = calloc(1, sizeof *adbc);
    if (!adbc)
        return brume_no_memory(error, NULL);
    adbc->library = library;
    adbc->functions = &library->functions;
    atomic_init(&adbc->closing, false);
    if (sem_init(&adbc->wake, 0, 0) != 0 || pthread_mutex_init(&adbc->lock, NULL) != 0) {
        free(adbc);
        return brume_no_memory(error, NULL);
    }
    brume_status status = start_canceller(adbc) ? connect(adbc, options, error)
                                                : brume_no_memory(error, NULL);
    if (status != BRUME_OK) {
        brume_adbc_close(adbc);
        return status;
    }
    *out = adbc;
    return BRUME_OK;
}

void brume_adbc_close(brume_adbc *adbc)
{
    if (!adbc)
        return;
    brume_adbc_end(adbc);
    if (adbc->has_canceller) {
        atomic_store(&adbc->closing, true);
        sem_post(&adbc->wake);
        pthread_join(adbc->canceller, NULL);
    }
    if (adbc->has_connection)
        (void)call(adbc->functions->connection_release, &adbc->connection);
    if (adbc->has_database)
        (void)call(adbc->functions->database_release, &adbc->database);
    sem_destroy(&adbc->wake);
    pthread_mutex_destroy(&adbc->lock);
    free(adbc);
}

brume_status brume_adbc_failed(const brume_adbc *adbc, brume_error *error)
{
    return brume_fail(error, BRUME_EENGINE, "is the server still running? look into its log",
                      "%s failed, or was lost, while it ran the query", adbc->library->server);
}

/* ---- statements ---- */

bool brume_adbc_begin(brume_adbc *adbc, const char *sql, struct ArrowArrayStream *stream)
{
    const brume_adbc_functions *functions = adbc->functions;
    brume_adbc_error said = NOTHING_SAID;
    int64_t affected = -1;
    memset(stream, 0, sizeof *stream);
    brume_adbc_end(adbc);
    pthread_mutex_lock(&adbc->lock);
    adbc->has_statement =
        succeeded(functions->statement_new(&adbc->connection, &adbc->statement, &said), &said);
    bool refused = adbc->asked || !adbc->has_statement;
    adbc->asked = false;
    pthread_mutex_unlock(&adbc->lock);
    if (refused)
        return false;
    said = (brume_adbc_error)NOTHING_SAID;
    if (!succeeded(functions->statement_set_sql(&adbc->statement, sql, &said), &said))
        return false;
    said = (brume_adbc_error)NOTHING_SAID;
    return succeeded(functions->statement_execute(&adbc->statement, stream, &affected, &said),
                     &said) &&
           stream->release;
}

void brume_adbc_end(brume_adbc *adbc)
{
    pthread_mutex_lock(&adbc->lock);
    if (adbc->has_statement)
        (void)call(adbc->functions->statement_release, &adbc->statement);
    adbc->has_statement = false;
    adbc->statement = (brume_adbc_handle){0};
    pthread_mutex_unlock(&adbc->lock);
}

bool brume_adbc_run(brume_adbc *adbc, const char *sql)
{
    struct ArrowArrayStream stream;
    bool good = brume_adbc_begin(adbc, sql, &stream), more = good;
    while (more) {
        struct ArrowArray batch = {0};
        good = stream.get_next(&stream, &batch) == 0;
        more = good && batch.release;
        if (more)
            batch.release(&batch);
    }
    if (stream.release)
        stream.release(&stream);
    brume_adbc_end(adbc);
    return good;
}
