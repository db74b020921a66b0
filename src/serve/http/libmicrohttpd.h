/* libmicrohttpd, loaded when a server starts: with GnuTLS it brings a dozen libraries along, which
 * every command would wait for.
 *
 * A file that calls it includes this in place of <microhttpd.h>, and calls nothing of it before
 * brume_microhttpd_load has succeeded. The functions have their own names and types. */
#ifndef BRUME_SERVE_HTTP_LIBMICROHTTPD_H
#define BRUME_SERVE_HTTP_LIBMICROHTTPD_H

#include <microhttpd.h>

#include <brume/status.h>

typedef struct brume_microhttpd_functions {
#define BRUME_MHD(function) __typeof__(function) *function;
#include "serve/http/libmicrohttpd.def"
#undef BRUME_MHD
} brume_microhttpd_functions;

extern brume_microhttpd_functions brume_microhttpd;

/* Load it, once. BRUME_EUNSUPPORTED if it is not installed. Any thread. */
BRUME_MUST_USE brume_status brume_microhttpd_load(brume_error *error);

#ifndef BRUME_MICROHTTPD_OWN_NAMES
/* clang-format off */
#define MHD_add_response_header         brume_microhttpd.MHD_add_response_header
#define MHD_create_response_from_buffer brume_microhttpd.MHD_create_response_from_buffer
#define MHD_destroy_response            brume_microhttpd.MHD_destroy_response
#define MHD_get_connection_info         brume_microhttpd.MHD_get_connection_info
#define MHD_get_connection_values       brume_microhttpd.MHD_get_connection_values
#define MHD_get_daemon_info             brume_microhttpd.MHD_get_daemon_info
#define MHD_http_unescape               brume_microhttpd.MHD_http_unescape
#define MHD_lookup_connection_value     brume_microhttpd.MHD_lookup_connection_value
#define MHD_queue_response              brume_microhttpd.MHD_queue_response
#define MHD_quiesce_daemon              brume_microhttpd.MHD_quiesce_daemon
#define MHD_resume_connection           brume_microhttpd.MHD_resume_connection
#define MHD_start_daemon                brume_microhttpd.MHD_start_daemon
#define MHD_stop_daemon                 brume_microhttpd.MHD_stop_daemon
#define MHD_suspend_connection          brume_microhttpd.MHD_suspend_connection
/* clang-format on */
#endif

#endif
