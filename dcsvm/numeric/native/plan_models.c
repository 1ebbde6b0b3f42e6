/* The steps of a plan that turn numbers of a row into others: views and models. */
#include <math.h>

#include "plan.h"

static void choose_columns(const step *s, const double *X, int64_t n, double *out) {
    const int64_t *columns = s->arrays[0];
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < s->outputs; j++)
            out[i * s->outputs + j] = X[i * s->inputs + columns[j]];
}

static void sum_blocks(const step *s, const double *X, int64_t n, double *out) {
    const int64_t *place = s->arrays[0];
    const double *factor = s->arrays[1];
    memset(out, 0, sizeof(double) * (size_t)(n * s->outputs));
    for (int64_t i = 0; i < n; i++, X += s->inputs, out += s->outputs)
        for (int64_t j = 0; j < s->inputs; j++) out[place[j]] += X[j] * factor[j];
}

static void map_affine(const step *s, const double *X, int64_t n, double *out) {
    const double *matrix = s->arrays[0], *shift = s->arrays[1];
    int64_t wide = s->outputs;
    for (int64_t i = 0; i < n; i++, X += s->inputs, out += wide) {
        if (wide == 1) {
            out[0] = product(X, matrix, s->inputs);
        } else {
            memset(out, 0, sizeof(double) * (size_t)wide);
            for (int64_t k = 0; k < s->inputs; k++)
                for (int64_t j = 0; j < wide; j++) out[j] += X[k] * matrix[k * wide + j];
        }
        for (int64_t j = 0; shift && j < wide; j++) out[j] += shift[j];
    }
}

static void scale(const step *s, const double *X, int64_t n, double *out) {
    const double *offset = s->arrays[0], *factor = s->arrays[1];
    for (int64_t i = 0; i < n; i++, X += s->inputs, out += s->inputs)
        for (int64_t j = 0; j < s->inputs; j++)
            out[j] = (offset ? X[j] - offset[j] : X[j]) * factor[j];
}

/* The feature map of the truncated RBF kernel: a monomial is an earlier one times a variable. */
static void map_monomials(const step *s, const double *X, int64_t n, double *out) {
    const int64_t *parent = s->arrays[0], *variable = s->arrays[1];
    const double *root = s->arrays[2];
    double stretch = sqrt(2.0 * s->numbers[0]);
    for (int64_t i = 0; i < n; i++, X += s->inputs, out += s->outputs) {
        out[0] = exp(-s->numbers[0] * product(X, X, s->inputs));
        for (int64_t j = 1; j < s->outputs; j++)
            out[j] = out[parent[j]] * (stretch * X[variable[j]]) / root[j];
    }
}

/* Scores by votes: ties are broken by the sum of decisions, which adds less than a half. */
static void vote_scores(const double *sums, const double *biases, int64_t k, int64_t wide,
                        double *totals, double *out) {
    memset(out, 0, sizeof(double) * (size_t)k);
    memset(totals, 0, sizeof(double) * (size_t)k);
    for (int64_t a = 0; a < k; a++)
        for (int64_t b = a + 1; b < k; b++) {
            double value = sums[a * wide + b - 1] + sums[b * wide + a] + *biases++;
            out[value > 0.0 ? a : b] += 1.0;
            totals[a] += value;
            totals[b] -= value;
        }
    for (int64_t a = 0; a < k; a++) {
        out[a] += totals[a] / (3.0 * (fabs(totals[a]) + 1.0));
        out[a] = out[a] * (2.0 / (double)(k - 1)) - 1.0;
    }
}

/* Margins of pairs: how far each class is from losing to its strongest rival. */
static void pair_margins(const double *sums, const double *biases, int64_t k, int64_t wide,
                         double *out) {
    enum { STEEPEST = 600 };
    memset(out, 0, sizeof(double) * (size_t)k);
    for (int64_t a = 0; a < k; a++)
        for (int64_t b = a + 1; b < k; b++) {
            double value = sums[a * wide + b - 1] + sums[b * wide + a] + *biases++;
            value = clip(STEEPNESS * value, STEEPEST);
            out[a] += exp(-value);
            out[b] += exp(value);
        }
    for (int64_t a = 0; a < k; a++) out[a] = -log1p(out[a]) / STEEPNESS;
}

static int expand(const step *s, const double *X, int64_t n, double *out, room *r) {
    int64_t k = s->sizes[CLASSES], wide = s->sizes[WIDE], form = s->sizes[FORM];
    const double *biases = s->arrays[BIASES];
    double *sums = take_numbers(r, n * k * wide), *totals = take_numbers(r, k);
    NEED(sums && totals && expansion_sums(s, X, n, sums, r));
    for (int64_t i = 0; i < n; i++, sums += k * wide, out += s->outputs) {
        if (form == VOTES) {
            vote_scores(sums, biases, k, wide, totals, out);
        } else if (form == MARGINS) {
            pair_margins(sums, biases, k, wide, out);
        } else if (form == DECISIONS) {
            for (int64_t a = 0, pair = 0; a < k; a++)
                for (int64_t b = a + 1; b < k; b++, pair++)
                    out[pair] = sums[a * wide + b - 1] + sums[b * wide + a] + biases[pair];
        } else {
            for (int64_t j = 0; j < wide; j++) out[j] = sums[j] + biases[j];
        }
    }
    return DONE;
}

static void choose_sides(const step *s, const double *X, int64_t n, double *out) {
    for (int64_t i = 0; i < n * s->inputs; i++) out[i] = X[i] > 0.0;
}

/* Scores from logits: probabilities stretched to [-1, 1]. */
static int map_softmax(const step *s, const double *X, int64_t n, double *out, room *r) {
    int64_t k = s->inputs;
    double *shares = take_numbers(r, k);
    NEED(shares);
    for (int64_t i = 0; i < n; i++, X += k, out += s->outputs) {
        memcpy(shares, X, sizeof(double) * (size_t)k);
        softmax_weights(shares, k, 1.0);
        if (s->outputs == 1) out[0] = shares[1] - shares[0];
        else
            for (int64_t j = 0; j < k; j++) out[j] = 2.0 * shares[j] - 1.0;
    }
    return DONE;
}

int transform(const step *s, const double *X, int64_t n, double *out, room *r) {
    switch (s->kind) {
    case COLUMNS: choose_columns(s, X, n, out); return DONE;
    case BLOCK_SUM: sum_blocks(s, X, n, out); return DONE;
    case AFFINE: map_affine(s, X, n, out); return DONE;
    case SCALING: scale(s, X, n, out); return DONE;
    case MONOMIALS: map_monomials(s, X, n, out); return DONE;
    case SIDES: choose_sides(s, X, n, out); return DONE;
    case SOFTMAX: return map_softmax(s, X, n, out, r);
    case EXPANSION: return expand(s, X, n, out, r);
    default:
        for (int64_t i = 0; i < n; i++)
            memcpy(out + i * s->outputs, s->arrays[0], sizeof(double) * (size_t)s->outputs);
        return DONE;
    }
}
