/* What the blocked working-set mode needs: kernel rows in bulk, gradient updates, inner problems. */
#include "exponential.h"
#include "numeric.h"

enum { TALL = 6, COLUMNS = 512 };
#define REAL double
#define SUFFIX f64
#include "tile.h"

/* All rows of a problem by panels of 8, with their squared norms, padded to whole panels. */
EXPORT void dcsvm_pack(const double *X, int64_t n, int64_t depth, double *panels, double *squares) {
    pack_f64(X, n, depth, panels);
    for (int64_t i = 0; i < n; i++) squares[i] = dot_f64(X + i * depth, X + i * depth, depth);
}

INLINE void rbf_tile(const double *const rows[TALL], const double *row_squares,
                     const double *panel, const double *squares, int64_t depth, double gamma,
                     float values[TALL][8]) {
    double sums[TALL][8];
    tile_f64(rows, panel, depth, sums);
    for (int r = 0; r < TALL; r++)
        for (int64_t c = 0; c < WIDTH; c++) {
            double d = row_squares[r] + squares[c] - 2.0 * sums[r][c];
            values[r][c] = expm1_not_positive_f32((float)(-gamma * (d > 0.0 ? d : 0.0)));
        }
}

/* exp(-gamma d) - 1 of m rows with the packed points begin..end (whole panels): row r goes to
   out + slots[r] * stride. A block of columns stays in the cache while all rows pass by. */
EXPORT void dcsvm_rbf_rows(const double *rows, const double *row_squares, int64_t m,
                           const double *panels, const double *squares, int64_t depth,
                           double gamma, int64_t begin, int64_t end, const int64_t *slots,
                           int64_t stride, float *out) {
    for (int64_t left = begin; left < end; left += COLUMNS) {
        int64_t right = left + COLUMNS < end ? left + COLUMNS : end;
        for (int64_t start = 0; start < m; start += TALL) {
            const double *pointers[TALL];
            double own[TALL];
            float values[TALL][8];
            row_pointers_f64(rows, start, m, depth, pointers);
            for (int64_t r = 0; r < TALL; r++)
                own[r] = row_squares[start + r < m ? start + r : m - 1];
            for (int64_t c = left; c < right; c += WIDTH) {
                rbf_tile(pointers, own, panels + c * depth, squares + c, depth, gamma, values);
                for (int64_t r = 0; r < TALL && start + r < m; r++)
                    memcpy(out + slots[start + r] * stride + c, values[r], sizeof(values[r]));
            }
        }
    }
}

/* f[begin..end] += sum of steps[a] rows[slots[a]], four rows at a time */
EXPORT void dcsvm_add_rows(const float *rows, int64_t stride, const int64_t *slots,
                           const double *steps, int64_t count, int64_t begin, int64_t end,
                           double *restrict f) {
    for (int64_t left = begin; left < end; left += 4 * COLUMNS) {
        int64_t right = left + 4 * COLUMNS < end ? left + 4 * COLUMNS : end, a = 0;
        for (; a + 4 <= count; a += 4) {
            const float *k0 = rows + slots[a] * stride, *k1 = rows + slots[a + 1] * stride;
            const float *k2 = rows + slots[a + 2] * stride, *k3 = rows + slots[a + 3] * stride;
            double d0 = steps[a], d1 = steps[a + 1], d2 = steps[a + 2], d3 = steps[a + 3];
            for (int64_t t = left; t < right; t++)
                f[t] += (d0 * k0[t] + d1 * k1[t]) + (d2 * k2[t] + d3 * k3[t]);
        }
        for (; a < count; a++) {
            const float *k0 = rows + slots[a] * stride;
            double d0 = steps[a];
            for (int64_t t = left; t < right; t++) f[t] += d0 * k0[t];
        }
    }
}

/* out[a][b] = entry (slots[a], columns[b]) for rows begin..end of an m x m result whose rows are
   padded as a problem's are */
EXPORT void dcsvm_gather(const float *rows, int64_t stride, const int64_t *slots,
                         const int64_t *columns, int64_t m, int64_t begin, int64_t end,
                         float *out) {
    int64_t wide = padded(m);
    for (int64_t a = begin; a < end; a++) {
        const float *from = rows + slots[a] * stride;
        float *to = out + a * wide;
        for (int64_t b = 0; b < m; b++) to[b] = from[columns[b]];
        for (int64_t b = m; b < wide; b++) to[b] = 0.0f;
    }
}

/* One inner problem on a small matrix K (n padded rows), from its own gradient; beta is changed.
   Gives the iterations taken, or -1 where memory ran out. */
EXPORT int64_t dcsvm_inner(float *K, int64_t n, double shift, const double *lower,
                           const double *upper, const double *f, double tolerance,
                           int64_t iterations, double seconds, double *beta) {
    problem p;
    if (!problem_allocate(&p, n, K)) return -1;
    p.shift = shift;
    for (int64_t a = 0; a < n; a++) {
        p.diagonal[a] = K[a * p.stride + a];
        p.lower[a] = lower[a];
        p.upper[a] = upper[a];
        p.beta[a] = beta[a];
        p.f[a] = f[a];
        update_bound_penalties(&p, a);
    }
    effort e = {tolerance, seconds > 0.0 ? seconds_now() + seconds : 0.0, iterations, 0, 0, 0};
    int status = solve(&p, &e);
    memcpy(beta, p.beta, sizeof(double) * (size_t)n);
    problem_release(&p);
    return status < 0 ? -1 : e.iterations;
}
