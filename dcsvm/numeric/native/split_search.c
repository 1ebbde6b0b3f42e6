/* The best cut of a node: over the bins of its histogram, or over its sorted values. */
#include "histogram_tree.h"

/* Single-precision numbers in their order as integers; both zeros are one. */
INLINE uint32_t to_ordered(float x) {
    union {
        float value;
        uint32_t bits;
    } as = {x == 0.0f ? 0.0f : x};
    if (x == 0.0f) return 0x80000000u;
    return as.bits & 0x80000000u ? ~as.bits : as.bits | 0x80000000u;
}

INLINE float from_ordered(uint32_t ordered) {
    union {
        uint32_t bits;
        float value;
    } as = {ordered & 0x80000000u ? ordered ^ 0x80000000u : ~ordered};
    return as.value;
}

/* The next number below a finite one. */
static float next_below(float x) {
    return from_ordered(to_ordered(x) - (x == 0.0f ? 2 : 1));
}

static float round_down(double x) {
    float rounded = (float)x;
    return (double)rounded > x ? next_below(rounded) : rounded;
}

/* Halfway between two values, rounded down, and below the second one. */
static float middle_of(float low, float high) {
    double middle = (double)low / 2.0 + (double)high / 2.0;
    float rounded = middle > FLT_MAX ? low : round_down(middle);
    return rounded < high ? rounded : low;
}

/* A random threshold at least low and below high. */
static double draw_threshold(uint64_t key, int64_t feature, float low, float high) {
    uint64_t drawn = mix(mix(key + THRESHOLD_KEY) + (uint64_t)feature);
    double top = high > FLT_MAX ? FLT_MAX : high, share = (double)(drawn >> 11) * 0x1p-53;
    double threshold = (double)low + share * (top - (double)low);
    return threshold < high ? threshold : low;
}

typedef struct {
    uint64_t draw;
    int64_t feature;
} drawn_feature;

static int by_draw(const void *a, const void *b) {
    const drawn_feature *x = a, *y = b;
    if (x->draw != y->draw) return x->draw < y->draw ? -1 : 1;
    return x->feature < y->feature ? -1 : x->feature > y->feature;
}

