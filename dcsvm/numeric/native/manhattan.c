/* Sums of absolute differences. */

#include "numeric.h"

/* Points that are met together, in two vectors, and rows that meet them. */
enum { WIDE = 8, HALF = 4, TALL = 4 };
typedef double vector __attribute__((vector_size(32), aligned(8), may_alias));
typedef int64_t bits __attribute__((vector_size(32), aligned(8), may_alias));

INLINE vector size(vector v) {
    const bits all_but_sign = (bits){0} + INT64_MAX;
    return (vector)((bits)v & all_but_sign);
}

INLINE void tile(const double *const rows[TALL], const double *panel, int64_t depth,
                 double sums[TALL][WIDE]) {
    vector left[TALL], right[TALL];
    for (int r = 0; r < TALL; r++)
        left[r] = right[r] = (vector){0};
    for (int64_t k = 0; k < depth; k++, panel += WIDE) {
        vector first = *(const vector *)panel, second = *(const vector *)(panel + HALF);
        for (int r = 0; r < TALL; r++) {
            left[r] += size(rows[r][k] - first);
            right[r] += size(rows[r][k] - second);
        }
    }
    for (int r = 0; r < TALL; r++) {
        *(vector *)sums[r] = left[r];
        *(vector *)(sums[r] + HALF) = right[r];
    }
}

/* The distances (n, m) of rows X (n, depth) and Y (m, depth). Returns 0 where there is no room. */
EXPORT int64_t dcsvm_manhattan(const double *X, int64_t n, const double *Y, int64_t m,
                               int64_t depth, double *distances) {
    double *panel = malloc((size_t)(WIDE * depth + 1) * sizeof *panel);
    if (!panel)
        return 0;
    for (int64_t first = 0; first < m; first += WIDE) {
        int64_t valid = m - first < WIDE ? m - first : WIDE;
        for (int64_t k = 0; k < depth; k++)
            for (int64_t c = 0; c < WIDE; c++)
                panel[k * WIDE + c] = Y[(first + (c < valid ? c : 0)) * depth + k];
        for (int64_t i = 0; i < n; i += TALL) {
            int64_t many = n - i < TALL ? n - i : TALL;
            const double *rows[TALL];
            double sums[TALL][WIDE];
            for (int64_t r = 0; r < TALL; r++)
                rows[r] = X + (i + (r < many ? r : 0)) * depth;
            tile(rows, panel, depth, sums);
            for (int64_t r = 0; r < many; r++)
                memcpy(distances + (i + r) * m + first, sums[r], (size_t)valid * sizeof(double));
        }
    }
    free(panel);
    return 1;
}
