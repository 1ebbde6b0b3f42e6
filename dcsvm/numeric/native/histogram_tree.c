/* Growing an axis-parallel tree from binned features. */
#include "histogram_tree.h"

enum { STRIP = 64, STEP = 16 };

/* The bin of each value: how many largest values of bins are below it. `uppers` is padded to 256 a
   feature by numbers that compare with none. misses[f] is set where a value is in no bin of an exact feature. */
EXPORT void dcsvm_bin_rows(const double *X, int64_t n, int64_t features, const float *uppers,
                           const uint8_t *exact, uint8_t *codes, uint8_t *misses) {
    for (int64_t first = 0; first < n; first += STRIP) {
        int64_t count = n - first < STRIP ? n - first : STRIP;
        for (int64_t f = 0; f < features; f++) {
            const float *up = uppers + f * MOST_BINS;
            const double *from = X + first * features + f;
            uint8_t *to = codes + first * features + f;
            float x[STRIP] = {0};
            int32_t code[STRIP] = {0};
            for (int64_t i = 0; i < count; i++) x[i] = to_float(from[i * features]);
            for (int pivot = STEP - 1; pivot < MOST_BINS - 1; pivot += STEP)
                for (int i = 0; i < STRIP; i++) code[i] += up[pivot] < x[i] ? STEP : 0;
            for (int64_t i = 0; i < count; i++) {
                const float *among = up + code[i];
                int32_t below = 0;
                for (int j = 0; j < STEP; j++) below += among[j] < x[i];
                int32_t found = code[i] + below;
                to[i * features] = (uint8_t)found;
                if (exact[f] && up[found] != x[i]) misses[f] = 1;
            }
        }
    }
}

/* Add n rows to the masses by bin and class. */
EXPORT void dcsvm_fill_histogram(const tree_growth *g, const int64_t *rows, int64_t n,
                                 double *histogram) {
    int64_t features = g->features, classes = g->classes;
    for (int64_t i = 0; i < n; i++) {
        int64_t row = rows[i];
        const uint8_t *codes = g->codes + row * features;
        double *to = histogram + g->y[row], mass = g->masses ? g->masses[row] : 1.0;
        for (int64_t f = 0; f < features; f++) to[(g->starts[f] + codes[f]) * classes] += mass;
    }
}

static int weigh_classes(const tree_growth *g, const int64_t *rows, int64_t n, double *masses) {
    int present = 0;
    memset(masses, 0, sizeof(double) * (size_t)g->classes);
    for (int64_t i = 0; i < n; i++) masses[g->y[rows[i]]] += g->masses ? g->masses[rows[i]] : 1.0;
    for (int64_t k = 0; k < g->classes; k++) present += masses[k] > 0.0;
    return present;
}

/* Put the rows up to the threshold first, and keep the order on both sides; return how many there
   are. The room of items is large enough for the other rows. */
static int64_t divide_rows(const tree_growth *g, tree_scratch *s, int64_t *rows, int64_t n,
                           const tree_cut *cut) {
    int64_t low = 0, high = 0;
    uint32_t *others = (uint32_t *)s->items;
    for (int64_t i = 0; i < n; i++) {
        int64_t row = rows[i];
        int goes_left = value_at(g, row, cut->feature) <= cut->threshold;
        rows[low] = row;
        others[high] = (uint32_t)row;
        low += goes_left;
        high += !goes_left;
    }
    for (int64_t i = 0; i < high; i++) rows[low + i] = others[i];
    return low;
}

/* Whether rows can be binned apart although no bin is. */
static int any_inexact(const tree_growth *g) {
    for (int64_t f = 0; f < g->features; f++)
        if (!g->exact[f]) return 1;
    return 0;
}

static int find_cut(const tree_growth *g, tree_scratch *s, const int64_t *rows,
                    const tree_node *node, const double *histogram, double impurity,
                    tree_cut *best) {
    if (histogram) {
        *best = search_histogram(g, s, histogram, node->key);
        if (best->low >= 0 && !refine_cut(g, s, histogram, rows, node->count, best)) return 0;
        if (impurity - best->impurity > g->least_gain || !any_inexact(g)) return 1;
    }
    return search_sorted(g, s, rows, node->count, node->key, best);
}

static void set_node(tree_node *node, int64_t begin, int64_t count, uint64_t key) {
    tree_node made = {-1, -1, 0, begin, count, key, 0.0, 0.0f, 0};
    *node = made;
}

/* Split a node into two new ones, and its rows; 1 if it was, 0 if it is a leaf, -1 without
   memory. */
