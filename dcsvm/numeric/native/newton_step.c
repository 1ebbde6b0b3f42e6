/* Newton steps on the free rows of the dual, dropping each row that runs into a bound. */
#include "numeric.h"
#include <math.h>

enum { MOST_FREE = 3000 };
/* How much longer a step is looked at for rows that would stop it. */
#define SOON 0.2

/* exact: the entries of the matrix among the rows, where the rounded ones will not do, or NULL */
typedef struct {
    int64_t m, stride;
    int64_t *rows;
    double *L, *gradient, *direction, *ones;
    const double *exact;
    double ridge;
} face;

static int factor_exactly(const problem *p, face *w) {
    double mean = 0.0;
    for (int64_t a = 0; a < w->m; a++) mean += w->exact[a * w->m + a] + p->shift;
    w->ridge = 1e-14 * fabs(mean / (double)w->m);
    for (int attempt = 0; attempt < 4; attempt++, w->ridge *= 30.0) {
        for (int64_t a = 0; a < w->m; a++) {
            double *out = w->L + a * w->stride;
            for (int64_t b = 0; b <= a; b++) out[b] = w->exact[a * w->m + b] + p->shift;
            out[a] += w->ridge;
        }
        if (cholesky(w->L, w->m, w->stride)) return 1;
    }
    return 0;
}

/* Entries carry the rounding of float32; a ridge of that size keeps the factor from following
   noise. */
static int factor_face(const problem *p, face *w) {
    double largest = 0.0, mean = 0.0;
    for (int64_t a = 0; a < w->m; a++) {
        const float *row = p->K + w->rows[a] * p->stride;
        for (int64_t b = 0; b <= a; b++) {
            double size = fabs((double)row[w->rows[b]]);
            if (size > largest) largest = size;
        }
        mean += (double)p->diagonal[w->rows[a]] + p->shift;
    }
    mean /= (double)w->m;
    w->ridge = 6e-8 * largest * 0.03 + 1e-13 * fabs(mean);
    for (int attempt = 0; attempt < 4; attempt++, w->ridge *= 30.0) {
        for (int64_t a = 0; a < w->m; a++) {
            const float *row = p->K + w->rows[a] * p->stride;
            double *out = w->L + a * w->stride;
            for (int64_t b = 0; b <= a; b++) out[b] = (double)row[w->rows[b]] + p->shift;
            out[a] += w->ridge;
        }
        if (cholesky(w->L, w->m, w->stride)) return 1;
    }
    return 0;
}

/* The step to the minimum over the face with the sum kept; gives its slope, negative if downhill,
   and the level that the gradient would have there. */
static double find_direction(face *w, double *level) {
    double total = 0.0, weight = 0.0, slope = 0.0;
    for (int64_t a = 0; a < w->m; a++) {
        w->direction[a] = w->gradient[a];
        w->ones[a] = 1.0;
    }
    cholesky_solve(w->L, w->m, w->stride, w->direction, w->ones);
    for (int64_t a = 0; a < w->m; a++) {
        total += w->direction[a];
        weight += w->ones[a];
    }
    *level = total / weight;
    total = 0.0;
    for (int64_t a = 0; a < w->m; a++) {
        w->direction[a] = *level * w->ones[a] - w->direction[a];
        total += w->direction[a];
    }
    /* where curvature is close to none, rounding alone would move the sum */
    for (int64_t a = 0; a < w->m; a++) {
        w->direction[a] -= total / (double)w->m;
        slope += w->gradient[a] * w->direction[a];
    }
    return slope;
}

/* The share of the step that fits; *hit is the row that stops it, or -1. */
static double longest_step(const problem *p, const face *w, int64_t *hit) {
    double share = 1.0;
    *hit = -1;
    for (int64_t a = 0; a < w->m; a++) {
        int64_t t = w->rows[a];
        double d = w->direction[a], target = p->beta[t] + share * d;
        if (d > 0.0 && target > p->upper[t]) {
            share = (p->upper[t] - p->beta[t]) / d;
            *hit = a;
        } else if (d < 0.0 && target < p->lower[t]) {
            share = (p->lower[t] - p->beta[t]) / d;
            *hit = a;
        }
    }
    return share > 0.0 ? share : 0.0;
}

