/* The impurity that a cut leaves, the best cut along a direction, and the two groups of classes. */
#include "split_impurity.h"

#include <float.h>
#include <math.h>

/* The mass times the entropy of the classes' shares. */
double entropy(const double *counts, int64_t classes) {
    double total = 0.0, sum = 0.0;
    for (int64_t k = 0; k < classes; k++) {
        total += counts[k];
        if (counts[k] > 0.0) sum -= counts[k] * log(counts[k]);
    }
    return total > 0.0 ? sum + total * log(total) : 0.0;
}

enum { FEW = 16 };

/* Quicksort with a middle for equal scores, so that many of them cost nothing. */
void sort_by_score(scored *rows_, int64_t n) {
    while (n > FEW) {
        double a = rows_[0].score, b = rows_[n / 2].score, c = rows_[n - 1].score;
        double pivot = a < b ? (b < c ? b : (a < c ? c : a)) : (a < c ? a : (b < c ? c : b));
        int64_t low = 0, at = 0, high = n;
        while (at < high) {
            scored here = rows_[at];
            if (here.score < pivot) {
                rows_[at++] = rows_[low];
                rows_[low++] = here;
            } else if (here.score > pivot) {
                rows_[at] = rows_[--high];
                rows_[high] = here;
            } else {
                at++;
            }
        }
        if (low < n - high) {
            sort_by_score(rows_, low);
            rows_ += high;
            n -= high;
        } else {
            sort_by_score(rows_ + high, n - high);
            n = low;
        }
    }
    for (int64_t i = 1; i < n; i++) {
        scored here = rows_[i];
        int64_t at = i;
        for (; at && rows_[at - 1].score > here.score; at--) rows_[at] = rows_[at - 1];
        rows_[at] = here;
    }
}

/* The least impurity of a cut between two neighbours of sorted rows; the threshold lies halfway.
   Where a class ends on neither side of a cut, that cut cannot be the best and is not tried. */
double best_cut(const scored *rows_, int64_t n, int64_t classes, const double *counts,
                double *left, double *right, double *threshold) {
    double least = DBL_MAX;
    for (int64_t k = 0; k < classes; k++) {
        left[k] = 0.0;
        right[k] = counts[k];
    }
    for (int64_t i = 0; i + 1 < n; i++) {
        left[rows_[i].label] += rows_[i].mass;
        right[rows_[i].label] -= rows_[i].mass;
        double low = rows_[i].score, high = rows_[i + 1].score;
        if (!(low < high)) continue;
        if (i && rows_[i].label == rows_[i + 1].label && rows_[i - 1].score < low &&
            (i + 2 >= n || rows_[i + 2].score > high))
            continue;
        double here = entropy(left, classes) + entropy(right, classes);
        if (here < least) {
            double middle = low + (high - low) / 2.0;
            least = here;
            *threshold = middle < high ? middle : low;
        }
    }
    return least;
}

/* The impurity on the two sides of a threshold. */
double impurity_of_cut(const scored *rows_, int64_t n, int64_t classes, double *left,
                       double *right, double threshold) {
    for (int64_t k = 0; k < classes; k++) left[k] = right[k] = 0.0;
    for (int64_t i = 0; i < n; i++)
        (rows_[i].score <= threshold ? left : right)[rows_[i].label] += rows_[i].mass;
    return entropy(left, classes) + entropy(right, classes);
}

/* The means of the classes, less the mean of all: (classes, stride). */
static void centred_means(const rows *X, const int64_t *order, int64_t n, const int32_t *y,
                          const double *masses, int64_t classes, const double *counts,
                          double *means, double *all) {
    int64_t stride = X->stride;
    double total = 0.0;
    memset(means, 0, sizeof(double) * (size_t)(classes * stride));
    memset(all, 0, sizeof(double) * (size_t)stride);
    for (int64_t i = 0; i < n; i++) {
        int64_t row = order[i];
        double mass = masses ? masses[row] : 1.0, *to = means + y[row] * stride;
        if (X->dense) {
            const float *x = X->dense + row * stride;
            for (int64_t j = 0; j < stride; j++) to[j] += mass * x[j];
        } else {
            for (int64_t e = X->starts[row]; e < X->starts[row + 1]; e++)
                to[X->columns[e]] += mass * X->values[e];
        }
    }
    for (int64_t k = 0; k < classes; k++) {
        total += counts[k];
        for (int64_t j = 0; j < stride; j++) all[j] += means[k * stride + j];
    }
    for (int64_t k = 0; k < classes; k++)
        for (int64_t j = 0; j < stride; j++)
            if (counts[k] > 0.0)
                means[k * stride + j] = means[k * stride + j] / counts[k] - all[j] / total;
}

INLINE double long_product(const double *a, const double *b, int64_t n) {
    double sum = 0.0;
    for (int64_t j = 0; j < n; j++) sum += a[j] * b[j];
    return sum;
}

enum { POWER_STEPS = 12 };

/* Which classes of a node a hyperplane is to set apart: those with the larger mean along the main
   axis of the classes' means, cut where the two groups are furthest apart. side is +1 or -1. */
void choose_sides(const rows *X, const int64_t *order, int64_t n, const int32_t *y,
                  const double *masses, int64_t classes, const double *counts, double *means,
                  double *room, int8_t *side) {
    int64_t stride = X->stride, present = 0, last = 0;
    double *axis = room, *along = room + stride;
    for (int64_t k = 0; k < classes; k++) {
        side[k] = -1;
        if (counts[k] > 0.0) {
            present++;
            last = k;
        }
    }
    side[last] = 1;
    if (present <= 2) return;
    centred_means(X, order, n, y, masses, classes, counts, means, axis);
    double furthest = -1.0;
    for (int64_t k = 0; k < classes; k++) {
        double spread = counts[k] * long_product(means + k * stride, means + k * stride, stride);
        if (counts[k] > 0.0 && spread > furthest) {
            furthest = spread;
            memcpy(axis, means + k * stride, sizeof(double) * (size_t)stride);
        }
    }
    for (int step = 0; step <= POWER_STEPS; step++) {
        for (int64_t k = 0; k < classes; k++)
            along[k] = counts[k] > 0.0 ? long_product(means + k * stride, axis, stride) : 0.0;
        if (step == POWER_STEPS) break;
        memset(axis, 0, sizeof(double) * (size_t)stride);
        double size = 0.0;
        for (int64_t k = 0; k < classes; k++) size += counts[k] * fabs(along[k]);
        for (int64_t k = 0; k < classes && size > 0.0; k++)
            for (int64_t j = 0; j < stride; j++)
                axis[j] += counts[k] * along[k] / size * means[k * stride + j];
    }
    double best = -1.0, cut = 0.0;
    for (int64_t c = 0; c < classes; c++) {
        double mass[2] = {0.0, 0.0}, sum[2] = {0.0, 0.0};
        if (counts[c] <= 0.0) continue;
        for (int64_t k = 0; k < classes; k++) {
            mass[along[k] > along[c]] += counts[k];
            sum[along[k] > along[c]] += counts[k] * along[k];
        }
        if (mass[1] <= 0.0) continue;
        double apart = sum[1] / mass[1] - sum[0] / mass[0];
        if (mass[0] * mass[1] * apart * apart > best) {
            best = mass[0] * mass[1] * apart * apart;
            cut = along[c];
        }
    }
    if (best > 0.0)
        for (int64_t k = 0; k < classes; k++) side[k] = along[k] > cut ? 1 : -1;
}
