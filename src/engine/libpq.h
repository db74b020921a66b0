/* libpq, loaded when a PostgreSQL server is first used: it brings two dozen libraries along, which
 * every command would wait for.
 *
 * A file that calls libpq includes this in place of <libpq-fe.h>, and calls nothing of it before
 * brume_libpq_load has succeeded. The functions have their own names and types. */
#ifndef BRUME_ENGINE_LIBPQ_H
#define BRUME_ENGINE_LIBPQ_H

#include <libpq-fe.h>

#include <brume/status.h>

typedef struct brume_libpq_functions {
#define BRUME_PQ(function) __typeof__(function) *function;
#include "engine/libpq.def"
#undef BRUME_PQ
} brume_libpq_functions;

extern brume_libpq_functions brume_libpq;

/* Load it, once. BRUME_EUNSUPPORTED if it is not installed. Any thread. */
BRUME_MUST_USE brume_status brume_libpq_load(brume_error *error);

#ifndef BRUME_LIBPQ_OWN_NAMES
/* clang-format off */
#define PQcancel            brume_libpq.PQcancel
#define PQclear             brume_libpq.PQclear
#define PQcmdStatus         brume_libpq.PQcmdStatus
#define PQconnectdbParams   brume_libpq.PQconnectdbParams
#define PQconninfoFree      brume_libpq.PQconninfoFree
#define PQconninfoParse     brume_libpq.PQconninfoParse
#define PQdb                brume_libpq.PQdb
#define PQdescribePrepared  brume_libpq.PQdescribePrepared
#define PQexec              brume_libpq.PQexec
#define PQexecParams        brume_libpq.PQexecParams
#define PQfinish            brume_libpq.PQfinish
#define PQfreeCancel        brume_libpq.PQfreeCancel
#define PQfreemem           brume_libpq.PQfreemem
#define PQftype             brume_libpq.PQftype
#define PQgetCancel         brume_libpq.PQgetCancel
#define PQgetCopyData       brume_libpq.PQgetCopyData
#define PQgetResult         brume_libpq.PQgetResult
#define PQgetisnull         brume_libpq.PQgetisnull
#define PQgetvalue          brume_libpq.PQgetvalue
#define PQhost              brume_libpq.PQhost
#define PQlibVersion        brume_libpq.PQlibVersion
#define PQnfields           brume_libpq.PQnfields
#define PQntuples           brume_libpq.PQntuples
#define PQparameterStatus   brume_libpq.PQparameterStatus
#define PQport              brume_libpq.PQport
#define PQprepare           brume_libpq.PQprepare
#define PQresultErrorField  brume_libpq.PQresultErrorField
#define PQresultStatus      brume_libpq.PQresultStatus
#define PQserverVersion     brume_libpq.PQserverVersion
#define PQsetNoticeReceiver brume_libpq.PQsetNoticeReceiver
#define PQstatus            brume_libpq.PQstatus
/* clang-format on */
#endif

#endif
