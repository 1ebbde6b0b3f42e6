/* Strategies whose members are all asked, or those of a router, and whose answers add up. */
#include <math.h>

#include "plan.h"

static const double *gather(const routing *asked, const int64_t *order, int64_t count,
                            const double *X, int64_t n, int64_t width, room *r) {
    if (n == 1) return X;
    double *rows = take_numbers(r, count * width);
    for (int64_t i = 0; rows && i < count; i++)
        memcpy(rows + i * width, X + asked->row[order[i]] * width, sizeof(double) * (size_t)width);
    return rows;
}

int ask_group(const plan *p, const tally *t, int64_t number, const double *X, int64_t n,
                     room *r) {
    const step *s = t->strategy;
    const group *g = (const group *)s->arrays[GROUP_TABLE] + number;
    const unit *units = s->arrays[UNITS];
    room before = *r;
    if (g->router < 0) {
        for (const unit *u = units + g->first; u < units + g->last; u++) {
            double *values = take_numbers(r, n * (u->last - u->first));
            NEED(values);
            TRY(run(p, u->step, X, n, values, r));
            for (int64_t i = 0; i < n; i++)
                add_answers(t, i, u->first, u->last, values + i * (u->last - u->first), 1.0);
            give_back(r, before);
        }
        return DONE;
    }
    routing asked;
    int64_t *starts, *order;
    TRY(route(p, g->router, X, n, &asked, r));
    TRY(sort_by_member(&asked, g->last - g->first, &starts, &order, r));
    int one = s->sizes[GROUPS] == 1 && p->steps[g->router].kind <= LOOKUP;
    room here = *r;
    for (int64_t m = 0; m < g->last - g->first; m++) {
        const unit *u = units + g->first + m;
        int64_t count = starts[m + 1] - starts[m], wide = u->last - u->first;
        if (!count) continue;
        const int64_t *mine = order + starts[m];
        const double *rows = gather(&asked, mine, count, X, n, s->inputs, r);
        double *values = take_numbers(r, count * wide);
        NEED(rows && values);
        TRY(run(p, u->step, rows, count, values, r));
        for (int64_t i = 0; i < count; i++) {
            if (one) t->home[asked.row[mine[i]]] = (double)m;
            add_answers(t, asked.row[mine[i]], u->first, u->last, values + i * wide,
                        asked.weight ? asked.weight[mine[i]] : 1.0);
        }
        give_back(r, here);
    }
    give_back(r, before);
    return DONE;
}

/* Classes that a row's members were not trained on have a score of their own in that group. */
static void add_unseen(const tally *into, const tally *group, double *spoken, int routed,
                       double unseen, int64_t n) {
    int64_t k = into->strategy->sizes[N_CLASSES];
    for (int64_t i = 0; i < n; i++) {
        double *sums = group->sums + i * k, *met = group->known + i * k, most = 0.0;
        for (int64_t c = 0; c < k; c++) most = met[c] > most ? met[c] : most;
        for (int64_t c = 0; c < k; c++) {
            if (met[c] > 0.0) spoken[i * k + c] = 1.0;
            int missing = routed && !(met[c] > 0.0) && most > 0.0;
            into->sums[i * k + c] += missing ? most * unseen : sums[c];
            into->known[i * k + c] += missing ? most : met[c];
        }
    }
}

/* A member that does not know a class is sure that it loses. */
static void add_totals(const tally *into, const tally *group, int64_t n) {
    int64_t k = into->strategy->sizes[N_CLASSES];
    for (int64_t i = 0; i < n * k; i++) {
        double missing = group->asked[i / k] - group->known[i];
        into->sums[i] += group->sums[i] - (missing > 0.0 ? missing : 0.0);
        into->known[i] += group->known[i];
    }
}

/* A group is a tree over the classes: the probability of the path to each. */
static void add_paths(const tally *into, const tally *group, int64_t size) {
    for (int64_t i = 0; i < size; i++) {
        if (!(group->known[i] > 0.0)) continue;
        into->sums[i] += exp(group->main[i]);
        into->known[i] += 1.0;
    }
}