static int64_t common_divisor(int64_t a, int64_t b) {
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* The features in the order they are tried, at random. All of them are only stepped through, so
   that no feature wins all ties. */
static void order_features(const tree_growth *g, tree_scratch *s, uint64_t key) {
    drawn_feature *draws = (drawn_feature *)s->draws;
    uint64_t drawn = mix(key + ORDER_KEY);
    if (g->tried >= g->features) {
        int64_t step = 1 + (int64_t)((drawn >> 32) % (uint64_t)g->features);
        int64_t at = (int64_t)((drawn & 0xFFFFFFFFu) % (uint64_t)g->features);
        while (common_divisor(step, g->features) > 1) step++;
        for (int64_t v = 0; v < g->features; v++, at = (at + step) % g->features) s->visits[v] = at;
        return;
    }
    for (int64_t f = 0; f < g->features; f++) {
        draws[f].draw = mix(drawn + (uint64_t)f);
        draws[f].feature = f;
    }
    qsort(draws, (size_t)g->features, sizeof(drawn_feature), by_draw);
    for (int64_t v = 0; v < g->features; v++) s->visits[v] = draws[v].feature;
}

/* Cuts after each of the filled bins but the last: masses by class in s->cells, summed from the
   left, (classes, filled). */
static void judge_bins(const tree_growth *g, tree_scratch *s, int64_t filled) {
    double total = 0.0;
    for (int64_t k = 0; k < g->classes; k++) total += s->node[k];
    for (int64_t b = 0; b < filled; b++) s->left_sum[b] = s->right_sum[b] = 0.0;
    for (int64_t k = 0; k < g->classes; k++) {
        const double *mass = s->cells + k * MOST_BINS;
        double all = s->node[k];
        if (all <= 0.0) continue;
        if (g->gini)
            for (int64_t b = 0; b < filled; b++) {
                s->left_sum[b] += mass[b] * mass[b];
                s->right_sum[b] += (all - mass[b]) * (all - mass[b]);
            }
        else
            for (int64_t b = 0; b < filled; b++) {
                s->left_sum[b] += x_log_x(mass[b]);
                s->right_sum[b] += x_log_x(all - mass[b]);
            }
    }
    if (g->gini)
        for (int64_t b = 0; b < filled; b++)
            s->left_sum[b] = (s->left_mass[b] - s->left_sum[b] / s->left_mass[b]) +
                             (total - s->left_mass[b] -
                              s->right_sum[b] / (total - s->left_mass[b]));
    else
        for (int64_t b = 0; b < filled; b++)
            s->left_sum[b] = (x_log_x(s->left_mass[b]) - s->left_sum[b]) +
                             (x_log_x(total - s->left_mass[b]) - s->right_sum[b]);
}

/* Sum up the filled bins of a feature from the left; return how many there are. */
static int64_t fill_bins(const tree_growth *g, tree_scratch *s, const double *bins, int64_t count) {
    int64_t filled = 0;
    double so_far = 0.0;
    memset(s->left, 0, sizeof(double) * (size_t)g->classes);
    for (int64_t b = 0; b < count; b++) {
        const double *masses = bins + b * g->classes;
        double mass = 0.0;
        for (int64_t k = 0; k < g->classes; k++) mass += masses[k];
        if (mass <= 0.0) continue;
        for (int64_t k = 0; k < g->classes; k++)
            s->cells[k * MOST_BINS + filled] = s->left[k] += masses[k];
        so_far += mass;
        s->left_mass[filled] = so_far;
        s->filled[filled++] = b;
    }
    return filled;
}

tree_cut search_histogram(const tree_growth *g, tree_scratch *s, const double *histogram,
                          uint64_t key) {
    tree_cut best = {DBL_MAX, -1, -1, -1, 0.0f};
    int64_t tried = 0;
    order_features(g, s, key);
    for (int64_t v = 0; v < g->features && tried < g->tried; v++) {
        int64_t f = s->visits[v], start = g->starts[f];
        const float *uppers = g->uppers + start;
        int64_t filled =
            fill_bins(g, s, histogram + start * g->classes, g->starts[f + 1] - start);
        if (filled < 2) continue;
        tried++;
        judge_bins(g, s, filled - 1);
        int64_t at = 0;
        double threshold = 0.0;
        if (g->random) {
            float low = uppers[s->filled[0]], high = uppers[s->filled[filled - 1]];
            threshold = draw_threshold(key, f, low, high);
            while (at + 2 < filled && uppers[s->filled[at + 1]] <= threshold) at++;
        } else {
            for (int64_t b = 1; b + 1 < filled; b++)
                if (s->left_sum[b] < s->left_sum[at]) at = b;
        }
        if (!(s->left_sum[at] < best.impurity)) continue;
        float below = uppers[s->filled[at]], above = uppers[s->filled[at + 1]];
        best.impurity = s->left_sum[at];
        best.feature = f;
        best.low = best.high = -1;
        if (g->random) {
            best.threshold = g->exact[f] ? round_down(threshold) : below;
        } else if (g->exact[f]) {
            best.threshold = middle_of(below, above);
        } else {
            best.low = s->filled[at];
            best.high = s->filled[at + 1];
        }
    }
    return best;
}

enum { FEW_ITEMS = 32, DIGIT = 8, DIGITS = 1 << DIGIT };

/* Sort items by value; of equal values those of earlier rows come first. */
static void sort_items(item *items, item *spare, int64_t n) {
    if (n <= FEW_ITEMS) {
        for (int64_t i = 1; i < n; i++) {
            item here = items[i];
            int64_t at = i;
            for (; at && items[at - 1].value > here.value; at--) items[at] = items[at - 1];
            items[at] = here;
        }
        return;
    }
    uint32_t counts[4][DIGITS] = {{0}};
    for (int64_t i = 0; i < n; i++)
        for (int pass = 0; pass < 4; pass++)
            counts[pass][(items[i].value >> (pass * DIGIT)) & (DIGITS - 1)]++;
    item *from = items, *to = spare;
    for (int pass = 0; pass < 4; pass++) {
        uint32_t *count = counts[pass], sum = 0;
        if (count[(from[0].value >> (pass * DIGIT)) & (DIGITS - 1)] == (uint32_t)n) continue;
        for (int d = 0; d < DIGITS; d++) {
            uint32_t here = count[d];
            count[d] = sum;
            sum += here;
        }
        for (int64_t i = 0; i < n; i++)
            to[count[(from[i].value >> (pass * DIGIT)) & (DIGITS - 1)]++] = from[i];
        item *other = from;
        from = to;
        to = other;
    }
    if (from != items) memcpy(items, from, sizeof(item) * (size_t)n);
}

INLINE double small_term(const tree_growth *g, const tree_scratch *s, double mass) {
    if (s->table && mass < (double)s->table_size) return s->table[(int64_t)mass];
    return term_of(g, mass);
}

INLINE double small_impurity(const tree_growth *g, const tree_scratch *s, double total,
                             double sum) {
    if (g->gini || !(s->table && total < (double)s->table_size)) return impurity_of(g, total, sum);
    return s->table[(int64_t)total] - sum;
}

static void move_left(const tree_growth *g, tree_scratch *s, int64_t k, double mass) {
    s->left[k] += mass;
    s->right[k] -= mass;
    s->left_terms[k] = small_term(g, s, s->left[k]);
    s->right_terms[k] = small_term(g, s, s->right[k]);
}

static double impurity_of_sides(const tree_growth *g, const tree_scratch *s, double left,
                                double right) {
    double left_sum = 0.0, right_sum = 0.0;
    for (int64_t k = 0; k < g->classes; k++) {
        left_sum += s->left_terms[k];
        right_sum += s->right_terms[k];
    }
    return small_impurity(g, s, left, left_sum) + small_impurity(g, s, right, right_sum);
}

/* Set the masses left of the first item, and those right of it; return the left total. */
static double start_walk(const tree_growth *g, tree_scratch *s, const double *left) {
    double so_far = 0.0;
    for (int64_t k = 0; k < g->classes; k++) {
        s->left[k] = left ? left[k] : 0.0;
        s->right[k] = s->node[k] - s->left[k];
        s->left_terms[k] = small_term(g, s, s->left[k]);
        s->right_terms[k] = small_term(g, s, s->right[k]);
        so_far += s->left[k];
    }
    return so_far;
}

/* Try the cuts between different values of sorted items. `zeros` is the mass by class of rows
   without an item, whose value is 0; NULL if there are none. */
static void walk_items(const tree_growth *g, tree_scratch *s, int64_t feature, const item *items,
                       int64_t n, double so_far, const double *zeros, tree_cut *best) {
    uint32_t zero = to_ordered(0.0f), before = 0;
    double total = 0.0;
    for (int64_t k = 0; k < g->classes; k++) total += s->node[k];
    for (int64_t i = 0, begun = 0; i < n || zeros; begun = 1) {
        uint32_t here = i < n ? items[i].value : zero;
        if (zeros && zero < here) here = zero;
        if (begun) {
            double impurity = impurity_of_sides(g, s, so_far, total - so_far);
            if (impurity < best->impurity) {
                best->impurity = impurity;
                best->feature = feature;
                best->low = best->high = -1;
                best->threshold = middle_of(from_ordered(before), from_ordered(here));
            }
        }
        if (zeros && here == zero) {
            for (int64_t k = 0; k < g->classes; k++)
                if (zeros[k] > 0.0) {
                    move_left(g, s, k, zeros[k]);
                    so_far += zeros[k];
                }
            zeros = NULL;
        }
        for (; i < n && items[i].value == here; i++) {
            double mass = s->weights ? s->weights[items[i].row] : 1.0;
            move_left(g, s, s->labels[items[i].row], mass);
            so_far += mass;
        }
        before = here;
    }
}

/* Judge a random threshold between the least and the largest value of unsorted items. */
static void try_random(const tree_growth *g, tree_scratch *s, int64_t feature, const item *items,
                       int64_t n, const double *zeros, uint64_t key, tree_cut *best) {
    uint32_t least = zeros ? to_ordered(0.0f) : items[0].value, most = least;
    for (int64_t i = 0; i < n; i++) {
        least = items[i].value < least ? items[i].value : least;
        most = items[i].value > most ? items[i].value : most;
    }
    float threshold =
        round_down(draw_threshold(key, feature, from_ordered(least), from_ordered(most)));
    uint32_t limit = to_ordered(threshold);
    double so_far = start_walk(g, s, NULL), total = 0.0;
    for (int64_t k = 0; k < g->classes; k++) {
        total += s->node[k];
        if (zeros && to_ordered(0.0f) <= limit) {
            s->left[k] += zeros[k];
            so_far += zeros[k];
        }
    }
    for (int64_t i = 0; i < n; i++)
        if (items[i].value <= limit) {
            double mass = s->weights ? s->weights[items[i].row] : 1.0;
            s->left[s->labels[items[i].row]] += mass;
            so_far += mass;
        }
    for (int64_t k = 0; k < g->classes; k++) {
        s->left_terms[k] = small_term(g, s, s->left[k]);
        s->right_terms[k] = small_term(g, s, s->node[k] - s->left[k]);
    }
    double impurity = impurity_of_sides(g, s, so_far, total - so_far);
    if (impurity < best->impurity) {
        tree_cut cut = {impurity, feature, -1, -1, threshold};
        *best = cut;
    }
}

int make_room(const tree_growth *g, tree_scratch *s, int64_t rows, int64_t items) {
    int64_t needed = rows > items ? rows : items;
    if (needed <= s->room) return 1;
    needed += needed / 4;
    free(s->labels);
    free(s->weights);
    free(s->items);
    s->labels = malloc(sizeof(int32_t) * (size_t)needed);
    s->weights = g->masses ? malloc(sizeof(double) * (size_t)needed) : NULL;
    s->items = malloc(2 * sizeof(item) * (size_t)needed);
    s->spare = s->items + needed;
    s->room = s->labels && s->items && (s->weights || !g->masses) ? needed : 0;
    return s->room > 0;
}

static void note_row(const tree_growth *g, tree_scratch *s, int64_t i, int64_t row) {
    s->labels[i] = g->y[row];
    if (s->weights) s->weights[i] = g->masses[row];
}

/* Move the cut between two bins to the best one between their values. */
int refine_cut(const tree_growth *g, tree_scratch *s, const double *histogram,
               const int64_t *rows, int64_t n, tree_cut *best) {
    int64_t f = best->feature, found = 0;
    const double *bins = histogram + g->starts[f] * g->classes;
    if (!make_room(g, s, n, n)) return 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t code = g->codes[rows[i] * g->features + f];
        if (code != best->low && code != best->high) continue;
        note_row(g, s, found, rows[i]);
        s->items[found].value = to_ordered(value_at(g, rows[i], f));
        s->items[found].row = (uint32_t)found;
        found++;
    }
    sort_items(s->items, s->spare, found);
    memset(s->zeros, 0, sizeof(double) * (size_t)g->classes);
    for (int64_t b = 0; b < best->low; b++)
        for (int64_t k = 0; k < g->classes; k++) s->zeros[k] += bins[b * g->classes + k];
    double so_far = start_walk(g, s, s->zeros);
    best->impurity = DBL_MAX;
    walk_items(g, s, f, s->items, found, so_far, NULL, best);
    return 1;
}

