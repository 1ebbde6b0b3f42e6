/* The outer loop: SMO on the whole problem first, then on what shrinking leaves of it. */
#include "numeric.h"

enum { FIRST_NEWTON = 500, SHRUNK_NEWTON = 200, FEW_ROWS = 300 };

/* Rows that can still form a violating pair. */
static int64_t active_rows(const problem *p, double lowest, double highest, int64_t *rows) {
    int64_t count = 0;
    for (int64_t t = 0; t < p->n; t++) {
        int up = p->up_penalty[t] == 0.0, down = p->low_penalty[t] == 0.0;
        if ((up && down) || (up && p->f[t] < highest) || (down && p->f[t] > lowest))
            rows[count++] = t;
    }
    return count;
}

static int extract(const problem *p, const int64_t *rows, int64_t count, problem *small) {
    size_t size = (size_t)(padded(count) * padded(count));
    float *lent = p->spare ? reserve_buffer(p->spare, size) : NULL;
    if (!problem_allocate(small, count, lent)) return 0;
    small->shift = p->shift;
    for (int64_t a = 0; a < count; a++) {
        int64_t t = rows[a];
        const float *from = p->K + t * p->stride;
        float *to = small->K + a * small->stride;
        for (int64_t b = 0; b < count; b++) to[b] = from[rows[b]];
        for (int64_t b = count; b < small->stride; b++) to[b] = 0.0f;
        small->beta[a] = p->beta[t];
        small->f[a] = p->f[t];
        small->lower[a] = p->lower[t];
        small->upper[a] = p->upper[t];
        small->up_penalty[a] = p->up_penalty[t];
        small->low_penalty[a] = p->low_penalty[t];
        small->diagonal[a] = p->diagonal[t];
    }
    return 1;
}

static void bring_back(problem *p, int64_t *rows, int64_t count, const problem *small,
                       double *steps) {
    int64_t moved = 0;
    for (int64_t a = 0; a < count; a++) {
        int64_t t = rows[a];
        double step = small->beta[a] - p->beta[t];
        if (step == 0.0) continue;
        p->beta[t] = small->beta[a];
        update_bound_penalties(p, t);
        steps[moved] = step;
        rows[moved++] = t;
    }
    add_rows(p, rows, steps, moved);
}

/* Iterations before the first Newton phase on all rows, 0 for none: of a few rows it is cheap. */
static int64_t patience(const problem *p, int first) {
    return p->n < FEW_ROWS ? SHRUNK_NEWTON : first ? 0 : FIRST_NEWTON;
}

static int solve_shrunk(problem *p, effort *e, int64_t *rows, int64_t count, double gap,
                        double *steps) {
    problem small;
    if (!extract(p, rows, count, &small)) return 0;
    effort inner = *e;
    double rough = 0.05 * gap, fine = 0.9 * e->tolerance;
    inner.tolerance = rough > fine ? rough : fine;
    inner.newton_after = SHRUNK_NEWTON;
    smo(&small, &inner);
    e->iterations = inner.iterations;
    e->iterations_left = inner.iterations_left;
    e->newton_solves = inner.newton_solves;
    bring_back(p, rows, count, &small, steps);
    problem_release(&small);
    return 1;
}

/* After the first chunk, a chunk is long enough for a Newton phase, however few the rows. */
static void smo_in_full(problem *p, effort *e, int first) {
    effort inner = *e;
    int64_t chunk = 2 * p->n + 100, newton_after = patience(p, first);
    if (!first && chunk < 2 * newton_after) chunk = 2 * newton_after;
    inner.newton_after = newton_after;
    if (chunk < inner.iterations_left) inner.iterations_left = chunk;
    smo(p, &inner);
    e->iterations_left -= inner.iterations - e->iterations;
    e->iterations = inner.iterations;
    e->newton_solves = inner.newton_solves;
}

/* 1: the gap is below the tolerance; 0: the effort was spent first; -1: no memory. */
int solve(problem *p, effort *e) {
    double lowest, highest, gap;
    int64_t *rows = malloc(sizeof(int64_t) * (size_t)p->n);
    double *steps = malloc(sizeof(double) * (size_t)p->n);
    int result = rows && steps ? 0 : -1, first = 1;
    while (result == 0) {
        gap = problem_gap(p, &lowest, &highest);
        if (gap < e->tolerance) result = 1;
        else if (e->iterations_left <= 0) break;
        else if (e->deadline > 0.0 && seconds_now() > e->deadline) break;
        else {
            int64_t count = active_rows(p, lowest, highest, rows);
            if (first || 4 * count > 3 * p->n) smo_in_full(p, e, first);
            else if (!solve_shrunk(p, e, rows, count, gap, steps)) result = -1;
            first = 0;
        }
    }
    free(rows);
    free(steps);
    return result;
}
