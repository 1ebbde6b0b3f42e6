/* A fitted strategy laid out as steps, and executed for one row or a block of rows. */
#include "plan.h"

int follow(const plan *p, int64_t *at, const double **X, int64_t n, room *r) {
    const step *s = p->steps + *at;
    while (s->kind == CHAIN) {
        const int64_t *parts = s->arrays[0];
        for (int64_t c = 0; c + 1 < s->sizes[0]; c++) {
            double *next = take_numbers(r, n * p->steps[parts[c]].outputs);
            NEED(next);
            TRY(run(p, parts[c], *X, n, next, r));
            *X = next;
        }
        *at = parts[s->sizes[0] - 1];
        s = p->steps + *at;
    }
    return DONE;
}

static int combine(const plan *p, const step *s, const double *X, int64_t n, double *out,
                   room *r) {
    const step *c = p->steps + s->sizes[COMBINATION];
    if (c->kind == WALK) return combine_walk(p, s, c, X, n, out, r);
    if (c->kind == STACK) return combine_stack(p, s, c, X, n, out, r);
    return combine_sums(p, s, c, X, n, out, r);
}

static int run_step(const plan *p, int64_t at, const double *X, int64_t n, double *out, room *r) {
    TRY(follow(p, &at, &X, n, r));
    const step *s = p->steps + at;
    switch (s->kind) {
    case STRATEGY: return combine(p, s, X, n, out, r);
    case ASK: return p->ask(at, X, n, out) ? DONE : RAISED;
    default: return transform(s, X, n, out, r);
    }
}

int run(const plan *p, int64_t at, const double *X, int64_t n, double *out, room *r) {
    room before = *r;
    int result = run_step(p, at, X, n, out, r);
    give_back(r, before);
    return result;
}

/* Each row asks one member: its own label is the answer. */
static int routed_labels(const plan *p, const step *s, const double *X, int64_t n, int64_t *out,
                         room *r) {
    const group *g = s->arrays[GROUP_TABLE];
    const unit *units = s->arrays[UNITS];
    const int64_t *names = s->arrays[LABELS];
    int64_t *member = take(r, n, sizeof(int64_t));
    NEED(member);
    if (g->router < 0) memset(member, 0, sizeof(int64_t) * (size_t)n);
    else TRY(find_members(p, p->steps + g->router, X, n, member, r));
    for (int64_t i = 0; i < n; i++) {
        const unit *u = units + member[i];
        TRY(find_labels(p, u->step, X + i * s->inputs, 1, out + i, r));
        out[i] = names[2 * u->first + out[i]];
    }
    return DONE;
}

/* The classes with the largest scores. */
static int score_labels(const plan *p, int64_t at, const double *X, int64_t n, int64_t *out,
                        room *r) {
    const step *s = p->steps + at;
    double *scores = take_numbers(r, n * s->outputs);
    NEED(scores);
    TRY(run(p, at, X, n, scores, r));
    for (int64_t i = 0; i < n; i++)
        out[i] = s->outputs == 1 ? scores[i] > 0.0 : largest(scores + i * s->outputs, s->outputs);
    return DONE;
}

static int label_rows(const plan *p, int64_t at, const double *X, int64_t n, int64_t *out,
                      room *r) {
    TRY(follow(p, &at, &X, n, r));
    const step *s = p->steps + at;
    const int64_t *order = NULL;
    if (s->kind >= AXIS_TREE && s->kind <= LOOKUP)
        return find_members(p, s, X, n, out, r);
    int64_t by = s->kind == STRATEGY ? s->sizes[BY_LABEL] : 0;
    if (by == BY_VOTES || by == BY_MEANS) {
        for (int64_t i = 0; i < n; i++) {
            const double *x = X + i * s->inputs;
            TRY(by == BY_VOTES ? vote_label(p, s, x, out + i, r) : mean_label(p, s, x, out + i, r));
            if (out[i] < 0) TRY(score_labels(p, at, X + i * s->inputs, 1, out + i, r));
        }
        return DONE;
    }
    if (by == BY_ONE) return routed_labels(p, s, X, n, out, r);
    if (s->kind == STRATEGY && s->sizes[PAIRS] >= 0) {
        order = p->steps[s->sizes[COMBINATION]].arrays[0];
        at = s->sizes[PAIRS];
        TRY(follow(p, &at, &X, n, r));
        s = p->steps + at;
    }
    if (s->kind == EXPANSION && (order || s->sizes[FORM] == VOTES)) {
        for (int64_t i = 0; i < n; i++) {
            room before = *r;
            out[i] = expansion_label(s, X + i * s->inputs, order, r);
            give_back(r, before);
            NEED(out[i] >= 0);
        }
        return DONE;
    }
    return score_labels(p, at, X, n, out, r);
}

int find_labels(const plan *p, int64_t at, const double *X, int64_t n, int64_t *out, room *r) {
    room before = *r;
    int result = label_rows(p, at, X, n, out, r);
    give_back(r, before);
    return result;
}

/* Beyond 1e100, and for what is not a number, exponents tell: comparisons may not. */
static int too_large(const double *X, int64_t count) {
    uint64_t found = 0;
    for (int64_t i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, X + i, sizeof bits);
        found |= (uint64_t)((bits & UINT64_C(0x7ff0000000000000)) > UINT64_C(0x54b0000000000000));
    }
    return found != 0;
}

enum { OWN = 1 << 16 };

/* Scores (n, outputs) of the last step, or labels where these are asked for. */
EXPORT int64_t dcsvm_plan(const plan *p, int64_t at, const double *X, int64_t n, double *scores,
                          int64_t *found) {
    char own[OWN] __attribute__((aligned(ALIGNED)));
    room r = {own, own + OWN, NULL}, before = r;
    if (too_large(X, n * p->steps[at].inputs)) return TOO_LARGE;
    int result = found ? find_labels(p, at, X, n, found, &r) : run(p, at, X, n, scores, &r);
    give_back(&r, before);
    return result;
}
