/* What the answers of members add up to, and the scores that follow. */
#include <math.h>

#include "plan.h"

/* Exponents of many pairs are summed up. */
#define STEEPEST 300.0

enum { HAMMING, HINGE, EXPONENTIAL, LINEAR_LOSS };

int start_tally(tally *t, const step *s, const step *c, int64_t n, room *r) {
    int64_t k = s->sizes[N_CLASSES], numbers = 3 * (n * k + n) + k;
    *t = (tally){.strategy = s, .combination = c, .main = take_numbers(r, numbers)};
    NEED(t->main);
    memset(t->main, 0, sizeof(double) * (size_t)numbers);
    t->sums = t->main + n * k;
    t->known = t->sums + n * k;
    t->asked = t->known + n * k;
    t->least = t->asked + n;
    t->home = t->least + n;
    t->logits = t->home + n;
    for (int64_t i = 0; i < n; i++) {
        t->least[i] = 0.5;
        t->home[i] = -1.0;
    }
    return DONE;
}

/* log(1 + exp(z)) */
static double softplus(double z) { return z > 0.0 ? z + log1p(exp(-z)) : log1p(exp(z)); }

/* What a column adds to the main sum of a class that it scores with a sign. */
static double gain(const step *c, double value, double sign, double weight) {
    double z = sign * value;
    switch (c->kind) {
    case DECODE:
        if (c->sizes[0] == HAMMING) return (value > 0.0 ? 0.5 : -0.5) * sign * weight;
        if (c->sizes[0] == HINGE) return (z < 1.0 ? z : 1.0) * weight;
        if (c->sizes[0] == EXPONENTIAL) return (1.0 - exp(-z < 500.0 ? -z : 500.0)) * weight;
        return z * weight;
    case PATH: return -softplus(-c->numbers[0] * z);
    case COUPLE: return exp(-clip(STEEPNESS * z, STEEPEST)) * weight;
    default: return 0.0;
    }
}

/* Add the log-probabilities of one member: the softmax of its scores, less what is left to the
   classes that it does not know. */
static void multiply(const tally *t, int64_t from, int64_t end, const double *values,
                     double weight, double *main) {
    const step *s = t->strategy;
    const int64_t *starts = s->arrays[CODE_STARTS], *classes = s->arrays[CODE_CLASSES];
    const double *signs = s->arrays[CODE_SIGNS];
    int64_t k = s->sizes[N_CLASSES], lacking = k;
    double steep = t->combination->numbers[0], floor = t->combination->numbers[1];
    double *logits = t->logits, most = UNKNOWN, total = 0.0;
    for (int64_t j = 0; j < k; j++) logits[j] = UNKNOWN;
    for (int64_t j = from; j < end; j++)
        for (int64_t e = starts[j]; e < starts[j + 1]; e++) {
            double *to = logits + classes[e], term = steep * signs[e] * values[j - from];
            int fresh = *to == UNKNOWN;
            lacking -= fresh;
            *to = fresh ? term : *to + term;
        }
    for (int64_t j = 0; j < k; j++) most = logits[j] > most ? logits[j] : most;
    for (int64_t j = 0; j < k; j++) total += logits[j] == UNKNOWN ? 0.0 : exp(logits[j] - most);
    double unseen = lacking ? ((const double *)s->arrays[UNSEEN])[from] : 0.0;
    for (int64_t j = 0; j < k; j++) {
        double share = logits[j] == UNKNOWN ? unseen / (double)lacking
                                            : exp(logits[j] - most) / total * (1.0 - unseen);
        main[j] += weight * log(share > floor ? share : floor);
    }
}

