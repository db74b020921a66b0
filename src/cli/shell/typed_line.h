/* Lines of a shell: typed at a terminal with editing, history and completion, or read from a pipe
 * or a file as they are. */
#ifndef BRUME_CLI_TYPED_LINE_H
#define BRUME_CLI_TYPED_LINE_H

#include <stdbool.h>

#include <brume/status.h>

typedef struct brume_typed_line brume_typed_line;

/* How a word may go on. `before` is the text of the line before the word, `word` what is typed of
 * it. The words are a NULL-ended list that the caller frees, each and the list; NULL for none. */
typedef char **(*brume_completer)(void *state, const char *before, const char *word);

/* At a terminal (standard input and standard output both) lines are edited, and remembered in the
 * file `history` of one's own, readable by nobody else; NULL: not remembered. EMEMORY. */
BRUME_MUST_USE brume_status brume_typed_line_open(const char *history, brume_completer completer,
                                                  void *state, brume_typed_line **out,
                                                  brume_error *error);
void brume_typed_line_close(brume_typed_line *line);
bool brume_typed_line_at_terminal(const brume_typed_line *line);

/* What became of a line: it is there, Ctrl-C threw it away, the input has ended. */
typedef enum brume_line_end { BRUME_LINE_TYPED, BRUME_LINE_DROPPED, BRUME_LINE_END } brume_line_end;

/* The next line without its newline, valid until the next call. */
brume_line_end brume_typed_line_read(brume_typed_line *line, const char *prompt, const char **text);

/* Remember a whole statement or command. */
void brume_typed_line_remember(brume_typed_line *line, const char *text);

/* Ask a question whose answer is yes or no; false unless the answer begins with y. */
bool brume_typed_line_confirm(brume_typed_line *line, const char *question);

#endif