static int split_node(const tree_growth *g, tree_scratch *s, int64_t *rows, tree_node *node,
                      const double *histogram, tree_node *left, tree_node *right) {
    int64_t *mine = rows + node->begin;
    tree_cut best;
    node->mixed = weigh_classes(g, mine, node->count, s->node) > 1;
    if (!node->mixed || node->count <= g->smallest) return 0;
    double impurity = impurity_of_node(g, s->node);
    if (!make_room(g, s, node->count, 0) ||
        !find_cut(g, s, mine, node, histogram, impurity, &best)) return -1;
    if (best.feature < 0 || !(impurity - best.impurity > g->least_gain)) return 0;
    int64_t count = divide_rows(g, s, mine, node->count, &best);
    node->feature = best.feature;
    node->threshold = best.threshold < -FLT_MAX ? -FLT_MAX : best.threshold;
    node->gain = impurity - best.impurity;
    set_node(left, node->begin, count, mix(node->key + LEFT_KEY));
    set_node(right, node->begin + count, node->count - count, mix(node->key + RIGHT_KEY));
    return 1;
}

/* Split one node, given its histogram or NULL; nodes[1] and nodes[2] are its sides. */
EXPORT int64_t dcsvm_split_node(const tree_growth *g, int64_t *rows, tree_node *nodes,
                                const double *histogram) {
    tree_scratch s;
    int done = open_scratch(g, &s)
                   ? split_node(g, &s, rows, nodes, histogram, nodes + 1, nodes + 2)
                   : -1;
    close_scratch(&s);
    return done;
}

/* A node that is waiting, and its histogram if it was subtracted from its parent's. */
typedef struct {
    int64_t node;
    double *histogram;
} waiting;

static int needs_histogram(const tree_growth *g, int64_t rows) {
    return g->codes && rows > g->sorted_rows && rows > g->smallest;
}

static double *fill_new(const tree_growth *g, const int64_t *rows, int64_t n) {
    double *made = calloc((size_t)(g->starts[g->features] * g->classes), sizeof(double));
    if (made) dcsvm_fill_histogram(g, rows, n, made);
    return made;
}

/* The histograms of both sides: the smaller one is filled, the other one subtracted. */
static int share_histogram(const tree_growth *g, const int64_t *rows, const tree_node *small,
                           const tree_node *large, double **histogram, double **of_small) {
    *of_small = NULL;
    if (!needs_histogram(g, large->count)) {
        free(*histogram);
        *histogram = NULL;
        return 1;
    }
    *of_small = fill_new(g, rows + small->begin, small->count);
    if (!*of_small) return 0;
    int64_t cells = g->starts[g->features] * g->classes;
    for (int64_t i = 0; i < cells; i++) (*histogram)[i] -= (*of_small)[i];
    if (!needs_histogram(g, small->count)) {
        free(*of_small);
        *of_small = NULL;
    }
    return 1;
}

/* Grow the tree below nodes[0] into `nodes`, which has room for two nodes for each of its rows.
   The smaller side is grown first, so that few nodes wait. Returns the number of nodes, or -1
   without memory. */
EXPORT int64_t dcsvm_grow_tree(const tree_growth *g, int64_t *rows, tree_node *nodes) {
    tree_scratch s;
    int64_t used = 1, depth = 1, room = 256;
    waiting *stack = malloc(sizeof(waiting) * (size_t)room);
    int done = open_scratch(g, &s) && stack ? 0 : -1;
    if (done == 0) stack[0] = (waiting){0, NULL};
    while (depth && done >= 0) {
        waiting here = stack[--depth];
        tree_node *node = nodes + here.node, *sides = nodes + used;
        if (!here.histogram && needs_histogram(g, node->count)) {
            here.histogram = fill_new(g, rows + node->begin, node->count);
            if (!here.histogram) done = -1;
        }
        if (done >= 0) done = split_node(g, &s, rows, node, here.histogram, sides, sides + 1);
        if (done < 1) {
            free(here.histogram);
            continue;
        }
        node->left = used;
        node->right = used + 1;
        int64_t small = sides[0].count <= sides[1].count ? 0 : 1;
        double *of_small = NULL;
        if (here.histogram &&
            !share_histogram(g, rows, sides + small, sides + 1 - small, &here.histogram, &of_small))
            done = -1;
        if (depth + 2 > room) {
            waiting *longer = realloc(stack, sizeof(waiting) * (size_t)(2 * room));
            if (longer) {
                stack = longer;
                room *= 2;
            } else {
                done = -1;
            }
        }
        if (done < 0) {
            free(here.histogram);
            free(of_small);
            continue;
        }
        stack[depth++] = (waiting){used + 1 - small, here.histogram};
        stack[depth++] = (waiting){used + small, of_small};
        used += 2;
    }
    while (depth) free(stack[--depth].histogram);
    free(stack);
    close_scratch(&s);
    return done < 0 ? -1 : used;
}
