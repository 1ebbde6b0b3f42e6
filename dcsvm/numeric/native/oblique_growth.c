/* Oblique trees: whole trees grown in one call. */
#include "hyperplane_tree.h"
#include "pegasos.h"
#include "split_impurity.h"

typedef struct {
    pegasos_settings learner;
    double passes;  /* how often a node's rows are visited at the most, or 0 */
    /* sum_one: weights add up to 1 at a node, and batches average once more; or 1 in the mean */
    int64_t fewest, deepest, by_impurity, sum_one;
} growth_settings;

/* Everything that growing needs beside the rows; n entries where nothing else is said. */
typedef struct {
    int64_t classes;
    const int32_t *y;
    const double *masses; /* of rows, or NULL for 1 */
    int64_t *order, *spare;
    float *pulls;
    pegasos_room room;
    int64_t learned; /* hyperplanes so far */
    scored *found;
    double *w;                      /* stride */
    double *counts, *left, *right;  /* classes */
    double *means, *axis;           /* classes * stride, stride + classes */
    int8_t *side;                   /* classes */
} growth;

typedef struct {
    int64_t begin, end, depth, slot;
} frame;

INLINE double mass_of(const growth *g, int64_t row) { return g->masses ? g->masses[row] : 1.0; }

/* Labels times weights of a node's rows: both sides weigh the same, and rows 1 in the mean or in
   sum. */
static void set_pulls(growth *g, int64_t begin, int64_t end, double total, int sum_one) {
    double sides[2] = {0.0, 0.0}, scale = (double)(end - begin) / total;
    if (sum_one) scale /= total;
    for (int64_t k = 0; k < g->classes; k++) sides[g->side[k] > 0] += g->counts[k];
    for (int64_t i = begin; i < end; i++) {
        int64_t row = g->order[i];
        int plus = g->side[g->y[row]] > 0;
        double pull = mass_of(g, row) * scale * total / (2.0 * sides[plus]);
        g->pulls[i] = (float)(plus ? pull : -pull);
    }
}

/* The threshold of a node by its products: the machine's own, or the one that lowers the
   impurity most. Gives the impurity that is left. */
static double threshold_of(growth *g, const rows *X, int64_t begin, int64_t end, double bias,
                           int by_impurity, const float *w, double *threshold) {
    *threshold = -bias;
    for (int64_t i = begin; i < end; i++) {
        int64_t row = g->order[i];
        if (i + AHEAD < end) call_for(X, g->order[i + AHEAD]);
        g->found[i] = (scored){exact_product(X, row, w), g->y[row], mass_of(g, row)};
    }
    if (by_impurity) {
        sort_by_score(g->found + begin, end - begin);
        return best_cut(g->found + begin, end - begin, g->classes, g->counts, g->left, g->right,
                        threshold);
    }
    return impurity_of_cut(g->found + begin, end - begin, g->classes, g->left, g->right, -bias);
}

/* Rows of the left side first, both sides in the order they had; gives where the right begins. */
static int64_t part(growth *g, const rows *X, int64_t begin, int64_t end, const float *w,
                    double threshold) {
    int64_t left = begin, right = 0;
    for (int64_t i = begin; i < end; i++) {
        int64_t row = g->order[i];
        if (i + AHEAD < end) call_for(X, g->order[i + AHEAD]);
        if (exact_product(X, row, w) <= threshold) g->order[left++] = row;
        else g->spare[right++] = row;
    }
    memcpy(g->order + left, g->spare, sizeof(int64_t) * (size_t)right);
    return left;
}

/* The way from the mean of one side to that of the other, for a node that no machine splits. */
static void mean_to_mean(growth *g, const rows *X, int64_t begin, int64_t end, float *weights) {
    memset(weights, 0, sizeof(float) * (size_t)X->stride);
    for (int64_t i = begin; i < end; i++) add_row(X, g->order[i], g->pulls[i], weights);
}

