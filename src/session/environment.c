/* The locale and the floating-point environment of a call. */
#include "session/environment.h"

#include "base/error.h"
#include "number/thread_caches.h"

brume_status brume_environment_enter(brume_environment *before, brume_error *error)
{
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!plain)
        return brume_no_memory(error, NULL);
    if (fegetenv(&before->floats) != 0 || fesetenv(FE_DFL_ENV) != 0) {
        freelocale(plain);
        return brume_fail(error, BRUME_EINTERNAL, NULL,
                          "the floating-point environment cannot be set");
    }
    brume_thread_caches_free_at_end();
    before->plain = plain;
    before->locale = uselocale(plain);
    return BRUME_OK;
}

void brume_environment_leave(const brume_environment *before)
{
    uselocale(before->locale);
    freelocale(before->plain);
    fesetenv(&before->floats);
}
