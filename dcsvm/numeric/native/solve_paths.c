/* Entry point: binary problems on rows of one Gram matrix, each over a path of C. */
#include "numeric.h"

enum { NEWTON_ROUND = 1, PLAIN_ROUNDS = 2, MOST_ROUNDS = 1000 };

/* One exported call's results, by problem. */
typedef struct {
    double bias, objective, gap;
    int64_t iterations, newton_solves, converged;
} outcome;

/* The share of the tolerance to stop at, so that no answer is worse than that of a solver which
   stops just below it: the fewer the rows, the more of the objective one pair can hold. */
static double tolerance_share(int64_t n) {
    return n < 20 ? 0.01 * (double)n : n < 200 ? 0.2 : n < 500 ? 1e-3 * (double)n : 0.5;
}

static double objective(const problem *p, const double *y) {
    double sum = 0.0;
    for (int64_t t = 0; t < p->n; t++) sum += 0.5 * p->beta[t] * (p->f[t] - y[t]);
    return sum;
}

static void conclude(const problem *p, const double *y, const effort *e, double tolerance,
                     outcome *out) {
    double lowest, highest, sum = 0.0;
    int64_t count = 0;
    out->gap = problem_gap(p, &lowest, &highest);
    for (int64_t t = 0; t < p->n; t++) {
        if (p->up_penalty[t] == 0.0 && p->low_penalty[t] == 0.0) {
            sum += p->f[t];
            count++;
        }
    }
    /* as libsvm: the mean over free rows, or the middle of what the bounded ones allow */
    if (count) out->bias = -sum / (double)count;
    else if (lowest >= BOUND_PENALTY / 2) out->bias = -highest;
    else if (highest <= -BOUND_PENALTY / 2) out->bias = -lowest;
    else out->bias = -0.5 * (lowest + highest);
    out->objective = objective(p, y);
    out->iterations = e->iterations;
    out->newton_solves = e->newton_solves;
    out->converged = out->gap < tolerance;
}

/* Go on from another start where it is better than what the C before led to. */
static void consider(problem *p, const double *y, const double *start, refinement *r) {
    size_t size = sizeof(double) * (size_t)p->n;
    double before = objective(p, y);
    memcpy(r->old_beta, p->beta, size);
    memcpy(r->old_f, p->f, size);
    for (int64_t t = 0; t < p->n; t++) {
        double to = start[t] > p->upper[t] ? p->upper[t] : start[t];
        p->beta[t] = to < p->lower[t] ? p->lower[t] : to;
    }
    problem_gradient(p, y);
    if (objective(p, y) < before) {
        memset(r->exact_for, 0, size);
    } else {
        memcpy(p->beta, r->old_beta, size);
        memcpy(p->f, r->old_f, size);
    }
    for (int64_t t = 0; t < p->n; t++) update_bound_penalties(p, t);
}

/* How many rows from place a on follow each other in the matrix. */
static int64_t run_length(const int64_t *rows, int64_t a, int64_t n) {
    int64_t length = 1;
    while (a + length < n && rows[a + length] == rows[a] + length) length++;
    return length;
}

/* Whole runs at once where rows are in order, entry by entry where they are not. */
static void copy_rows(problem *p, const gram *g, const int64_t *rows) {
    int64_t runs = 0;
    for (int64_t from = 0; from < p->n; from += run_length(rows, from, p->n)) runs++;
    if (8 * runs > p->n) {
        for (int64_t a = 0; a < p->n; a++) {
            const float *from = g->G + rows[a] * g->width;
            float *to = p->K + a * p->stride;
            for (int64_t b = 0; b < p->n; b++) to[b] = from[rows[b]];
        }
        return;
    }
    for (int64_t from = 0, length; from < p->n; from += length) {
        length = run_length(rows, from, p->n);
        for (int64_t a = 0; a < p->n; a++)
            memcpy(p->K + a * p->stride + from, g->G + rows[a] * g->width + rows[from],
                   sizeof(float) * (size_t)length);
    }
}

