/* Dense Cholesky factors: factor, solve, and drop one row and column; lower, row-major. */
#include "numeric.h"
#include <math.h>

typedef double lanes __attribute__((vector_size(32), aligned(8), may_alias));
#define LANES(p) (*(const lanes *)(p))

INLINE double total(lanes v) { return (v[0] + v[1]) + (v[2] + v[3]); }

/* sums[a][b] = row[a] . other[b] over the first k columns: eight running sums stay in registers */
INLINE void four_by_two(double *const *row, double *const *other, int64_t k, double sums[4][2]) {
    lanes left[4] = {{0}}, right[4] = {{0}};
    int64_t t = 0;
    for (; t + 4 <= k; t += 4) {
        lanes x = LANES(other[0] + t), y = LANES(other[1] + t);
        for (int a = 0; a < 4; a++) {
            left[a] += LANES(row[a] + t) * x;
            right[a] += LANES(row[a] + t) * y;
        }
    }
    for (int a = 0; a < 4; a++) {
        sums[a][0] = total(left[a]);
        sums[a][1] = total(right[a]);
        for (int64_t rest = t; rest < k; rest++) {
            sums[a][0] += row[a][rest] * other[0][rest];
            sums[a][1] += row[a][rest] * other[1][rest];
        }
    }
}

INLINE double dot(const double *a, const double *b, int64_t k) {
    lanes first = {0}, second = {0};
    int64_t t = 0;
    for (; t + 8 <= k; t += 8) {
        first += LANES(a + t) * LANES(b + t);
        second += LANES(a + t + 4) * LANES(b + t + 4);
    }
    double sum = total(first + second);
    for (; t < k; t++) sum += a[t] * b[t];
    return sum;
}

/* Rows i..i+3 from columns j and j+1, where everything left of column j is done. */
INLINE void finish_tile(double *A, int64_t stride, int64_t i, int64_t j) {
    double *rows[4], *others[2] = {A + j * stride, A + (j + 1) * stride}, sums[4][2];
    for (int64_t a = 0; a < 4; a++) rows[a] = A + (i + a) * stride;
    four_by_two(rows, others, j, sums);
    for (int64_t a = 0; a < 4; a++) {
        double first = (rows[a][j] - sums[a][0]) / others[0][j];
        rows[a][j] = first;
        rows[a][j + 1] = (rows[a][j + 1] - sums[a][1] - first * others[1][j]) / others[1][j + 1];
    }
}

INLINE int finish_row(double *A, int64_t stride, int64_t i, int64_t from) {
    double *row = A + i * stride, original = row[i];
    for (int64_t j = from; j < i; j++)
        row[j] = (row[j] - dot(row, A + j * stride, j)) / A[j * stride + j];
    double rest = row[i] - dot(row, row, i);
    if (!(rest > 1e-14 * original) || !(rest > 0.0)) return 0;
    row[i] = sqrt(rest);
    return 1;
}

/* In place; 0 where the matrix is not numerically positive definite. */
int cholesky(double *A, int64_t m, int64_t stride) {
    int64_t i = 0;
    for (; i + 4 <= m; i += 4) {
        for (int64_t j = 0; j + 2 <= i; j += 2) finish_tile(A, stride, i, j);
        for (int64_t a = 0; a < 4; a++)
            if (!finish_row(A, stride, i + a, i)) return 0;
    }
    for (; i < m; i++)
        if (!finish_row(A, stride, i, 0)) return 0;
    return 1;
}

/* Sums of one row with two vectors, read once. */
INLINE void two_dots(const double *row, const double *x, const double *y, int64_t k, double *sums) {
    lanes first = {0}, second = {0};
    int64_t t = 0;
    for (; t + 4 <= k; t += 4) {
        first += LANES(row + t) * LANES(x + t);
        second += LANES(row + t) * LANES(y + t);
    }
    sums[0] = total(first);
    sums[1] = total(second);
    for (; t < k; t++) {
        sums[0] += row[t] * x[t];
        sums[1] += row[t] * y[t];
    }
}

/* x := (L L')^-1 x, and y likewise */
void cholesky_solve(const double *L, int64_t m, int64_t stride, double *restrict x,
                    double *restrict y) {
    for (int64_t i = 0; i < m; i++) {
        const double *row = L + i * stride;
        double sums[2], inverse = 1.0 / row[i];
        two_dots(row, x, y, i, sums);
        x[i] = (x[i] - sums[0]) * inverse;
        y[i] = (y[i] - sums[1]) * inverse;
    }
    for (int64_t i = m - 1; i >= 0; i--) {
        const double *row = L + i * stride;
        double left = x[i] / row[i], right = y[i] / row[i];
        x[i] = left;
        y[i] = right;
        for (int64_t t = 0; t < i; t++) {
            x[t] -= left * row[t];
            y[t] -= right * row[t];
        }
    }
}

/* The factor without row and column k: the rows below move up, and rotations take the column
   that became superfluous into the triangle. */
void cholesky_remove(double *L, int64_t m, int64_t stride, int64_t k) {
    for (int64_t i = k; i + 1 < m; i++)
        memcpy(L + i * stride, L + (i + 1) * stride, sizeof(double) * (size_t)(i + 2));
    for (int64_t c = k; c + 1 < m; c++) {
        double a = L[c * stride + c], b = L[c * stride + c + 1];
        double r = sqrt(a * a + b * b), cosine = a / r, sine = b / r;
        L[c * stride + c] = r;
        for (int64_t i = c + 1; i + 1 < m; i++) {
            double *pair = L + i * stride + c, left = pair[0], right = pair[1];
            pair[0] = cosine * left + sine * right;
            pair[1] = cosine * right - sine * left;
        }
    }
}