void add_answers(const tally *t, int64_t row, int64_t first, int64_t last, const double *values,
                 double routed) {
    const step *s = t->strategy, *c = t->combination;
    const int64_t *starts = s->arrays[CODE_STARTS], *classes = s->arrays[CODE_CLASSES];
    const int64_t *ends = s->arrays[MEMBER_ENDS];
    const double *signs = s->arrays[CODE_SIGNS], *own = s->arrays[WEIGHTS];
    const double *unseen = s->arrays[UNSEEN];
    int64_t place = row * s->sizes[N_CLASSES];
    double *main = t->main + place, *sums = t->sums + place, *known = t->known + place;
    for (int64_t from = first; from < last; from = ends[from]) {
        int64_t wide = ends[from] - from;
        double weight = own ? routed * own[from] : routed;
        int64_t chosen =
            wide > 1 && c->kind == VOTE ? from + largest(values + from - first, wide) : -1;
        t->asked[row] += weight;
        if (unseen[from] < t->least[row]) t->least[row] = unseen[from];
        if (c->kind == PRODUCT)
            multiply(t, from, from + wide, values + from - first, weight, main);
        for (int64_t j = from; j < from + wide; j++) {
            double value = values[j - first];
            for (int64_t e = starts[j]; e < starts[j + 1]; e++) {
                int64_t k = classes[e];
                if (c->kind == ARGMAX && signs[e] < 0.0) continue;
                sums[k] += signs[e] * value * weight;
                known[k] += weight;
                if (c->kind == VOTE && wide == 1)
                    main[k] += (value > 0.0) == (signs[e] > 0.0) ? weight : 0.0;
                else if (c->kind == VOTE && j == chosen && signs[e] > 0.0)
                    main[k] += weight;
                else if (c->kind != MEAN)
                    main[k] += gain(c, value, signs[e], weight);
            }
        }
    }
}

/* Log-probabilities over the classes that members know, the prior counted once. */
static void normalize(const tally *t, int64_t row, double *out, const double *known) {
    const double *logs = t->combination->arrays[0];
    int64_t k = t->strategy->sizes[N_CLASSES];
    double again = t->asked[row] > 1.0 ? t->asked[row] - 1.0 : 0.0, most = UNKNOWN, total = 0.0;
    for (int64_t c = 0; c < k; c++) {
        out[c] -= again * logs[c];
        if (known[c] > 0.0 && out[c] > most) most = out[c];
    }
    for (int64_t c = 0; c < k; c++) total += known[c] > 0.0 ? exp(out[c] - most) : 0.0;
    for (int64_t c = 0; c < k; c++) out[c] -= most + log(total > 0.0 ? total : 1.0);
}

void score(const tally *t, int64_t row, double *out, double *known) {
    int64_t k = t->strategy->sizes[N_CLASSES], kind = t->combination->kind;
    const double *main = t->main + row * k, *sums = t->sums + row * k, *total = t->known + row * k;
    for (int64_t c = 0; c < k; c++) {
        double sum = sums[c];
        known[c] = total[c] > 0.0;
        if (kind == VOTE) {
            double mean = sum / (total[c] > 1.0 ? total[c] : 1.0);
            out[c] = main[c] + mean / (3.0 * (fabs(mean) + 1.0));
        } else if (kind == DECODE) {
            out[c] = main[c];
            if (t->combination->sizes[0] == HAMMING) out[c] += sum / (5.0 * (fabs(sum) + 1.0));
        } else if (kind == TOTAL) {
            out[c] = sum;
        } else if (kind == COUPLE) {
            out[c] = -log1p(main[c]) / STEEPNESS;
        } else if (kind == PRODUCT) {
            out[c] = main[c];
        } else {
            out[c] = known[c] > 0.0 ? sum / total[c] : 0.0;
            if (kind == PATH) out[c] = 2.0 * out[c] - 1.0;
        }
    }
    if (kind == PRODUCT) normalize(t, row, out, known);
}

void finish(double *scores, const double *known, int64_t k, double *out) {
    double floor = 0.0;
    for (int64_t c = 0; c < k; c++)
        if (known[c] > 0.0 && scores[c] < floor) floor = scores[c];
    for (int64_t c = 0; c < k; c++)
        if (!(known[c] > 0.0)) scores[c] = floor - 1.0;
    if (k == 2) out[0] = (scores[1] - scores[0]) / 2.0;
    else memcpy(out, scores, sizeof(double) * (size_t)k);
}


void give_scores(const tally *t, int64_t row, double *scores, const double *known, double *out) {
    int64_t k = t->strategy->sizes[N_CLASSES];
    if (t->strategy->sizes[BY_LABEL] != AS_THEY_ARE) {
        finish(scores, known, k, out);
        return;
    }
    for (int64_t c = 0; c < k; c++) out[c] = known[c] > 0.0 ? scores[c] : UNKNOWN;
    out[k] = t->least[row];
    out[k + 1] = t->home[row];
}
