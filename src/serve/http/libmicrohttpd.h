/* libmicrohttpd, loaded when a server starts: it brings GnuTLS along, which takes time and kernel
 * randomness whenever it is loaded, and no other command needs.
 *
 * A file that calls it includes this in place of <microhttpd.h>, and calls nothing of it before
 * brume_libmicrohttpd_load has succeeded. The functions have their own names and types. */
#ifndef BRUME_SERVE_HTTP_LIBMICROHTTPD_H
#define BRUME_SERVE_HTTP_LIBMICROHTTPD_H

#include <sys/types.h>
#include <sys/socket.h>

#include <microhttpd.h>

#include <brume/status.h>

typedef struct brume_libmicrohttpd_functions {
#define BRUME_MHD(function) __typeof__(function) *function;
#include "serve/http/libmicrohttpd.def"
#undef BRUME_MHD
} brume_libmicrohttpd_functions;

extern brume_libmicrohttpd_functions brume_libmicrohttpd;

/* Load it, once. BRUME_EUNSUPPORTED if it is not installed. Any thread. */
BRUME_MUST_USE brume_status brume_libmicrohttpd_load(brume_error *error);

#ifndef BRUME_LIBMICROHTTPD_OWN_NAMES
/* clang-format off */
#define MHD_add_response_header         brume_libmicrohttpd.MHD_add_response_header
#define MHD_create_response_from_buffer brume_libmicrohttpd.MHD_create_response_from_buffer
#define MHD_destroy_response            brume_libmicrohttpd.MHD_destroy_response
#define MHD_get_connection_info         brume_libmicrohttpd.MHD_get_connection_info
#define MHD_get_connection_values       brume_libmicrohttpd.MHD_get_connection_values
#define MHD_get_daemon_info             brume_libmicrohttpd.MHD_get_daemon_info
#define MHD_http_unescape               brume_libmicrohttpd.MHD_http_unescape
#define MHD_lookup_connection_value     brume_libmicrohttpd.MHD_lookup_connection_value
#define MHD_queue_response              brume_libmicrohttpd.MHD_queue_response
#define MHD_quiesce_daemon              brume_libmicrohttpd.MHD_quiesce_daemon
#define MHD_resume_connection           brume_libmicrohttpd.MHD_resume_connection
#define MHD_start_daemon                brume_libmicrohttpd.MHD_start_daemon
#define MHD_stop_daemon                 brume_libmicrohttpd.MHD_stop_daemon
#define MHD_suspend_connection          brume_libmicrohttpd.MHD_suspend_connection
/* clang-format on */
#endif

#endif
