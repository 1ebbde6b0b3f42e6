/* The steps of a plan, and the room for what they compute. */
#ifndef DCSVM_PLAN_H
#define DCSVM_PLAN_H

#include <float.h>

#include "numeric.h"

/* What a step is; row_plan.py names the kinds in the same order. */
enum {
    COLUMNS, BLOCK_SUM, AFFINE, SCALING, MONOMIALS, CONSTANT, SIDES, SOFTMAX, EXPANSION, CHAIN,
    STRATEGY, ASK,
    AXIS_TREE, PLANE_TREE, NEAREST, LOOKUP, SPILL, GATE, ASK_ROUTER,
    MEAN, VOTE, ARGMAX, DECODE, TOTAL, PATH, PRODUCT, COUPLE, WALK, STACK
};

/* A step takes rows of `inputs` numbers and gives rows of `outputs` numbers (a router: members). */
typedef struct {
    int64_t kind, inputs, outputs, sizes[6];
    double numbers[2];
    const void *arrays[9];
} step;

/* An expansion: sizes and arrays by place. Without EXACT, the kernel is computed plainly. */
enum { FORM, CLASSES, KERNEL, DEGREE, POINTS, WIDE };
enum { EXACT, QUICK, DOUBT, ORIGIN, KNOWN, BIASES, ROWS, COEFFICIENTS, STARTS };
/* What becomes of its sums: a bias is added, or decisions of pairs, their votes, or margins. */
enum { PLAIN, DECISIONS, VOTES, MARGINS };
/* What decisions of pairs are multiplied with for margins; see pair_votes.py. */
#define STEEPNESS 3.0

/* Memory by stack discipline: first a block of the caller, then the heap. */
typedef struct segment {
    struct segment *next;
} segment;
typedef struct {
    char *at, *end;
    segment *taken;
} room;

enum { ALIGNED = 64 };

INLINE void *take(room *r, int64_t count, size_t size) {
    size_t bytes = ((size_t)count * size + ALIGNED - 1) / ALIGNED * ALIGNED;
    if (bytes <= (size_t)(r->end - r->at)) {
        void *here = r->at;
        r->at += bytes;
        return here;
    }
    segment *fresh = malloc(bytes + ALIGNED);
    if (!fresh) return NULL;
    fresh->next = r->taken;
    r->taken = fresh;
    return (char *)fresh + ALIGNED;
}

INLINE double *take_numbers(room *r, int64_t count) { return take(r, count, sizeof(double)); }

INLINE void give_back(room *r, room before) {
    while (r->taken != before.taken) {
        segment *last = r->taken;
        r->taken = last->next;
        free(last);
    }
    *r = before;
}

/* Which members are asked for which rows; weight may be NULL. */
typedef struct {
    int64_t count;
    const int64_t *row, *member;
    const double *weight;
} routing;

/* Steps in Python: they give 1, or 0 after an exception. */
typedef int64_t (*asker)(int64_t step, const double *X, int64_t n, double *out);
typedef int64_t (*router_asker)(int64_t step, const double *X, int64_t n, routing *out);

typedef struct {
    const step *steps;
    asker ask;
    router_asker ask_router;
} plan;

enum { DONE, NO_MEMORY, RAISED, TOO_LARGE };
#define NEED(pointer) if (!(pointer)) return NO_MEMORY
#define TRY(call) do { int failed = (call); if (failed) return failed; } while (0)

/* A strategy: sizes and arrays by place. */
enum { BY_ONE = 1, BY_VOTES, BY_MEANS };
/* In the place of BY_LABEL: give scores as they are for each class, UNKNOWN where there is none,
   then the least probability of an unknown class, and the member that was asked. */
enum { AS_THEY_ARE = 4, MORE_OUTPUTS = 2 };
#define UNKNOWN (-DBL_MAX)
enum { GROUPS, N_CLASSES, COMBINATION, N_COLUMNS, BY_LABEL, PAIRS };
enum {
    GROUP_TABLE, UNITS, CODE_STARTS, CODE_CLASSES, CODE_SIGNS, MEMBER_ENDS, LABELS, WEIGHTS, UNSEEN
};

/* A group: its router or -1, and the range of its units. A unit is a member, or several that share
   kernel values: its step and the range of its columns. */
typedef struct {
    int64_t router, first, last;
} group;
typedef struct {
    int64_t step, first, last;
} unit;

/* What answers add up to, by row and class; by row the weight of the members asked, the least
   probability that they give to unknown classes, and the last of them. */
