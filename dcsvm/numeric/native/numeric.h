/* What the C files of the numeric core share: the dual problem, its bound penalties, and compiler
   help. */
#ifndef DCSVM_NUMERIC_H
#define DCSVM_NUMERIC_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

#define INLINE static inline __attribute__((always_inline))

/* Rows are padded to whole blocks, so that inner loops have a constant length. */
enum { BLOCK = 64 };
#define BOUND_PENALTY 1e30
#define SMALLEST_CURVATURE 1e-12f

INLINE int64_t padded(int64_t n) { return (n + BLOCK - 1) / BLOCK * BLOCK; }

/* Room for matrices that is kept from one problem to the next: fresh pages cost as much as what is
   done with them. */
typedef struct {
    float *values;
    size_t count;
} buffer;

/* minimise 1/2 b'Kb - y'b over lower <= b <= upper with sum(b) unchanged; f = Kb - y.
   K is symmetric float32 with padded rows; K + shift is positive semidefinite (a constant may be
   subtracted from a Gram matrix since the coefficients sum to zero).
   up_penalty[t] is 0 where b[t] can grow and BOUND_PENALTY where not; low_penalty likewise
   downwards. Both are BOUND_PENALTY in the padding, so padding is never chosen. */
typedef struct {
    int64_t n, stride;
    int lent;      /* K belongs to the caller */
    buffer *spare; /* for the matrix of a smaller problem, or NULL */
    float *K, *diagonal, *gains;
    double shift;
    double *beta, *f, *lower, *upper, *up_penalty, *low_penalty;
    double *room; /* the one allocation that holds the arrays above, but K */
} problem;

typedef struct {
    double tolerance, deadline; /* deadline: seconds of the monotonic clock, or 0 */
    int64_t iterations_left, iterations;
    int64_t newton_after; /* iterations between Newton phases at least; 0: never */
    int64_t newton_solves;
} effort;

/* A Gram matrix of n rows: G is float32, row length width, less the constant shift. The exact
   values come from a matrix (of distances where gamma > 0: exp(-gamma d) - shift; else of kernel values:
   k / scale - shift), or from the rows X of depth columns (exp(-gamma |x - y|^2) - shift). Both
   may be NULL. */
typedef struct {
    const float *G;
    int64_t n, width;
    double shift;
    const double *matrix, *X;
    int64_t depth;
    double gamma, scale;
} gram;

/* exact_for: the coefficients for which the gradient holds the exact matrix instead of the rounded
   one; residuals: exact less rounded, a row where it was needed and NULL elsewhere, in blocks of
   several rows; old_beta and old_f: coefficients and exact gradient of the round before; ridge:
   what was added to the rounded diagonal. */
typedef struct {
    int64_t n;
    const int64_t *rows;
    double *exact_for, *values, *old_beta, *old_f, *points;
    float **residuals, **blocks;
    int64_t residual_rows;
    double ridge;
} refinement;

int refinement_allocate(refinement *r, const int64_t *rows, int64_t n);
void refinement_release(refinement *r);
void refinement_begin(refinement *r);
void refinement_rescale(refinement *r, double factor);
int refine(problem *p, const gram *g, refinement *r, double tolerance);
int refinement_shift_diagonal(refinement *r, problem *p);
void refinement_search(refinement *r, problem *p);
int64_t refinement_newton(refinement *r, problem *p, const gram *g);

void *allocate_large(size_t bytes);
float *reserve_buffer(buffer *b, size_t count);
int problem_allocate(problem *p, int64_t n, float *lent);
int problem_own(problem *p);
void problem_release(problem *p);
void update_bound_penalties(problem *p, int64_t t);
void problem_gradient(problem *p, const double *y);
double problem_gap(const problem *p, double *lowest, double *highest);
double rescale(problem *p, const double *y, double most);
void set_bounds(problem *p, const double *y, const double *weights, double C);
void add_rows(problem *p, const int64_t *rows, const double *steps, int64_t count);

double seconds_now(void);
double smo(problem *p, effort *e);
int64_t newton(problem *p, int64_t *free_rows, int64_t count);
int64_t newton_exactly(problem *p, int64_t *free_rows, int64_t count, const double *exact,
                       double *steps);
int64_t free_rows_of(const problem *p, int64_t *rows);
int solve(problem *p, effort *e);
int run_continuation(problem *p, const double *y, const double *weights, double C, effort *e);

EXPORT int dcsvm_distances(const double *X, int64_t n, const double *Y, int64_t m, int64_t depth,
                           double gamma, int64_t symmetric, double *distances, float *values,
                           int64_t width);

int cholesky(double *A, int64_t m, int64_t stride);
void cholesky_solve(const double *L, int64_t m, int64_t stride, double *restrict x,
                    double *restrict y);
void cholesky_remove(double *L, int64_t m, int64_t stride, int64_t k);

#endif
