/* Rows going down an axis-parallel tree. */

#include "numeric.h"

enum { SIDE_BY_SIDE = 8 };

/* The leaf of each of n rows: left where the value, in single precision, is at most the threshold.
 * Several rows go down together, so that while one waits for memory the others go on. */
EXPORT void dcsvm_leaves(const double *X, int64_t n, int64_t depth, const int64_t *left,
                         const int64_t *right, const int64_t *feature, const float *threshold,
                         int64_t *leaf) {
    for (int64_t first = 0; first < n; first += SIDE_BY_SIDE) {
        int64_t count = n - first < SIDE_BY_SIDE ? n - first : SIDE_BY_SIDE;
        const double *x = X + first * depth;
        int64_t *node = leaf + first;
        for (int64_t i = 0; i < count; i++)
            node[i] = 0;
        for (int64_t inner = 1; inner;) {
            inner = 0;
            for (int64_t i = 0; i < count; i++) {
                int64_t here = node[i];
                if (left[here] < 0)
                    continue;
                inner = 1;
                node[i] = (float)x[i * depth + feature[here]] <= threshold[here] ? left[here]
                                                                                : right[here];
            }
        }
    }
}