typedef struct {
    const step *strategy, *combination;
    double *main, *sums, *known, *asked, *least, *home, *logits;
} tally;

INLINE int64_t largest(const double *values, int64_t count) {
    int64_t best = 0;
    for (int64_t j = 1; j < count; j++)
        if (values[j] > values[best]) best = j;
    return best;
}

INLINE double clip(double z, double limit) { return z > limit ? limit : z < -limit ? -limit : z; }

INLINE double product(const double *a, const double *b, int64_t count) {
    enum { SUMS = 8 };
    double sums[SUMS] = {0}, rest = 0.0;
    int64_t whole = count / SUMS * SUMS;
    for (int64_t j = 0; j < whole; j += SUMS)
        for (int l = 0; l < SUMS; l++) sums[l] += a[j + l] * b[j + l];
    for (int64_t j = whole; j < count; j++) rest += a[j] * b[j];
    for (int l = 0; l < SUMS; l++) rest += sums[l];
    return rest;
}

/* All functions below give DONE or one of the other results above. */

/* The outputs of a step for n rows. */
/* The rows as the last step of a chain sees them, and that step. */
int follow(const plan *p, int64_t *at, const double **X, int64_t n, room *r);
int run(const plan *p, int64_t at, const double *X, int64_t n, double *out, room *r);
/* The labels of n rows. */
int find_labels(const plan *p, int64_t at, const double *X, int64_t n, int64_t *out, room *r);
int transform(const step *s, const double *X, int64_t n, double *out, room *r);
/* The member that a router other than one in Python sends each row to. */
int find_members(const plan *p, const step *s, const double *X, int64_t n, int64_t *member,
                 room *r);
int route(const plan *p, int64_t at, const double *X, int64_t n, routing *found, room *r);
/* Weights from logits, in place; they sum to one. */
void softmax_weights(double *logits, int64_t count, double steepness);
/* Routers that weigh several members. */
int share_rows(const plan *p, const step *s, const double *X, int64_t n, routing *found, room *r);
void look_up(const step *s, const double *X, int64_t n, int64_t *member);
int sort_by_member(const routing *asked, int64_t members, int64_t **starts, int64_t **order,
                   room *r);
/* Ask the members of a group, and add up their answers. */
int ask_group(const plan *p, const tally *t, int64_t number, const double *X, int64_t n, room *r);
int start_tally(tally *t, const step *s, const step *c, int64_t n, room *r);
/* Add the answers of columns first .. last - 1 for one row. */
void add_answers(const tally *t, int64_t row, int64_t first, int64_t last, const double *values,
                 double routed);
/* The scores of a row as the strategy gives them. */
void give_scores(const tally *t, int64_t row, double *scores, const double *known, double *out);
/* Scores by class from the sums of one row; 1 in `known` where a member scored the class. */
void score(const tally *t, int64_t row, double *out, double *known);
/* Classes without a score get one below the others; two classes are one column. */
void finish(double *scores, const double *known, int64_t k, double *out);
int combine_sums(const plan *p, const step *s, const step *c, const double *X, int64_t n,
                 double *out, room *r);
/* The class with most votes, from the labels of all members; -1 where several have as many. */
int vote_label(const plan *p, const step *s, const double *x, int64_t *label, room *r);
int combine_walk(const plan *p, const step *s, const step *c, const double *X, int64_t n,
                 double *out, room *r);
int combine_stack(const plan *p, const step *s, const step *c, const double *X, int64_t n,
                  double *out, room *r);

/* The label with the largest mean score, from scores in single precision; -1 where rounding could
   change it. */
int mean_label(const plan *p, const step *s, const double *x, int64_t *label, room *r);

/* Sums (n, classes, columns) of an expansion; 0 where memory ran out. */
int expansion_sums(const step *s, const double *X, int64_t n, double *sums, room *r);
/* The label of one row by votes or, with an order of classes, by a walk; -1 without memory. */
/* Scores by votes of one row in single precision, and how far they may be off; 0 where nothing can
   be said. */
int quick_scores(const step *s, const double *x, double *scores, double *errors, room *r);
int64_t expansion_label(const step *s, const double *x, const int64_t *order, room *r);

EXPORT void dcsvm_leaves(const double *X, int64_t n, int64_t depth, const int64_t *left,
                         const int64_t *right, const int64_t *feature, const float *threshold,
                         int64_t *leaf);

#endif
