/* Iterative refinement: the solver's matrix is float32, its gradient need not be. */
#include "exponential.h"
#include "numeric.h"
#include <math.h>

/* A float32 entry of size one is off by 3e-8 at most, by 1.7e-8 on the average square. */
#define ROUNDING 1.7e-8
/* The share of the tolerance that rounding may take. */
#define NOTICEABLE 0.1
#define MOST_OF_THE_WAY 0.8
/* Rows whose exact entries are kept at once: 18 MB of them. */
enum { MOST_FREE = 1500 };
/* Bytes of residuals that are taken at once. */
enum { RESIDUAL_BYTES = 1 << 23 };

int refinement_allocate(refinement *r, const int64_t *rows, int64_t n) {
    r->n = n;
    r->rows = rows;
    r->points = NULL;
    r->ridge = 0.0;
    r->exact_for = calloc((size_t)(4 * n), sizeof(double));
    r->residuals = calloc((size_t)(2 * n), sizeof(float *));
    r->blocks = r->residuals + n;
    r->residual_rows = 0;
    if (r->exact_for && r->residuals) {
        r->values = r->exact_for + n;
        r->old_beta = r->exact_for + 2 * n;
        r->old_f = r->exact_for + 3 * n;
        return 1;
    }
    free(r->exact_for);
    free(r->residuals);
    return 0;
}

static void forget_residuals(refinement *r) {
    for (int64_t a = 0; a < r->n && r->blocks[a]; a++) free(r->blocks[a]);
    memset(r->residuals, 0, sizeof(float *) * (size_t)(2 * r->n));
    r->residual_rows = 0;
}

/* For another problem on the same rows: what is exact about them stays. */
void refinement_begin(refinement *r) {
    memset(r->exact_for, 0, sizeof(double) * (size_t)r->n);
    if (r->ridge != 0.0) forget_residuals(r);
    r->ridge = 0.0;
}

void refinement_release(refinement *r) {
    forget_residuals(r);
    free(r->residuals);
    free(r->exact_for);
    free(r->points);
}

void refinement_rescale(refinement *r, double factor) {
    for (int64_t t = 0; t < r->n; t++) r->exact_for[t] *= factor;
}

/* The task's rows of X by columns, so that distances to one row are sums over long vectors. */
static int gather_points(const gram *g, refinement *r) {
    if (r->points || !g->X) return 1;
    r->points = malloc(sizeof(double) * (size_t)(r->n * g->depth));
    if (!r->points) return 0;
    for (int64_t a = 0; a < r->n; a++)
        for (int64_t k = 0; k < g->depth; k++)
            r->points[k * r->n + a] = g->X[r->rows[a] * g->depth + k];
    return 1;
}

static void distances_to(const gram *g, const refinement *r, int64_t a) {
    double *restrict values = r->values;
    memset(values, 0, sizeof(double) * (size_t)r->n);
    for (int64_t k = 0; k < g->depth; k++) {
        const double *restrict column = r->points + k * r->n;
        double own = column[a];
        for (int64_t b = 0; b < r->n; b++) {
            double difference = column[b] - own;
            values[b] += difference * difference;
        }
    }
}

/* values[b] = the exact entry of row a and row b of the task */
static void exact_row(const gram *g, const refinement *r, int64_t a) {
    double *restrict values = r->values, scale = g->gamma > 0.0 ? 1.0 : 1.0 / g->scale;
    if (g->matrix) {
        const double *row = g->matrix + r->rows[a] * g->n;
        for (int64_t b = 0; b < r->n; b++) values[b] = row[r->rows[b]] * scale;
    } else {
        distances_to(g, r, a);
    }
    if (g->gamma > 0.0)
        for (int64_t b = 0; b < r->n; b++)
            values[b] = exp_not_positive_f64(-g->gamma * values[b]);
}

/* Room for one more row of residuals, out of the last block or a new one. */
static float *room_for_row(refinement *r) {
    int64_t rows = RESIDUAL_BYTES / (int64_t)sizeof(float) / r->n + 1;
    rows = rows < r->n ? rows : r->n;
    int64_t block = r->residual_rows / rows, place = r->residual_rows % rows;
    if (place == 0) r->blocks[block] = allocate_large(sizeof(float) * (size_t)(rows * r->n));
    if (!r->blocks[block]) return NULL;
    r->residual_rows++;
    return r->blocks[block] + place * r->n;
}

/* Exact less rounded for row a, computed once; NULL where memory ran out. */
static const float *residual_row(const problem *p, const gram *g, refinement *r, int64_t a) {
    if (r->residuals[a]) return r->residuals[a];
    float *row = room_for_row(r);
    if (!row) return NULL;
    const float *rounded = p->K + a * p->stride;
    exact_row(g, r, a);
    for (int64_t b = 0; b < r->n; b++)
        row[b] = (float)(r->values[b] - g->shift - (double)rounded[b]);
    r->residuals[a] = row;
    return row;
}