/* The items of CSR rows by feature; s->first[f] is where those of f begin. */
static void group_items(const tree_growth *g, tree_scratch *s, const int64_t *rows, int64_t n) {
    memset(s->first, 0, sizeof(int64_t) * (size_t)(g->features + 2));
    int64_t *at = s->first + 1;
    for (int64_t i = 0; i < n; i++)
        for (int64_t e = g->places[rows[i]]; e < g->places[rows[i] + 1]; e++)
            at[g->columns[e] + 1]++;
    for (int64_t f = 0; f < g->features; f++) at[f + 1] += at[f];
    for (int64_t i = 0; i < n; i++)
        for (int64_t e = g->places[rows[i]]; e < g->places[rows[i] + 1]; e++) {
            item *to = s->items + at[g->columns[e]]++;
            to->value = to_ordered(g->values[e]);
            to->row = (uint32_t)i;
        }
}

/* The items of one feature, (*found) of them, and the mass of rows without any in s->zeros. */
static item *load_items(const tree_growth *g, tree_scratch *s, const int64_t *rows, int64_t n,
                        int64_t feature, int64_t *found) {
    if (g->X) {
        const double *X = g->X + feature;
        for (int64_t i = 0; i < n; i++) {
            s->items[i].value = to_ordered(to_float(X[rows[i] * g->features]));
            s->items[i].row = (uint32_t)i;
        }
        *found = n;
        return s->items;
    }
    item *items = s->items + s->first[feature];
    *found = s->first[feature + 1] - s->first[feature];
    memcpy(s->zeros, s->node, sizeof(double) * (size_t)g->classes);
    for (int64_t i = 0; i < *found; i++)
        s->zeros[s->labels[items[i].row]] -= s->weights ? s->weights[items[i].row] : 1.0;
    return items;
}

