/* The routers of a plan. */
#include <math.h>

#include "hyperplane_tree.h"
#include "plan.h"

EXPORT int64_t dcsvm_oblique_route(const oblique_tree *t, const double *lengths, const double *x,
                                   int64_t features, const double *offset, const double *factor,
                                   int64_t n, int32_t *leaf, int32_t *depth);

/* The first column with the largest score, of those that are equal up to rounding. */
static int64_t nearest(const double *scores, int64_t count, double tie) {
    double best = scores[0], size = 0.0;
    for (int64_t j = 0; j < count; j++) {
        best = scores[j] > best ? scores[j] : best;
        size = fabs(scores[j]) > size ? fabs(scores[j]) : size;
    }
    for (int64_t j = 0; j < count; j++)
        if (-scores[j] <= tie * size - best) return j;
    return 0;
}

int find_members(const plan *p, const step *s, const double *X, int64_t n, int64_t *member,
                        room *r) {
    const int64_t *names = s->arrays[4];
    if (s->kind == AXIS_TREE) {
        dcsvm_leaves(X, n, s->inputs, s->arrays[0], s->arrays[1], s->arrays[2], s->arrays[3],
                     member);
        for (int64_t i = 0; i < n; i++) member[i] = names[member[i]];
    } else if (s->kind == PLANE_TREE) {
        int32_t *leaf = take(r, 2 * n, sizeof(int32_t));
        NEED(leaf && !dcsvm_oblique_route(s->arrays[0], s->arrays[1], X, s->inputs, NULL, NULL, n,
                                          leaf, leaf + n));
        for (int64_t i = 0; i < n; i++) member[i] = names[leaf[i]];
    } else if (s->kind == LOOKUP) {
        look_up(s, X, n, member);
    } else {
        double *scores = take_numbers(r, n * s->outputs);
        NEED(scores);
        TRY(run(p, s->sizes[0], X, n, scores, r));
        for (int64_t i = 0; i < n; i++)
            member[i] = nearest(scores + i * s->outputs, s->outputs, s->numbers[0]);
    }
    return DONE;
}

int route(const plan *p, int64_t at, const double *X, int64_t n, routing *found, room *r) {
    const step *s = p->steps + at;
    if (s->kind == ASK_ROUTER) return p->ask_router(at, X, n, found) ? DONE : RAISED;
    if (s->kind == SPILL || s->kind == GATE) return share_rows(p, s, X, n, found, r);
    int64_t *row = take(r, 2 * n, sizeof(int64_t)), *member = row + n;
    NEED(row);
    for (int64_t i = 0; i < n; i++) row[i] = i;
    TRY(find_members(p, s, X, n, member, r));
    *found = (routing){n, row, member, NULL};
    return DONE;
}

/* Rows that ask the same member together, in the order of members: `order` lists places of the
   routing, and those of member m are order[starts[m]] up to order[starts[m + 1]]. */
int sort_by_member(const routing *asked, int64_t members, int64_t **starts, int64_t **order,
                          room *r) {
    int64_t *first = take(r, members + 2, sizeof(int64_t));
    int64_t *places = take(r, asked->count, sizeof(int64_t));
    NEED(first && places);
    memset(first, 0, sizeof(int64_t) * (size_t)(members + 2));
    for (int64_t i = 0; i < asked->count; i++) first[asked->member[i] + 2]++;
    for (int64_t m = 0; m < members; m++) first[m + 2] += first[m + 1];
    for (int64_t i = 0; i < asked->count; i++) places[first[asked->member[i] + 1]++] = i;
    *starts = first;
    *order = places;
    return DONE;
}