/* Correct the gradient for what changed since the last time; 0 where that would not show. */
int refine(problem *p, const gram *g, refinement *r, double tolerance) {
    double squares = 0.0, largest = 0.0;
    if (!g->X && !g->matrix) return 0;
    for (int64_t t = 0; t < r->n; t++) {
        double change = fabs(p->beta[t] - r->exact_for[t]);
        squares += change * change;
        largest = change > largest ? change : largest;
    }
    double noise = ROUNDING * sqrt(squares) + r->ridge * largest;
    if (noise < NOTICEABLE * tolerance || !gather_points(g, r)) return 0;
    for (int64_t a = 0; a < r->n; a++) {
        double change = p->beta[a] - r->exact_for[a];
        if (change == 0.0) continue;
        const float *residual = residual_row(p, g, r, a);
        if (!residual) return 0;
        for (int64_t b = 0; b < r->n; b++) p->f[b] += change * residual[b];
        r->exact_for[a] = p->beta[a];
    }
    return 1;
}

/* Where directions of almost no curvature follow the rounding, put a ridge of the size that
   rounding has in any direction on the diagonal: each round is then a proximal step. Gives 0 where
   memory ran out. */
int refinement_shift_diagonal(refinement *r, problem *p) {
    float ridge = (float)(ROUNDING * sqrt((double)r->n));
    if (!problem_own(p)) return 0;
    for (int64_t a = 0; a < r->n && r->ridge == 0.0; a++) {
        float *entry = p->K + a * p->stride + a, before = *entry;
        *entry = p->diagonal[a] = before + ridge;
        if (r->residuals[a]) r->residuals[a][a] -= *entry - before;
    }
    r->ridge = ridge;
    memcpy(r->old_beta, p->beta, sizeof(double) * (size_t)r->n);
    memcpy(r->old_f, p->f, sizeof(double) * (size_t)r->n);
    return 1;
}

/* Go on from the last round's point through this one's, to where the bounds end it or to most of
   the way to the least exact value: all of the way, every time, would run in zigzag. */
void refinement_search(refinement *r, problem *p) {
    double slope = 0.0, curvature = 0.0, most = BOUND_PENALTY;
    for (int64_t t = 0; t < r->n; t++) {
        double d = p->beta[t] - r->old_beta[t];
        slope += r->old_f[t] * d;
        curvature += d * (p->f[t] - r->old_f[t]);
        double room = d > 0.0 ? p->upper[t] - r->old_beta[t] : p->lower[t] - r->old_beta[t];
        if (d != 0.0 && (room < most * d) == (d > 0.0)) most = room / d;
    }
    double least = curvature > 0.0 ? -slope / curvature : BOUND_PENALTY;
    double share = least < 1.0 ? least : 1.0;
    if (least > 1.0) share = MOST_OF_THE_WAY * least > 1.0 ? MOST_OF_THE_WAY * least : 1.0;
    if (least >= most) share = most;
    if (slope >= 0.0) share = 1.0;
    for (int64_t t = 0; t < r->n; t++) {
        double to = r->old_beta[t] + share * (p->beta[t] - r->old_beta[t]);
        to = to > p->upper[t] ? p->upper[t] : to < p->lower[t] ? p->lower[t] : to;
        p->f[t] = r->old_f[t] + share * (p->f[t] - r->old_f[t]);
        p->beta[t] = r->exact_for[t] = r->old_beta[t] = to;
        r->old_f[t] = p->f[t];
        update_bound_penalties(p, t);
    }
}

/* Newton steps on the free rows with exact entries, once the gradient is exact: where curvature is
   below the rounding, the rounded matrix would lead nowhere. Gives the linear systems solved. */
int64_t refinement_newton(refinement *r, problem *p, const gram *g) {
    int64_t *rows = malloc(sizeof(int64_t) * (size_t)r->n), solves = 0;
    int64_t count = rows ? free_rows_of(p, rows) : 0;
    int fits = 2 <= count && count <= MOST_FREE;
    double *room = fits ? allocate_large(sizeof(double) * (size_t)(count * (count + 1))) : NULL;
    if (room) {
        double *steps = room + count * count;
        for (int64_t a = 0; a < count; a++) {
            exact_row(g, r, rows[a]);
            for (int64_t b = 0; b < count; b++) room[a * count + b] = r->values[rows[b]] - g->shift;
        }
        solves = newton_exactly(p, rows, count, room, steps);
        for (int64_t a = 0; a < count; a++) {
            if (steps[a] == 0.0) continue;
            exact_row(g, r, rows[a]);
            for (int64_t b = 0; b < r->n; b++) p->f[b] += steps[a] * (r->values[b] - g->shift);
            r->exact_for[rows[a]] = p->beta[rows[a]];
        }
    }
    free(room);
    free(rows);
    return solves;
}