static int is_constant(const item *items, int64_t found, const double *zeros) {
    uint32_t first = zeros ? to_ordered(0.0f) : items[0].value;
    for (int64_t i = 0; i < found; i++)
        if (items[i].value != first) return 0;
    return 1;
}

int search_sorted(const tree_growth *g, tree_scratch *s, const int64_t *rows, int64_t n,
                  uint64_t key, tree_cut *best) {
    int64_t entries = 0, tried = 0;
    tree_cut none = {DBL_MAX, -1, -1, -1, 0.0f};
    *best = none;
    for (int64_t i = 0; i < n && !g->X; i++) entries += g->places[rows[i] + 1] - g->places[rows[i]];
    if (!make_room(g, s, n, entries)) return 0;
    for (int64_t i = 0; i < n; i++) note_row(g, s, i, rows[i]);
    if (!g->X) group_items(g, s, rows, n);
    order_features(g, s, key);
    for (int64_t v = 0; v < g->features && tried < g->tried; v++) {
        int64_t f = s->visits[v], found;
        item *items = load_items(g, s, rows, n, f, &found);
        const double *zeros = found < n ? s->zeros : NULL;
        if (is_constant(items, found, zeros)) continue;
        tried++;
        if (g->random) {
            try_random(g, s, f, items, found, zeros, key, best);
        } else {
            sort_items(items, s->spare, found);
            walk_items(g, s, f, items, found, start_walk(g, s, NULL), zeros, best);
        }
    }
    return 1;
}

