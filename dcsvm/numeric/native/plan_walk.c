/* Strategies that walk down a decision graph: a member is asked when a row comes to it. */
#include <float.h>
#include <math.h>

#include "plan.h"

#define HAIR 1e-300

/* A graph: the list of classes, and by two classes the unit, its column and the sign. */
typedef struct {
    const int64_t *order, *unit_of, *column_of;
    const double *sign;
    int64_t listed;
} graph;

static graph graph_of(const step *c) {
    return (graph){c->arrays[0], c->arrays[1], c->arrays[2], c->arrays[3], c->sizes[0]};
}

/* Walk down the list with one row; a unit is asked when it is first needed. `answers` holds the
   columns of all units, `asked` which are there. */
static int walk_row(const plan *p, const step *s, const graph *g, const double *x, double *answers,
                    int8_t *asked, int64_t *left, int64_t *beaten_by, double *margins, room *r) {
    const unit *units = s->arrays[UNITS];
    int64_t k = s->sizes[N_CLASSES], first = 0, last = g->listed - 1;
    for (int64_t at = 0; first < last; at++) {
        int64_t one = g->order[first], other = g->order[last], pair = one * k + other;
        const unit *u = units + g->unit_of[pair];
        if (!asked[g->unit_of[pair]]) {
            TRY(run(p, u->step, x, 1, answers + u->first, r));
            asked[g->unit_of[pair]] = 1;
        }
        double value = answers[g->column_of[pair]];
        int wins = (value > 0.0) == (g->sign[pair] > 0.0);
        left[at] = wins ? other : one;
        beaten_by[at] = wins ? one : other;
        margins[at] = fabs(value);
        if (wins) last--;
        else first++;
    }
    return DONE;
}

int combine_walk(const plan *p, const step *s, const step *c, const double *X, int64_t n,
                        double *out, room *r) {
    graph g = graph_of(c);
    int64_t k = s->sizes[N_CLASSES], units = s->sizes[GROUPS], last = g.listed - 2;
    units = ((const group *)s->arrays[GROUP_TABLE])[units - 1].last;
    double *answers = take_numbers(r, s->sizes[N_COLUMNS]), *margins = take_numbers(r, 3 * k);
    int64_t *left = take(r, 2 * k, sizeof(int64_t)), *beaten_by = left + k;
    int8_t *asked = take(r, units, 1);
    NEED(answers && margins && left && asked);
    double *scores = margins + k, *known = scores + k;
    for (int64_t i = 0; i < n; i++) {
        memset(asked, 0, (size_t)units);
        memset(known, 0, sizeof(double) * (size_t)k);
        TRY(walk_row(p, s, &g, X + i * s->inputs, answers, asked, left, beaten_by, margins, r));
        int64_t winner = beaten_by[last];
        double narrowest = DBL_MAX;
        scores[winner] = 0.0;
        known[winner] = 1.0;
        for (int64_t at = last; at >= 0; at--) {
            scores[left[at]] = scores[beaten_by[at]] - margins[at];
            known[left[at]] = 1.0;
            if (beaten_by[at] == winner && margins[at] < narrowest) narrowest = margins[at];
        }
        scores[winner] = narrowest > HAIR ? narrowest : HAIR;
        finish(scores, known, k, out + i * s->outputs);
    }
    return DONE;
}
