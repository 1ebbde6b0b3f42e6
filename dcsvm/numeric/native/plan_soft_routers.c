/* Routers that may share a row out among several members, and lookups. */
#include <math.h>

#include "plan.h"

/* Weights from logits, in place; they sum to one. */
void softmax_weights(double *logits, int64_t count, double steepness) {
    double most = UNKNOWN, total = 0.0;
    for (int64_t j = 0; j < count; j++) {
        logits[j] *= steepness;
        most = logits[j] > most ? logits[j] : most;
    }
    for (int64_t j = 0; j < count; j++) total += logits[j] = exp(logits[j] - most);
    for (int64_t j = 0; j < count; j++) logits[j] /= total;
}

/* The weights of the leaves of a tree where a row near a border goes to both sides. `at` holds
   what comes to each node. */
static void descend(const step *s, const double *x, double *at, double *leaves) {
    const double *directions = s->arrays[0], *borders = s->arrays[1], *widths = s->arrays[2];
    const int64_t *children = s->arrays[3];
    int64_t nodes = s->sizes[0];
    memset(at, 0, sizeof(double) * (size_t)nodes);
    memset(leaves, 0, sizeof(double) * (size_t)s->outputs);
    at[0] = 1.0;
    for (int64_t node = 0; node < nodes; node++) {
        if (!(at[node] > 0.0)) continue;
        double away = product(x, directions + node * s->inputs, s->inputs) - borders[node];
        double right = away > 0.0;
        if (widths[node] > 0.0) {
            right = 0.5 + away / (2.0 * widths[node]);
            right = right < 0.0 ? 0.0 : right > 1.0 ? 1.0 : right;
        }
        for (int64_t side = 0; side < 2; side++) {
            int64_t child = children[2 * node + side];
            double share = (side ? right : 1.0 - right) * at[node];
            *(child < 0 ? leaves + ~child : at + child) += share;
        }
    }
}

static int weigh(const plan *p, const step *s, const double *X, int64_t n, double *weights,
                 room *r) {
    if (s->kind == SPILL) {
        double *at = take_numbers(r, s->sizes[0]);
        NEED(at);
        for (int64_t i = 0; i < n; i++)
            descend(s, X + i * s->inputs, at, weights + i * s->outputs);
        return DONE;
    }
    TRY(run(p, s->sizes[0], X, n, weights, r));
    for (int64_t i = 0; i < n; i++)
        softmax_weights(weights + i * s->outputs, s->outputs, s->numbers[0]);
    return DONE;
}

int share_rows(const plan *p, const step *s, const double *X, int64_t n, routing *found, room *r) {
    int64_t most = n * s->outputs, count = 0;
    double *weights = take_numbers(r, 2 * most), *kept = weights + most;
    int64_t *row = take(r, 2 * most, sizeof(int64_t)), *member = row + most;
    NEED(weights && row);
    TRY(weigh(p, s, X, n, weights, r));
    for (int64_t i = 0; i < most; i++) {
        if (s->kind == SPILL && !(weights[i] > 0.0)) continue;
        row[count] = i / s->outputs;
        member[count] = i % s->outputs;
        kept[count++] = weights[i];
    }
    *found = (routing){count, row, member, kept};
    return DONE;
}

/* The member of a value of a column, or the one for all other values. */
void look_up(const step *s, const double *X, int64_t n, int64_t *member) {
    const double *values = s->arrays[0];
    const int64_t *members = s->arrays[1];
    for (int64_t i = 0; i < n; i++) {
        double x = X[i * s->inputs + s->sizes[0]];
        int64_t low = 0, high = s->sizes[1];
        while (low < high) {
            int64_t middle = (low + high) / 2;
            if (values[middle] < x) low = middle + 1;
            else high = middle;
        }
        member[i] = low < s->sizes[1] && values[low] == x ? members[low] : s->sizes[2];
    }
}
