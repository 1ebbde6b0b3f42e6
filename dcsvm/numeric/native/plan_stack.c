/* Strategies with a second level: models of the answers of all members. */
#include "plan.h"

enum { STACK_MODELS, STACK_PRESENT, STACK_LOW, STACK_HIGH, STACK_BLOCKS, STACK_PLACES };
enum { STACK_COUNT, STACK_CLASSES, STACK_SCALING, STACK_BY_LABEL, STACK_WIDTH };

/* The answers of a group with a router: mean scores by class, -1 for a class without one. */
static int routed_columns(const plan *p, const step *s, int64_t number, const step *mean,
                          const double *X, int64_t n, double *table, int64_t width, room *r) {
    int64_t k = s->sizes[N_CLASSES];
    tally t;
    double *scores = take_numbers(r, 2 * k), *known = scores + k;
    NEED(scores);
    TRY(start_tally(&t, s, mean, n, r));
    TRY(ask_group(p, &t, number, X, n, r));
    for (int64_t i = 0; i < n; i++) {
        double *to = table + i * width;
        score(&t, i, scores, known);
        for (int64_t c = 0; c < k && k > 2; c++) to[c] = known[c] > 0.0 ? scores[c] : -1.0;
        if (k > 2) continue;
        if (known[0] > 0.0 && known[1] > 0.0) to[0] = (scores[1] - scores[0]) / 2.0;
        else to[0] = known[1] > 0.0 ? scores[1] : known[0] > 0.0 ? -scores[0] : -1.0;
    }
    return DONE;
}

/* The table of answers that the second level learns from: (n, width). */
static int fill_table(const plan *p, const step *s, const step *c, const double *X, int64_t n,
                      double *table, room *r) {
    const group *groups = s->arrays[GROUP_TABLE];
    const unit *units = s->arrays[UNITS];
    const int64_t *places = c->arrays[STACK_PLACES];
    int64_t width = c->sizes[STACK_WIDTH], k = s->sizes[N_CLASSES], at = 0;
    const step mean = {.kind = MEAN};
    for (int64_t g = 0; g < s->sizes[GROUPS]; g++) {
        if (groups[g].router >= 0) {
            TRY(routed_columns(p, s, g, &mean, X, n, table + at, width, r));
            at += k > 2 ? k : 1;
            continue;
        }
        for (const unit *u = units + groups[g].first; u < units + groups[g].last; u++) {
            int64_t wide = u->last - u->first;
            double *values = take_numbers(r, n * wide);
            NEED(values);
            TRY(run(p, u->step, X, n, values, r));
            for (int64_t i = 0; i < n; i++)
                for (int64_t j = 0; j < wide; j++)
                    table[i * width + places[u->first + j]] = values[i * wide + j];
            at += wide;
        }
    }
    return DONE;
}

/* Only the winning class of each member or group. */
static void keep_winners(const step *c, double *row) {
    const int64_t *ends = c->arrays[STACK_BLOCKS];
    for (int64_t from = 0; from < c->sizes[STACK_WIDTH]; from = ends[from]) {
        int64_t wide = ends[from] - from, best = largest(row + from, wide);
        double sign = row[from] > 0.0 ? 1.0 : -1.0;
        for (int64_t j = 0; j < wide; j++)
            row[from + j] = wide == 1 ? sign : j == best ? 1.0 : -1.0;
    }
}

int combine_stack(const plan *p, const step *s, const step *c, const double *X, int64_t n,
                         double *out, room *r) {
    int64_t k = s->sizes[N_CLASSES], width = c->sizes[STACK_WIDTH];
    int64_t present = c->sizes[STACK_CLASSES], models = c->sizes[STACK_COUNT];
    const int64_t *steps = c->arrays[STACK_MODELS], *classes = c->arrays[STACK_PRESENT];
    const double *low = c->arrays[STACK_LOW], *high = c->arrays[STACK_HIGH];
    double *table = take_numbers(r, n * width), *seen = take_numbers(r, n * width);
    double *said = take_numbers(r, n * present), *scores = take_numbers(r, 2 * k);
    double *known = scores + k;
    NEED(table && seen && said && scores);
    TRY(fill_table(p, s, c, X, n, table, r));
    for (int64_t i = 0; i < n; i++) {
        double *row = table + i * width;
        if (c->sizes[STACK_BY_LABEL]) keep_winners(c, row);
        for (int64_t j = 0; j < width; j++)
            row[j] = row[j] < low[j] ? low[j] : row[j] > high[j] ? high[j] : row[j];
    }
    TRY(run(p, c->sizes[STACK_SCALING], table, n, seen, r));
    for (int64_t i = 0; i < n; i++, out += s->outputs) {
        for (int64_t m = 0; m < models; m++)
            TRY(run(p, steps[m], seen + i * width, 1, said + m, r));
        memset(known, 0, sizeof(double) * (size_t)k);
        if (models == 1 && present == 2) {
            said[1] = said[0];
            said[0] = -said[0];
        }
        for (int64_t j = 0; j < present; j++) {
            scores[classes[j]] = said[j];
            known[classes[j]] = 1.0;
        }
        finish(scores, known, k, out);
    }
    return DONE;
}
