/* Trees that settle: every hyperplane is learned again, given all others, to send its rows to the
   side that answers them right. */
#include <float.h>

#include "dual_coordinate_descent.h"
#include "hyperplane_tree.h"
#include "split_impurity.h"

typedef struct {
    const rows *X;
    const int32_t *y;
    const double *masses; /* of rows, or NULL for 1 */
    int64_t n, classes, nodes;
    oblique_tree *tree;
    int64_t *order, *spare, *concerned; /* n */
    int64_t *begin, *end;               /* of the rows of each node, then of each leaf */
    int32_t *answer;                    /* of each leaf */
    float *pulls, *w;                   /* n, stride */
    scored *found;                      /* n */
    double *counts;                     /* classes */
    dual_workspace dual;
} settling;

INLINE double mass_of(const settling *t, int64_t row) { return t->masses ? t->masses[row] : 1.0; }
INLINE int64_t place_of(const settling *t, int32_t child) {
    return child < 0 ? t->nodes + ~child : child;
}

/* Sort the rows by leaf, from the root down. */
static void sort_rows(settling *t) {
    t->begin[0] = 0;
    t->end[0] = t->n;
    for (int64_t node = 0; node < t->nodes; node++) {
        int64_t left = t->begin[node], right = 0;
        for (int64_t i = t->begin[node]; i < t->end[node]; i++) {
            int64_t row = t->order[i];
            if (goes_right(t->tree, t->X, row, node)) t->spare[right++] = row;
            else t->order[left++] = row;
        }
        memcpy(t->order + left, t->spare, sizeof(int64_t) * (size_t)right);
        const int32_t *child = t->tree->children + 2 * node;
        int64_t first = place_of(t, child[0]), second = place_of(t, child[1]);
        t->begin[first] = t->begin[node];
        t->end[first] = t->begin[second] = left;
        t->end[second] = t->end[node];
    }
}

/* Leaves answer with their largest class; empty ones as they did. */
static void set_answers(settling *t) {
    for (int64_t leaf = 0; leaf <= t->nodes; leaf++) {
        int64_t begin = t->begin[t->nodes + leaf], end = t->end[t->nodes + leaf];
        if (begin == end) continue;
        memset(t->counts, 0, sizeof(double) * (size_t)t->classes);
        for (int64_t i = begin; i < end; i++)
            t->counts[t->y[t->order[i]]] += mass_of(t, t->order[i]);
        int32_t best = 0;
        for (int32_t k = 1; k < t->classes; k++)
            if (t->counts[k] > t->counts[best]) best = k;
        t->answer[leaf] = best;
    }
}

/* The threshold with the least mass on the wrong side of sorted rows, and that mass. */
static double least_wrong(const scored *found, int64_t n, double all_left, double *threshold) {
    double wrong = all_left, least = all_left;
    *threshold = -DBL_MAX;
    for (int64_t i = 0; i < n; i++) {
        wrong += found[i].label ? found[i].mass : -found[i].mass;
        if (i + 1 < n && !(found[i].score < found[i + 1].score)) continue;
        if (wrong < least) {
            double low = found[i].score, high = i + 1 < n ? found[i + 1].score : DBL_MAX;
            double middle = low + (high - low) / 2.0;
            least = wrong;
            *threshold = i + 1 == n ? DBL_MAX : middle < high ? middle : low;
        }
    }
    return least;
}

/* Learn one node's hyperplane from the rows that one of its sides answers right and the other
   wrong. It stays as it is where the new one would send more of them the wrong way. Gives the mass
   that is now right and was wrong. */
static double settle_node(settling *t, const dual_settings *s, int64_t node) {
    const rows *X = t->X;
    const int32_t *child = t->tree->children + 2 * node;
    double side[2] = {0.0, 0.0}, before = 0.0, after = 0.0, bias, threshold, moved;
    int64_t n = 0;
    for (int64_t i = t->begin[node]; i < t->end[node]; i++) {
        int64_t row = t->order[i];
        int left = t->answer[leaf_below(t->tree, X, row, child[0])] == t->y[row];
        int right = t->answer[leaf_below(t->tree, X, row, child[1])] == t->y[row];
        if (left == right) continue;
        double mass = mass_of(t, row);
        side[right] += mass;
        if (goes_right(t->tree, X, row, node) != right) before += mass;
        t->pulls[n] = (float)(right ? mass : -mass);
        t->concerned[n++] = row;
    }
    if (!n) return 0.0;
    if (side[0] <= 0.0 || side[1] <= 0.0) {
        t->tree->thresholds[node] = side[0] <= 0.0 ? -DBL_MAX : DBL_MAX;
        return before;
    }
    float scale = (float)((double)n / (side[0] + side[1]));
    for (int64_t i = 0; i < n; i++) t->pulls[i] *= scale;
    dual_plane(X, t->concerned, n, t->pulls, s, &t->dual, t->w, &bias);
    threshold = -bias;
    for (int64_t i = 0; i < n; i++) {
        int64_t row = t->concerned[i];
        scored here = {exact_product(X, row, t->w), t->pulls[i] > 0.0f, mass_of(t, row)};
        if ((here.score <= threshold) == here.label) after += here.mass;
        t->found[i] = here;
    }
    sort_by_score(t->found, n);
    double least = least_wrong(t->found, n, side[0], &moved);
    if (least < after * (1.0 - NO_GAIN)) {
        after = least;
        threshold = moved;
    }
    if (after > before) return 0.0;
    memcpy(t->tree->weights + node * t->tree->stride, t->w, sizeof(float) * (size_t)X->stride);
    t->tree->thresholds[node] = threshold;
    return before - after;
}

static int allocate(settling *t) {
    size_t n = (size_t)t->n, places = (size_t)(2 * t->nodes + 1);
    t->spare = malloc(sizeof(int64_t) * 2 * n);
    t->begin = malloc(sizeof(int64_t) * 2 * places);
    t->answer = calloc((size_t)t->nodes + 1, sizeof(int32_t));
    t->pulls = malloc(sizeof(float) * (n + (size_t)t->X->stride));
    t->found = malloc(sizeof(scored) * n);
    t->counts = malloc(sizeof(double) * (size_t)t->classes);
    int dual = dual_allocate(&t->dual, t->n);
    if (!t->spare || !t->begin || !t->answer || !t->pulls || !t->found || !t->counts || !dual)
        return 0;
    t->concerned = t->spare + n;
    t->end = t->begin + places;
    t->w = t->pulls + n;
    return 1;
}

static void release(settling *t) {
    free(t->spare);
    free(t->begin);
    free(t->answer);
    free(t->pulls);
    free(t->found);
    free(t->counts);
    dual_release(&t->dual);
}

/* Settle a tree over rows order[0 .. n - 1], in rounds from the leaves to the root, for as long as
   one gains something. Gives the rounds, or -1 where there is no memory. */
EXPORT int64_t dcsvm_oblique_settle(const rows *X, int64_t n, const int32_t *y, int64_t classes,
                                    const double *masses, int64_t *order, int64_t rounds,
                                    const dual_settings *s, oblique_tree *tree, int64_t nodes) {
    settling t = {.X = X, .y = y, .masses = masses, .n = n, .classes = classes, .nodes = nodes};
    int64_t round = -1;
    t.tree = tree;
    t.order = order;
    if (allocate(&t)) {
        double gained = 1.0;
        for (round = 0; round < rounds && gained > 0.0; round++) {
            gained = 0.0;
            sort_rows(&t);
            set_answers(&t);
            for (int64_t node = nodes - 1; node >= 0; node--) gained += settle_node(&t, s, node);
        }
    }
    release(&t);
    return round;
}
