/* Where one SQL statement ends and the next begins, in text that a person is still typing. */
#ifndef BRUME_QUERY_SQL_STATEMENT_H
#define BRUME_QUERY_SQL_STATEMENT_H

#include <brume/session.h> /* brume_statement_length, brume_statement_is_blank */

#endif