/* What tasks of one call hand on: the copy of the matrix, that of a shrunk problem, and of tasks on
   all rows what was worked out exactly. */
typedef struct {
    buffer copy, spare;
    refinement of_all;
    int has_all;
} workplace;

static void workplace_release(workplace *w) {
    free(w->copy.values);
    free(w->spare.values);
    if (w->has_all) refinement_release(&w->of_all);
}

/* Whether a task's rows are those of the matrix, laid out as problems want them. */
static int is_all(const gram *g, const int64_t *rows, int64_t n) {
    return n == g->n && g->width == padded(n) && run_length(rows, 0, n) == n;
}

static int load(problem *p, const gram *g, const int64_t *rows, int64_t n, const double *start,
                workplace *w) {
    int all = is_all(g, rows, n);
    float *K = all ? (float *)g->G : reserve_buffer(&w->copy, (size_t)(padded(n) * padded(n)));
    if (!K || !problem_allocate(p, n, K)) return 0;
    p->shift = g->shift;
    p->spare = &w->spare;
    if (!all) copy_rows(p, g, rows);
    for (int64_t a = 0; a < n; a++) {
        float *row = p->K + a * p->stride;
        for (int64_t b = n; !all && b < p->stride; b++) row[b] = 0.0f;
        p->diagonal[a] = row[a];
        if (start) p->beta[a] = start[a];
    }
    return 1;
}

/* What is exact about the rows: of all rows kept for the next task, of some made in `own`. */
static refinement *exactness(workplace *w, const gram *g, const int64_t *rows, int64_t n,
                             refinement *own) {
    if (!is_all(g, rows, n)) return refinement_allocate(own, rows, n) ? own : NULL;
    if (!w->has_all) w->has_all = refinement_allocate(&w->of_all, rows, n);
    if (!w->has_all) return NULL;
    refinement_begin(&w->of_all);
    return &w->of_all;
}

/* Solve; where the rounding of the matrix may show in the gap, put the gradient right and go on.
   If a few rounds of that run in a circle, they become proximal steps with an exact search, each
   followed by exact Newton steps on the rows that are free. */
static int solve_exactly(problem *p, effort *e, const gram *g, refinement *r) {
    double lowest, highest;
    int status = solve(p, e);
    for (int round = 0; status == 1 && refine(p, g, r, e->tolerance); round++) {
        if (round > PLAIN_ROUNDS) refinement_search(r, p);
        if (problem_gap(p, &lowest, &highest) < e->tolerance) break;
        if (round >= NEWTON_ROUND) {
            e->newton_solves += refinement_newton(r, p, g);
            if (problem_gap(p, &lowest, &highest) < e->tolerance) break;
        }
        if (round == PLAIN_ROUNDS && !refinement_shift_diagonal(r, p)) return -1;
        status = round < MOST_ROUNDS ? solve(p, e) : 0;
    }
    return status;
}

static int solve_task(const gram *g, const int64_t *rows, int64_t n, const double *y,
                      const double *weights, const double *Cs, int64_t count,
                      const double *starts, const int8_t *given, effort template,
                      double seconds, double *betas, int64_t stride, outcome *outcomes,
                      int64_t outcomes_stride, workplace *w) {
    problem p;
    refinement own, *r;
    int status = 0;
    if (!load(&p, g, rows, n, given && given[0] ? starts : NULL, w)) return -1;
    r = exactness(w, g, rows, n, &own);
    if (!r) {
        problem_release(&p);
        return -1;
    }
    set_bounds(&p, y, weights, Cs[0]);
    problem_gradient(&p, y);
    for (int64_t c = 0; c < count && status >= 0; c++) {
        effort e = template;
        e.tolerance *= tolerance_share(n);
        if (seconds > 0.0) e.deadline = seconds_now() + seconds;
        if (c) refinement_rescale(r, rescale(&p, y, Cs[c] / Cs[c - 1]));
        else if (!given || !given[0]) status = run_continuation(&p, y, weights, Cs[0], &e);
        if (status < 0) break;
        set_bounds(&p, y, weights, Cs[c]);
        if (c && given && given[c]) consider(&p, y, starts + c * stride, r);
        status = solve_exactly(&p, &e, g, r);
        conclude(&p, y, &e, template.tolerance, outcomes + c * outcomes_stride);
        memcpy(betas + c * stride, p.beta, sizeof(double) * (size_t)n);
    }
    if (r == &own) refinement_release(r);
    problem_release(&p);
    return status;
}