/* Split one node into a new node of the tree; gives where its right side begins, or -1. */
static int64_t split(growth *g, const rows *X, const growth_settings *s, const frame *f,
                     float *weights, double *threshold) {
    int64_t n = f->end - f->begin;
    double total = 0.0, bias, impurity;
    memset(g->counts, 0, sizeof(double) * (size_t)g->classes);
    for (int64_t i = f->begin; i < f->end; i++)
        g->counts[g->y[g->order[i]]] += mass_of(g, g->order[i]);
    impurity = entropy(g->counts, g->classes);
    for (int64_t k = 0; k < g->classes; k++) total += g->counts[k];
    if (n <= s->fewest || f->depth >= s->deepest || impurity <= NO_GAIN * total) return -1;
    choose_sides(X, g->order + f->begin, n, g->y, g->masses, g->classes, g->counts, g->means,
                 g->axis, g->side);
    set_pulls(g, f->begin, f->end, total, s->sum_one != 0);
    pegasos_settings learner = s->learner;
    int64_t batch = learner.batch < n ? learner.batch : n;
    double most = s->passes * (double)n / (double)batch;
    if (s->passes > 0.0 && most < (double)learner.iterations) learner.iterations = most < 1.0 ? 1 : (int64_t)most;
    if (learner.random) learner.random += g->learned;
    g->learned++;
    pegasos(X, g->order + f->begin, n, g->pulls + f->begin, &learner, &g->room, g->w, &bias);
    for (int64_t j = 0; j < X->stride; j++) weights[j] = (float)g->w[j];
    double after = threshold_of(g, X, f->begin, f->end, bias, s->by_impurity != 0, weights,
                                threshold);
    if (s->by_impurity && !(impurity - after > NO_GAIN * total)) {
        mean_to_mean(g, X, f->begin, f->end, weights);
        after = threshold_of(g, X, f->begin, f->end, bias, 1, weights, threshold);
    }
    if (!(impurity - after > NO_GAIN * total)) return -1;
    return part(g, X, f->begin, f->end, weights, *threshold);
}

static int allocate(growth *g, const rows *X, int64_t n, int64_t classes,
                    const pegasos_settings *learner) {
    size_t rows_ = (size_t)n, k = (size_t)classes, d = (size_t)X->stride;
    g->spare = malloc(sizeof(int64_t) * rows_);
    g->pulls = malloc(sizeof(float) * rows_);
    g->found = malloc(sizeof(scored) * rows_);
    int room = pegasos_allocate(&g->room, learner, X->stride, n);
    g->w = malloc(sizeof(double) * (d + 3 * k + k * d + d + k));
    g->side = malloc(k);
    if (!g->spare || !g->pulls || !g->found || !room || !g->w || !g->side) return 0;
    g->counts = g->w + d;
    g->left = g->counts + k;
    g->right = g->left + k;
    g->means = g->right + k;
    g->axis = g->means + k * d;
    return 1;
}

static void release(growth *g) {
    free(g->spare);
    free(g->pulls);
    free(g->found);
    free(g->room.memory);
    free(g->w);
    free(g->side);
}

/* Grow a tree over rows order[0 .. n - 1], which come back sorted by leaf. The tree has room for
   n - 1 nodes. Gives the number of nodes, or -1 where there is no memory. */
EXPORT int64_t dcsvm_oblique_grow(const rows *X, int64_t n, const int32_t *y, int64_t classes,
                                  const double *masses, int64_t *order, const growth_settings *s,
                                  oblique_tree *tree) {
    growth g = {.classes = classes, .y = y, .masses = masses, .order = order};
    frame *stack = malloc(sizeof(frame) * (size_t)(n + 1));
    int64_t waiting = 0, nodes = 0, leaves = 0;
    if (!allocate(&g, X, n, classes, &s->learner) || !stack) nodes = -1;
    else stack[waiting++] = (frame){0, n, 0, -1};
    while (waiting) {
        frame f = stack[--waiting];
        float *weights = nodes < n - 1 ? tree->weights + nodes * tree->stride : NULL;
        int64_t middle = weights ? split(&g, X, s, &f, weights, tree->thresholds + nodes) : -1;
        if (f.slot >= 0) tree->children[f.slot] = (int32_t)(middle < 0 ? ~leaves : nodes);
        if (middle < 0) {
            leaves++;
            continue;
        }
        stack[waiting++] = (frame){middle, f.end, f.depth + 1, 2 * nodes + 1};
        stack[waiting++] = (frame){f.begin, middle, f.depth + 1, 2 * nodes};
        nodes++;
    }
    release(&g);
    free(stack);
    return nodes;
}
