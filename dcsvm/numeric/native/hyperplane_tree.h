/* A tree of hyperplanes as arrays, and the way of one row down it. */
#ifndef DCSVM_HYPERPLANE_TREE_H
#define DCSVM_HYPERPLANE_TREE_H

#include "rows.h"

/* Inner nodes, parents first. A child is a node, or the complement of a leaf's number. */
typedef struct {
    int64_t stride;
    float *weights;     /* (nodes, stride) */
    double *thresholds; /* (nodes,): a product of at most this goes left */
    int32_t *children;  /* (nodes, 2): left, right */
} oblique_tree;

INLINE int goes_right(const oblique_tree *t, const rows *X, int64_t i, int64_t node) {
    return !(exact_product(X, i, t->weights + node * t->stride) <= t->thresholds[node]);
}

/* The leaf of row i below a node (or below the complement of a leaf). */
INLINE int64_t leaf_below(const oblique_tree *t, const rows *X, int64_t i, int64_t node) {
    while (node >= 0) node = t->children[2 * node + goes_right(t, X, i, node)];
    return ~node;
}

#endif
