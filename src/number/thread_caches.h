/* What MPFR keeps for a thread (constants, and integers for reuse: more than a kilobyte) is freed
 * when the thread ends: a host that calls from ever new threads must not grow.
 *
 * Called by whatever may use MPFR on a thread of the host; cheap, and may be called again. Where
 * the system has no key left for it, the memory stays until the process ends. */
#ifndef BRUME_NUMBER_THREAD_CACHES_H
#define BRUME_NUMBER_THREAD_CACHES_H

void brume_thread_caches_free_at_end(void);

#endif