/* Every task is a set of rows of one Gram matrix with signs y; the rows of task t stand at
   offsets[t]..offsets[t + 1]. Each is solved for count increasing values of C, one after the
   other. Of starts, as betas are, those count whose C is marked in given, unless it is NULL. betas are by C, then by place in rows; outcomes by C, then by task.
   Gives 0 where memory ran out. */
EXPORT int dcsvm_paths(const gram *g, const int64_t *rows, const int64_t *offsets, int64_t tasks,
                       const double *y, const double *weights, const double *Cs, int64_t count,
                       const double *starts, const int8_t *given, double tolerance,
                       int64_t iterations, double seconds, double *betas, outcome *outcomes) {
    effort template = {tolerance, 0.0, iterations, 0, 0, 0};
    workplace w = {0};
    int status = 1;
    for (int64_t t = 0; t < tasks && status >= 0; t++) {
        int64_t at = offsets[t], n = offsets[t + 1] - at;
        status = solve_task(g, rows + at, n, y + at, weights + at, Cs, count,
                            given ? starts + at : NULL, given, template, seconds, betas + at,
                            offsets[tasks], outcomes + t, tasks, &w);
    }
    workplace_release(&w);
    return status >= 0;
}

static void centre(const double *X, int64_t n, int64_t depth, double *moved) {
    double *origin = moved + n * depth;
    memset(origin, 0, sizeof(double) * (size_t)depth);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < depth; j++) origin[j] += X[i * depth + j];
    for (int64_t j = 0; j < depth; j++) origin[j] /= (double)n;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < depth; j++) moved[i * depth + j] = X[i * depth + j] - origin[j];
}

/* Every task has rows of its own, X[offsets[t]]..X[offsets[t + 1]], and a Gaussian kernel of its
   own gamma; bounds are those of the coefficients. Each is solved from zero.
   Gives 0 where memory ran out. */
EXPORT int dcsvm_parts(const double *X, int64_t depth, const double *gammas,
                       const int64_t *offsets, int64_t tasks, const double *y,
                       const double *bounds, double tolerance, int64_t iterations,
                       double seconds, double *betas, outcome *outcomes) {
    const double one = 1.0;
    int64_t most = 0;
    for (int64_t t = 0; t < tasks; t++)
        if (offsets[t + 1] - offsets[t] > most) most = offsets[t + 1] - offsets[t];
    double *moved = malloc(sizeof(double) * (size_t)((most + 1) * depth + 1));
    float *values = malloc(sizeof(float) * (size_t)(most * padded(most) + 1));
    int64_t *rows = malloc(sizeof(int64_t) * (size_t)(most + 1));
    int done = moved && values && rows;
    for (int64_t i = 0; done && i < most; i++) rows[i] = i;
    for (int64_t t = 0; done && t < tasks; t++) {
        int64_t at = offsets[t], n = offsets[t + 1] - at;
        effort template = {tolerance, 0.0, iterations, 0, 0, 0};
        gram g = {values, n, padded(n), 1.0, NULL, X + at * depth, depth, gammas[t], 1.0};
        workplace w = {0};
        centre(X + at * depth, n, depth, moved);
        done = dcsvm_distances(moved, n, moved, n, depth, gammas[t], 1, NULL, values, g.width) &&
               solve_task(&g, rows, n, y + at, bounds + at, &one, 1, NULL, NULL, template,
                          seconds, betas + at, n, outcomes + t, 1, &w) >= 0;
        workplace_release(&w);
    }
    free(moved);
    free(values);
    free(rows);
    return done;
}