/* Ways of combining that treat each group by itself. */
static int sum_groups(const plan *p, const tally *t, const double *X, int64_t n, room *r) {
    const step *s = t->strategy, *c = t->combination;
    const group *groups = s->arrays[GROUP_TABLE];
    int64_t size = n * s->sizes[N_CLASSES];
    for (int64_t g = 0; g < s->sizes[GROUPS]; g++) {
        tally own;
        room before = *r;
        TRY(start_tally(&own, s, c, n, r));
        own.least = t->least;
        own.home = t->home;
        TRY(ask_group(p, &own, g, X, n, r));
        if (c->kind == TOTAL) add_totals(t, &own, n);
        else if (c->kind == PATH) add_paths(t, &own, size);
        else add_unseen(t, &own, t->main, groups[g].router >= 0, c->numbers[0], n);
        give_back(r, before);
    }
    for (int64_t i = 0; i < size && c->kind == MEAN; i++)
        if (!(t->main[i] > 0.0)) t->known[i] = 0.0;
    return DONE;
}

int combine_sums(const plan *p, const step *s, const step *c, const double *X, int64_t n,
                        double *out, room *r) {
    int64_t k = s->sizes[N_CLASSES];
    int by_group = c->kind == TOTAL || c->kind == PATH || (c->kind == MEAN && c->sizes[0]);
    tally t;
    double *scores = take_numbers(r, 2 * k);
    NEED(scores);
    TRY(start_tally(&t, s, c, n, r));
    if (by_group) TRY(sum_groups(p, &t, X, n, r));
    for (int64_t g = 0; g < s->sizes[GROUPS] && !by_group; g++) TRY(ask_group(p, &t, g, X, n, r));
    for (int64_t i = 0; i < n; i++) {
        score(&t, i, scores, scores + k);
        give_scores(&t, i, scores, scores + k, out + i * s->outputs);
    }
    return DONE;
}

int mean_label(const plan *p, const step *s, const double *x, int64_t *label, room *r) {
    const unit *units = s->arrays[UNITS];
    const int64_t *classes = s->arrays[CODE_CLASSES];
    const group *groups = s->arrays[GROUP_TABLE];
    int64_t k = s->sizes[N_CLASSES], last = groups[s->sizes[GROUPS] - 1].last;
    double *scores = take_numbers(r, 5 * k), least = -DBL_MAX;
    NEED(scores);
    memset(scores, 0, sizeof(double) * (size_t)(5 * k));
    double *errors = scores + k, *known = errors + k, *own = known + k, *doubt = own + k;
    *label = -1;
    for (const unit *u = units; u < units + last; u++) {
        room before = *r;
        int64_t at = u->step;
        const double *seen = x;
        TRY(follow(p, &at, &seen, 1, r));
        if (!quick_scores(p->steps + at, seen, own, doubt, r)) return DONE;
        for (int64_t j = u->first; j < u->last; j++) {
            scores[classes[j]] += own[j - u->first];
            errors[classes[j]] += doubt[j - u->first];
            known[classes[j]] += 1.0;
        }
        give_back(r, before);
    }
    for (int64_t c = 0; c < k; c++) {
        if (!(known[c] > 0.0)) continue;
        scores[c] /= known[c];
        /* Double precision is far below the doubts; where these are zero, it has some room. */
        errors[c] = errors[c] / known[c] + 1e-9;
        if (scores[c] - errors[c] > least) {
            least = scores[c] - errors[c];
            *label = c;
        }
    }
    for (int64_t c = 0, winner = *label; c < k; c++)
        if (c != winner && known[c] > 0.0 && !(scores[c] + errors[c] < least)) *label = -1;
    return DONE;
}

int vote_label(const plan *p, const step *s, const double *x, int64_t *label, room *r) {
    const unit *units = s->arrays[UNITS];
    const int64_t *starts = s->arrays[CODE_STARTS], *classes = s->arrays[CODE_CLASSES];
    const group *groups = s->arrays[GROUP_TABLE];
    const double *signs = s->arrays[CODE_SIGNS];
    int64_t k = s->sizes[N_CLASSES], found, equal = 0;
    double *votes = take_numbers(r, k);
    NEED(votes);
    memset(votes, 0, sizeof(double) * (size_t)k);
    for (const unit *u = units; u < units + groups[s->sizes[GROUPS] - 1].last; u++) {
        TRY(find_labels(p, u->step, x, 1, &found, r));
        for (int64_t e = starts[u->first + found]; e < starts[u->first + found + 1]; e++)
            if (signs[e] > 0.0) votes[classes[e]] += 1.0;
    }
    *label = largest(votes, k);
    for (int64_t c = 0; c < k; c++) equal += !(votes[c] < votes[*label]);
    if (equal > 1) *label = -1;
    return DONE;
}
