/* Pegasos whose batches hold all rows: the same steps, but only rows near the margin are asked.

   A row's margin moves by at most |(x, 1)| times the way that (w, b) made. So after one pass over
   all rows, those further than that from the margin need not be asked again until (w, b) has left
   a ball around where it was. While the same rows are inside the margin, w goes straight towards
   their subgradient, and the steps before the first row that crosses the margin are made at once. */
#include <float.h>
#include <math.h>

#include "pegasos.h"

typedef struct {
    const rows *X;
    const int64_t *order;
    const float *pulls;
    const pegasos_settings *s;
    pegasos_room *room;
    int64_t n, near, flips, t;
    double *w, bias, base_bias, fixed_bias, moving_bias, radius;
} descent;

/* Room that is rounding error of a margin in single precision, as a share of |x| |w|. */
static const double ROUNDING = 2e-6;

static void add(const rows *X, int64_t i, double factor, double *restrict to) {
    if (X->dense) {
        const float *restrict x = X->dense + i * X->stride;
        for (int64_t j = 0; j < X->stride; j++) to[j] += factor * x[j];
    } else {
        for (int64_t e = X->starts[i]; e < X->starts[i + 1]; e++)
            to[X->columns[e]] += factor * X->values[e];
    }
}

/* The margin of the row at a place, without the bias. */
INLINE double part_of_margin(const descent *d, int64_t at) {
    float product = quick_product(d->X, d->order[at], d->room->now);
    return d->pulls[at] > 0.0f ? product : -product;
}

INLINE double signed_bias(const descent *d, int64_t at) {
    return d->pulls[at] > 0.0f ? d->bias : -d->bias;
}

static void round_weights(const descent *d) {
    for (int64_t j = 0; j < d->X->stride; j++) d->room->now[j] = (float)d->w[j];
}

static double length(const double *w, int64_t stride) {
    double square = 0.0;
    for (int64_t j = 0; j < stride; j++) square += w[j] * w[j];
    return sqrt(square);
}

/* Ask all rows; keep those that may cross the margin while (w, b) stays within the radius. */
static void ask_all(descent *d) {
    pegasos_room *r = d->room;
    int64_t stride = d->X->stride;
    size_t bytes = sizeof(double) * (size_t)stride;
    double size = length(d->w, stride);
    memset(r->fixed, 0, bytes);
    memset(r->moving, 0, bytes);
    memcpy(r->base, d->w, bytes);
    d->base_bias = d->bias;
    d->fixed_bias = d->moving_bias = 0.0;
    d->near = 0;
    d->flips = 1;
    round_weights(d);
    for (int64_t i = 0; i < d->n; i++) {
        if (i + AHEAD < d->n) call_for(d->X, d->order[i + AHEAD]);
        double without = part_of_margin(d, i), margin = without + signed_bias(d, i);
        int inside = margin < 1.0;
        if (fabs(margin - 1.0) <= r->reach[i] * (d->radius + ROUNDING * (1.0 + size))) {
            r->loose[d->near] = (float)without;
            r->inside[d->near] = (int8_t)inside;
            r->places[d->near++] = i;
            if (inside) add(d->X, d->order[i], d->pulls[i], r->moving);
            if (inside) d->moving_bias += d->pulls[i];
        } else if (inside) {
            add(d->X, d->order[i], d->pulls[i], r->fixed);
            d->fixed_bias += d->pulls[i];
        }
    }
}

/* Ask the rows near the margin again. */
static void ask_near(descent *d) {
    pegasos_room *r = d->room;
    d->flips = 0;
    round_weights(d);
    for (int64_t c = 0; c < d->near; c++) {
        int64_t at = r->places[c];
        if (c + AHEAD < d->near) call_for(d->X, d->order[r->places[c + AHEAD]]);
        double without = part_of_margin(d, at);
        int inside = without + signed_bias(d, at) < 1.0;
        r->loose[c] = (float)without;
        if (inside == r->inside[c]) continue;
        double pull = inside ? d->pulls[at] : -d->pulls[at];
        r->inside[c] = (int8_t)inside;
        d->flips++;
        d->moving_bias += pull;
        add(d->X, d->order[at], pull, r->moving);
    }
}

static double distance(const descent *d) {
    double square = (d->bias - d->base_bias) * (d->bias - d->base_bias);
    for (int64_t j = 0; j < d->X->stride; j++)
        square += (d->w[j] - d->room->base[j]) * (d->w[j] - d->room->base[j]);
    return sqrt(square);
}

