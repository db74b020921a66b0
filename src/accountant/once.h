/* One or two draws of a Poisson-subsampled Gaussian beside few draws of laws without a Gaussian:
 * sums of positive terms instead of lines, which need many nodes there.
 *
 *   one draw beside many atoms, or Laplaces: sums of a table, see once_sum.h;
 *   one draw beside atoms:           sum over atoms of the draw's closed form;
 *   one draw beside Laplaces too:    sum over cells of the draw's loss of the others' sum;
 *   two draws, of one kind or two:   sum over cells of one of the other's closed form.
 * proofs/accountant.md, sections 21 and 22. */
#ifndef BRUME_ACCOUNTANT_ONCE_H
#define BRUME_ACCOUNTANT_ONCE_H

#include "accountant/audit.h"
#include "accountant/sampled_draw.h"

typedef struct brume_once brume_once;

/* For epsilons from `least` on, deltas of the size of `delta` or more; by a table, which takes one
 * draw, or by closed forms and cells. NULL if the laws are others, if it is too much work, or if
 * memory ran out: other routes remain. */
brume_once *brume_once_open_table(const brume_law *laws, size_t count, double least, double delta,
                                  double most_terms);
brume_once *brume_once_open(const brume_law *laws, size_t count, double delta);
void brume_once_close(brume_once *once);
brume_closed brume_once_form(brume_once *once);

/* Cut the draw into about `cells` cells, small where it matters at `epsilon`; false if there are no
 * cells, if that is too much work or if memory ran out. */
bool brume_once_refine(brume_once *once, double epsilon, size_t cells);

/* What may be tried: what is quicker than any line, or what a line that only a band ends would take
 * longer for. */
typedef enum brume_once_effort { BRUME_ONCE_QUICK, BRUME_ONCE_LONG } brume_once_effort;

/* Narrow the answer down to `goal`, relative; false if there is no way. */
bool brume_once_delta(const brume_law *laws, size_t count, double epsilon, double goal,
                      brume_once_effort effort, brume_answer *answer);
bool brume_once_epsilon(const brume_law *laws, size_t count, double delta, double delta_error,
                        double goal, brume_once_effort effort, brume_answer *answer);

/* Is it this route's, and do the closed forms in doubles agree with balls around epsilon? */
bool brume_once_answered(const brume_answer *answer);
void brume_once_audit(brume_law *laws, size_t count, double epsilon, brume_audit *out);

#endif