int open_scratch(const tree_growth *g, tree_scratch *s) {
    size_t classes = (size_t)g->classes, features = (size_t)g->features;
    size_t table = g->masses || g->gini ? 0 : (size_t)g->sorted_rows + 1;
    size_t doubles = 6 * classes + table + (classes + 3) * MOST_BINS;
    size_t integers = MOST_BINS + 4 * features + 2;
    memset(s, 0, sizeof(*s));
    s->fixed = malloc(8 * (doubles + integers));
    if (!s->fixed) return 0;
    double *at = s->fixed;
    double **by_class[] = {&s->node,       &s->left,        &s->right,
                           &s->left_terms, &s->right_terms, &s->zeros};
    for (int i = 0; i < 6; i++, at += classes) *by_class[i] = at;
    s->left_mass = at;
    s->left_sum = at + MOST_BINS;
    s->right_sum = at + 2 * MOST_BINS;
    s->cells = at + 3 * MOST_BINS;
    at += (classes + 3) * MOST_BINS;
    s->table_size = (int64_t)table;
    s->table = table ? at : NULL;
    for (size_t i = 0; i < table; i++) s->table[i] = x_log_x((double)i);
    s->filled = (int64_t *)(at + table);
    s->visits = s->filled + MOST_BINS;
    s->first = s->visits + features;
    s->draws = (uint64_t *)(s->first + features + 2);
    return 1;
}

void close_scratch(tree_scratch *s) {
    free(s->fixed);
    free(s->labels);
    free(s->weights);
    free(s->items);
}