static void move(problem *p, face *w, double share, double level) {
    for (int64_t a = 0; a < w->m; a++) {
        double d = share * w->direction[a];
        p->beta[w->rows[a]] += d;
        w->gradient[a] += share * (level - w->gradient[a]) - w->ridge * d;
    }
}

static void leave_out(face *w, int64_t a) {
    int64_t rest = w->m - a - 1;
    cholesky_remove(w->L, w->m, w->stride, a);
    memmove(w->rows + a, w->rows + a + 1, sizeof(int64_t) * (size_t)rest);
    memmove(w->gradient + a, w->gradient + a + 1, sizeof(double) * (size_t)rest);
    memmove(w->direction + a, w->direction + a + 1, sizeof(double) * (size_t)rest);
    w->m--;
}

/* Leave out the row that stopped the step, at its bound, and where they are those that would stop
   the next one soon: they are the pairwise steps' to bring there. */
static void drop(problem *p, face *w, int64_t hit, double share) {
    int64_t t = w->rows[hit];
    p->beta[t] = w->direction[hit] > 0.0 ? p->upper[t] : p->lower[t];
    leave_out(w, hit);
    double more = SOON * share + SOON * 0.01;
    for (int64_t a = w->m - 1; a >= 0; a--) {
        double d = w->direction[a], to = p->beta[w->rows[a]] + more * d;
        if (to > p->upper[w->rows[a]] || to < p->lower[w->rows[a]]) leave_out(w, a);
    }
}

static int64_t descend(problem *p, face *w) {
    int64_t solves = 0, hit, most = w->m;
    while (w->m >= 2 && solves <= most) {
        double level, slope = find_direction(w, &level);
        if (!(slope < 0.0)) break;
        double share = longest_step(p, w, &hit);
        move(p, w, share, level);
        solves++;
        if (hit < 0) break;
        drop(p, w, hit, share);
    }
    return solves;
}

/* Gives the number of linear systems solved; 0 where the face is too small, too large or flat.
   steps[a] is how far row a moved; the gradient is left as it was. */
static int64_t walk(problem *p, int64_t *free_rows, int64_t count, const double *exact,
                    double *steps) {
    int64_t stride = (count + 3) / 4 * 4 + 4, solves = 0;
    double *room = allocate_large(sizeof(double) * (size_t)(count * stride + 3 * count));
    int64_t *rows = malloc(sizeof(int64_t) * (size_t)count);
    if (room && rows) {
        double *gradient = room + count * stride;
        face w = {count, stride, rows, room, gradient, gradient + count, gradient + 2 * count,
                  exact, 0.0};
        memcpy(rows, free_rows, sizeof(int64_t) * (size_t)count);
        for (int64_t a = 0; a < count; a++) {
            steps[a] = -p->beta[free_rows[a]];
            w.gradient[a] = p->f[free_rows[a]];
        }
        if (exact ? factor_exactly(p, &w) : factor_face(p, &w)) solves = descend(p, &w);
        for (int64_t a = 0; a < count; a++) {
            steps[a] += p->beta[free_rows[a]];
            update_bound_penalties(p, free_rows[a]);
        }
    }
    free(room);
    free(rows);
    return solves;
}

int64_t newton(problem *p, int64_t *free_rows, int64_t count) {
    if (count < 2 || count > MOST_FREE) return 0;
    double *steps = malloc(sizeof(double) * (size_t)count);
    int64_t solves = steps ? walk(p, free_rows, count, NULL, steps) : 0;
    if (solves) add_rows(p, free_rows, steps, count);
    free(steps);
    return solves;
}

/* The same with an exact matrix (count x count); the caller moves the gradient by the steps. */
int64_t newton_exactly(problem *p, int64_t *free_rows, int64_t count, const double *exact,
                       double *steps) {
    return walk(p, free_rows, count, exact, steps);
}
