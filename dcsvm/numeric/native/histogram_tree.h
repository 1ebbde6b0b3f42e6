/* What growing an axis-parallel tree works on, and how a split is judged.
 *
 * The files of this tree are compiled without fused products and with infinities, so that NumPy
 * gives the same bits. Masses are whole numbers below 2^53, so that their sums are exact in any
 * order and for any number of threads. */
#ifndef DCSVM_HISTOGRAM_TREE_H
#define DCSVM_HISTOGRAM_TREE_H

#include "numeric.h"

#include <float.h>

/* Rows, dense or CSR, and the settings of growth. A value is compared in single precision; a
   missing one is larger than all others. */
typedef struct {
    int64_t features, classes;
    const double *X;     /* (n, features), or NULL for CSR */
    const float *values; /* CSR without explicit zeros */
    const int32_t *columns;
    const int64_t *places;
    const uint8_t *codes;   /* (n, features), the bin of each value, or NULL */
    const int64_t *starts;  /* (features + 1), the first bin of each feature */
    const float *uppers;    /* the largest value of each bin */
    const uint8_t *exact;   /* features with a single value in each bin */
    const int32_t *y;
    const double *masses;   /* of rows, whole numbers; NULL for ones */
    double least_gain;
    int64_t smallest;       /* nodes of so many rows are leaves */
    int64_t sorted_rows;    /* nodes of so many rows are searched by sorting */
    int64_t tried;          /* features tried at a split */
    int64_t gini, random;
} tree_growth;

typedef struct {
    int64_t left, right, feature, begin, count;
    uint64_t key;
    double gain;
    float threshold;
    int32_t mixed;
} tree_node;

/* A cut, and the bins on its two sides where their other values may be better ones. */
typedef struct {
    double impurity;
    int64_t feature, low, high;
    float threshold;
} tree_cut;

/* A value as an ordered integer, and the row of the node that has it. */
typedef struct {
    uint32_t value, row;
} item;

enum { MOST_BINS = 256 };

typedef struct {
    double *node, *left, *right, *left_terms, *right_terms, *zeros; /* by class */
    double *table; /* terms of small whole numbers */
    double *cells, *left_mass, *left_sum, *right_sum;
    int64_t *filled, *visits, *first; /* bins; features; items of features */
    uint64_t *draws;
    int32_t *labels;
    double *weights;
    item *items, *spare;
    int64_t room, table_size;
    void *fixed;
} tree_scratch;

int open_scratch(const tree_growth *g, tree_scratch *s);
void close_scratch(tree_scratch *s);
/* Make room for the labels, weights and items of a node. */
int make_room(const tree_growth *g, tree_scratch *s, int64_t rows, int64_t items);
tree_cut search_histogram(const tree_growth *g, tree_scratch *s, const double *histogram,
                          uint64_t key);
int refine_cut(const tree_growth *g, tree_scratch *s, const double *histogram,
               const int64_t *rows, int64_t n, tree_cut *best);
int search_sorted(const tree_growth *g, tree_scratch *s, const int64_t *rows, int64_t n,
                  uint64_t key, tree_cut *best);

INLINE float to_float(double x) {
    if (x != x) return __builtin_inff();
    return x > FLT_MAX ? FLT_MAX : (x < -FLT_MAX ? -FLT_MAX : (float)x);
}

INLINE float value_at(const tree_growth *g, int64_t row, int64_t feature) {
    if (g->X) return to_float(g->X[row * g->features + feature]);
    int64_t low = g->places[row], high = g->places[row + 1];
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (g->columns[middle] < feature)
            low = middle + 1;
        else
            high = middle;
    }
    return low < g->places[row + 1] && g->columns[low] == feature ? g->values[low] : 0.0f;
}

/* Random numbers from a node's key: the same whatever was drawn before. */
INLINE uint64_t mix(uint64_t x) {
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

enum { LEFT_KEY = 1, RIGHT_KEY, THRESHOLD_KEY, ORDER_KEY };

/* x log x, by the series of the inverse hyperbolic tangent; 0 at 0. */
INLINE double x_log_x(double x) {
    union {
        double value;
        uint64_t bits;
    } as = {x};
    double exponent = (double)(int32_t)((int64_t)(as.bits >> 52) - 1023);
    as.bits = (as.bits & 0xFFFFFFFFFFFFFu) | 0x3FF0000000000000u;
    double above = as.value > 1.4142135623730951 ? 1.0 : 0.0;
    double m = as.value * (1.0 - 0.5 * above);
    double s = (m - 1.0) / (m + 1.0), z = s * s, p = 2.0 / 23.0;
    p = p * z + 2.0 / 21.0;
    p = p * z + 2.0 / 19.0;
    p = p * z + 2.0 / 17.0;
    p = p * z + 2.0 / 15.0;
    p = p * z + 2.0 / 13.0;
    p = p * z + 2.0 / 11.0;
    p = p * z + 2.0 / 9.0;
    p = p * z + 2.0 / 7.0;
    p = p * z + 2.0 / 5.0;
    p = p * z + 2.0 / 3.0;
    p = p * z + 2.0;
    return x * ((exponent + above) * 0.6931471805599453 + s * p);
}

/* The impurity of a side is entropy: f(total) - sum f(mass), or gini: total - sum mass^2 / total. */
INLINE double term_of(const tree_growth *g, double mass) {
    return g->gini ? mass * mass : x_log_x(mass);
}

INLINE double impurity_of(const tree_growth *g, double total, double sum) {
    if (g->gini) return total > 0.0 ? total - sum / total : 0.0;
    return x_log_x(total) - sum;
}

INLINE double impurity_of_node(const tree_growth *g, const double *mass) {
    double total = 0.0, sum = 0.0;
    for (int64_t k = 0; k < g->classes; k++) {
        total += mass[k];
        sum += term_of(g, mass[k]);
    }
    return impurity_of(g, total, sum);
}

#endif
