/* Rows of numbers in single precision, dense or CSR, and their products with a vector. */
#ifndef DCSVM_ROWS_H
#define DCSVM_ROWS_H

#include "numeric.h"

/* Dense rows and vectors are padded with zeros to whole chunks. */
enum { LANES = 16 };

/* Dense: row i begins at dense + i * stride. CSR: dense is NULL, entries starts[i] .. starts[i + 1]
   of values stand in columns that ascend. */
typedef struct {
    int64_t features, stride;
    const float *dense, *values;
    const int32_t *columns;
    const int64_t *starts;
} rows;

enum { AHEAD = 6, LINE = 64 / sizeof(float) };

/* Rows are visited in a random order, which no processor foresees: call for a dense row early. */
INLINE void call_for(const rows *X, int64_t i) {
    if (!X->dense) return;
    const float *x = X->dense + i * X->stride;
    for (int64_t j = 0; j < X->stride && j < 16 * LINE; j += LINE) __builtin_prefetch(x + j);
}

/* The product of row i with w (stride,), in single precision: for learning. */
INLINE float quick_product(const rows *X, int64_t i, const float *restrict w) {
    float sums[LANES] = {0};
    if (X->dense) {
        const float *restrict x = X->dense + i * X->stride;
        for (int64_t j = 0; j < X->stride; j += LANES)
            for (int l = 0; l < LANES; l++) sums[l] += x[j + l] * w[j + l];
    } else {
        for (int64_t e = X->starts[i]; e < X->starts[i + 1]; e++)
            sums[0] += X->values[e] * w[X->columns[e]];
    }
    for (int half = LANES / 2; half; half /= 2)
        for (int l = 0; l < half; l++) sums[l] += sums[l + half];
    return sums[0];
}

INLINE double sum_of_lanes(double *sums) {
    for (int half = LANES / 2; half; half /= 2)
        for (int l = 0; l < half; l++) sums[l] += sums[l + half];
    return sums[0];
}

/* The same product in double precision. A product of two floats is exact there, and the sums have
   one order for dense rows and CSR: so every compiler and every processor finds the same bits. */
INLINE double exact_dense_product(const float *restrict x, const float *restrict w,
                                  int64_t stride) {
    double sums[LANES] = {0};
    for (int64_t j = 0; j < stride; j += LANES)
        for (int l = 0; l < LANES; l++) sums[l] += (double)x[j + l] * (double)w[j + l];
    return sum_of_lanes(sums);
}

INLINE double exact_product(const rows *X, int64_t i, const float *restrict w) {
    if (X->dense) return exact_dense_product(X->dense + i * X->stride, w, X->stride);
    double sums[LANES] = {0};
    for (int64_t e = X->starts[i]; e < X->starts[i + 1]; e++) {
        int32_t j = X->columns[e];
        sums[j % LANES] += (double)X->values[e] * (double)w[j];
    }
    return sum_of_lanes(sums);
}

/* The squared length of row i. */
INLINE double row_square(const rows *X, int64_t i) {
    double sum = 0.0;
    const float *x = X->dense ? X->dense + i * X->stride : X->values + X->starts[i];
    int64_t n = X->dense ? X->stride : X->starts[i + 1] - X->starts[i];
    for (int64_t j = 0; j < n; j++) sum += (double)x[j] * x[j];
    return sum;
}

/* to += factor * row i. */
INLINE void add_row(const rows *X, int64_t i, float factor, float *restrict to) {
    if (X->dense) {
        const float *restrict x = X->dense + i * X->stride;
        for (int64_t j = 0; j < X->stride; j++) to[j] += factor * x[j];
    } else {
        for (int64_t e = X->starts[i]; e < X->starts[i + 1]; e++)
            to[X->columns[e]] += factor * X->values[e];
    }
}

#endif