/* One step; gives how far it moved the weights. */
static double step(descent *d) {
    double rate = 1.0 / (d->s->regularization * (double)d->t), square = 0.0, moved = 0.0;
    double keep = 1.0 - 1.0 / (double)d->t, pull = rate / (double)d->n, back = 1.0;
    const double *fixed = d->room->fixed, *moving = d->room->moving;
    for (int64_t j = 0; j < d->X->stride; j++) {
        double next = keep * d->w[j] + pull * (fixed[j] + moving[j]);
        square += next * next;
    }
    if (d->s->project && square * d->s->regularization > 1.0)
        back = 1.0 / sqrt(square * d->s->regularization);
    for (int64_t j = 0; j < d->X->stride; j++) {
        double next = back * (keep * d->w[j] + pull * (fixed[j] + moving[j])), by = next - d->w[j];
        moved += by * by;
        d->w[j] = next;
    }
    d->bias += d->s->bias_rate * pull * (d->fixed_bias + d->moving_bias);
    d->t++;
    return sqrt(moved);
}

/* The sum of 1 / j from t up to t + steps - 1, by digamma's series. */
static double harmonic(double t, double steps) {
    double from = t, to = t + steps;
    double low = 1.0 / (2.0 * from) + 1.0 / (12.0 * from * from);
    return log1p(steps / from) - (1.0 / (2.0 * to) + 1.0 / (12.0 * to * to)) + low;
}

enum { EARLY = 200 };

/* How many steps leave every row near the margin on its side of it. From t on, m steps make at
   most the share m / t of the way to the target, and move the bias by at most m / t of its pull. */
static double steps_before_crossing(descent *d, double bias_pull, double most) {
    pegasos_room *r = d->room;
    for (int64_t c = 0; c < d->near && most >= 2.0; c++) {
        int64_t at = r->places[c];
        double sign = d->pulls[at] > 0.0f ? 1.0 : -1.0;
        double gap = 1.0 - (r->loose[c] + signed_bias(d, at));
        double by = sign * quick_product(d->X, d->order[at], r->sum) - r->loose[c];
        double bias_by = sign * bias_pull, rate;
        if (r->inside[c]) rate = fmax(by, 0.0) + fmax(bias_by, 0.0);
        else rate = fmax(-by, 0.0) + fmax(-bias_by, 0.0);
        if (rate > 0.0) most = fmin(most, fabs(gap) * (double)d->t / rate);
    }
    return most;
}

/* Make the steps up to the one before a row crosses the margin, the steps are shorter than the
   tolerance, or w leaves the radius or the ball it is projected to. */
static void leap(descent *d) {
    double lambda = d->s->regularization, t = (double)d->t, way = 0.0;
    double most = (double)(d->s->iterations - d->t), pull = 1.0 / (lambda * (double)d->n);
    double bias_pull = d->s->bias_rate * pull * (d->fixed_bias + d->moving_bias);
    for (int64_t j = 0; j < d->X->stride; j++) {
        double target = pull * (d->room->fixed[j] + d->room->moving[j]);
        d->room->sum[j] = (float)target;
        way += (target - d->w[j]) * (target - d->w[j]);
    }
    way = sqrt(way);
    most = fmin(most, (d->radius - distance(d)) * t / (way + fabs(bias_pull) + DBL_MIN));
    if (d->s->project)
        most = fmin(most, (1.0 / sqrt(lambda) - length(d->w, d->X->stride)) * t / (way + DBL_MIN));
    if (d->s->tolerance > 0.0)
        most = fmin(most, (1.0 + sqrt(1.0 + 4.0 * (t - 1.0) * way / d->s->tolerance)) / 2.0 - t);
    double steps = floor(steps_before_crossing(d, bias_pull, most)) - 1.0;
    if (!(steps >= 2.0)) return;
    double share = steps / (t - 1.0 + steps);
    for (int64_t j = 0; j < d->X->stride; j++)
        d->w[j] += share * (pull * (d->room->fixed[j] + d->room->moving[j]) - d->w[j]);
    d->bias += bias_pull * harmonic(t, steps);
    d->t += (int64_t)steps;
}

/* Learn from rows order[0 .. n - 1] as pegasos does, with all of them in every batch. */
int64_t pegasos_full_batch(const rows *X, const int64_t *order, int64_t n, const float *pulls,
                           const pegasos_settings *s, pegasos_room *room, double *w,
                           double *bias) {
    descent d = {.X = X, .order = order, .pulls = pulls, .s = s, .room = room, .n = n, .w = w};
    int64_t last = 0;
    d.t = 1;
    d.radius = 1e-3;
    memset(w, 0, sizeof(double) * (size_t)X->stride);
    for (int64_t i = 0; i < n; i++) room->reach[i] = (float)sqrt(1.0 + row_square(X, order[i]));
    while (!last && d.t <= s->iterations) {
        int64_t asked = 0;
        ask_all(&d);
        while (1) {
            if (!d.flips && d.t > EARLY) leap(&d);
            double moved = step(&d);
            if (moved <= s->tolerance) last = d.t - 1;
            if (last || d.t > s->iterations) break;
            asked += d.near;
            if (distance(&d) > d.radius) {
                if (asked < n) d.radius *= 1.5;
                break;
            }
            if (asked > 2 * n && d.near > 32) {
                d.radius /= 1.5;
                break;
            }
            ask_near(&d);
        }
    }
    *bias = d.bias;
    return last ? last : s->iterations;
}
