// Batches of 16 examples and more: products on tensor cores, weights in registers as accumulators.
//
// The accumulators of m16n8k16 lie in registers as its left factor wants them, so that weights become factors, and slopes
// of units too, without leaving their thread (`products.cuh`). Inputs lie in shared memory as bits, by example for the
// outputs and by coordinate for the gradient, and become factors in two instructions (`places.cuh`).
//
// A run has WARPS warps, each with TILES tiles of 16 units. A step has three parts: all warps compute the outputs of
// their units, a chunk of groups of examples after the other; then the slopes of the loss; then each tile its gradient,
// over all examples, and moves. Small batches need to wait for each other once a step, since every warp computes all
// slopes by itself; for large ones warps share them, in portions that bound what the sums take of shared memory.

#include "threefry.cuh"
#include "examples.cuh"
#include "functions.cuh"
#include "validation.cuh"
#include "products.cuh"
#include "descent.cuh"

#define THREADS (32 * WARPS)
#define INPUT_TILES ((N + 15) / 16)   // of 16 coordinates
#define COLUMNS (2 * INPUT_TILES)     // tiles of 8 coordinates
#define FEW (BATCH <= 16)             // examples, which fill half of the places of a group
#define EIGHTS (FEW ? 2 : 4)          // of a group
#define GROUPS (CHUNKS * CHUNK)       // of 32 examples; CHUNK of them are taken while a tile's weights are factors
#define PORTION (PORTION_CHUNKS * CHUNK)  // groups whose sums are kept at a time
#define PORTIONS ((CHUNKS + PORTION_CHUNKS - 1) / PORTION_CHUNKS)
#define BUFFERS (WARPS == 1 ? 1 : OWN_SLOPES ? 3 : 2)  // with slopes of its own a slow warp is up to a step behind
#define TURNS (WARPS > 1 && OWN_SLOPES ? 2 : 1)
#define COPIES (OWN_SLOPES ? WARPS : 1)
#define SPAN (ITEMS >= THREADS ? 1 : THREADS / ITEMS < 10 ? THREADS / ITEMS : 10)  // steps whose words are drawn together

#if WARPS == 1
#define SYNCHRONIZE() __syncwarp()
#else
#define SYNCHRONIZE() __syncthreads()
#endif

#include "places.cuh"

// The examples of a step.
struct Laid {
  u32 by_example[WORDS][32 * GROUPS], by_coordinate[GROUPS][32 * WORDS], labels[GROUPS];
};

struct Unit {
  float bias, output;
};

#if SIGNED
typedef unsigned short Slope;  // a bfloat16
#define KEPT_WORDS ((CHUNK * EIGHTS + 7) / 8)  // of what is kept of a tile and a chunk for the gradient
#define KEPT_SHARED (CHUNKS > 1)
#else
typedef float Slope;
#define KEPT_WORDS 0
#define KEPT_SHARED 0
#endif

struct __align__(16) Shared {
  Slope slopes[COPIES][32 * GROUPS];
  Unit units[WARPS * TILES * 16];
  float sums[TURNS][WARPS][32 * PORTION], tried_sums[WARPS][32], slope_sums[WARPS];
#if KEPT_SHARED
  u32 kept[TILES][CHUNKS * KEPT_WORDS][THREADS];
#endif
  u32 words[SPAN * ITEMS + 1];
  Laid laid[BUFFERS];
  u32 tried[WORDS][32];
  Witnesses witnesses;
};
static_assert(BLOCK == THREADS && (sizeof(Shared) + 15) / 16 * 16 == SHARED_BYTES, "asked for at the launch");

// Inputs and labels of a step, laid out by all warps of the run.
__device__ __forceinline__ void lay_out(Laid &to, const u32 *words, const TARGET_TYPE *target, int warp) {
  const int lane = threadIdx.x % 32;
  for (int g = warp; g < (BATCH + 31) / 32; g += WARPS) {
    const int b = 32 * g + number_at(lane, FEW);
    const bool inside = taken_place(lane, FEW) && b < BATCH;
    Point x = {};
    float y = 1;
    if (inside) {
      x = example(words, b);
      y = flipped(label(x, target), words, b);
    }
#pragma unroll
    for (int w = 0; w < WORDS; ++w) {
      const u32 bits = placed(x.word[w], w);
      to.by_example[w][32 * g + lane] = bits;
      to.by_coordinate[g][32 * w + lane] = transposed(bits);
    }
    const u32 negative = __ballot_sync(~0u, y < 0);
    if (lane == 0) to.labels[g] = negative;
  }
}

struct Network {
  float weight[TILES][COLUMNS][4];  // rows lane / 4 and lane / 4 + 8, columns 2 * (lane % 4) and the next
  float constant;
  int k;
};

__device__ __forceinline__ int unit_of(int warp, int tile, int half) {
  return (warp * TILES + tile) * 16 + half * 8 + threadIdx.x % 32 / 4;
}

// The coordinate of weight i of column tile c.
__device__ __forceinline__ int coordinate_of(int c, int i) {
  return coordinate_at(c / 4, c % 4 * 4 + threadIdx.x % 4 + i % 2 * 16);
}

// Calls `visit` with each weight that a thread has, its unit and its coordinate.
template <typename Visit>
__device__ __forceinline__ void for_each_weight(Network &net, int warp, Visit visit) {
#pragma unroll
  for (int tile = 0; tile < TILES; ++tile)
#pragma unroll
    for (int c = 0; c < COLUMNS; ++c)
#pragma unroll
      for (int i = 0; i < 4; ++i) visit(net.weight[tile][c][i], unit_of(warp, tile, i / 2), coordinate_of(c, i));
}

// A tile of units as factors, with the biases and outputs of a thread's two rows.
struct Units {
  LeftFactor left[INPUT_TILES];
  Unit row[2];
};

__device__ __forceinline__ Units units_of(const Network &net, const Shared &shared, int warp, int tile) {
  Units units;
#pragma unroll
  for (int i = 0; i < INPUT_TILES; ++i) units.left[i] = left_factor(net.weight[tile][2 * i], net.weight[tile][2 * i + 1]);
#pragma unroll
  for (int half = 0; half < 2; ++half) units.row[half] = shared.units[unit_of(warp, tile, half)];
  return units;
}

// The sums of a tile of units on eight examples of a group; its words are `stride` apart.
__device__ __forceinline__ void preactivations(float (&z)[4], const Units &units, const u32 *group, int stride, int eight) {
  const int column = threadIdx.x % 32 / 4;
  z[0] = z[1] = units.row[0].bias, z[2] = z[3] = units.row[1].bias;
#pragma unroll
  for (int w = 0; w < WORDS; ++w) {
    const u32 bits = group[w * stride + place_of_column(eight, column)];
#pragma unroll
    for (int tile = 2 * w; tile < INPUT_TILES && tile < 2 * w + 2; ++tile)
      multiply_add(z, units.left[tile], factor_of_tile(bits, tile));
  }
}

// Adds a tile's part of the outputs on COUNT times eight examples of a group; `keep` sees the sums and the values.
template <int COUNT, typename Keep>
__device__ __forceinline__ void add_outputs(float *sums, const Units &units, int k, const u32 *group, int stride, Keep keep) {
#pragma unroll
  for (int eight = 0; eight < COUNT; ++eight) {
    float z[4], value[4];
    preactivations(z, units, group, stride, eight);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      value[i] = activation(z[i], k);
      sums[2 * eight + i % 2] = fmaf(units.row[i / 2].output, value[i], sums[2 * eight + i % 2]);
    }
    keep(eight, z, value);
  }
}

// Each warp's part of the outputs to shared memory, by the places of groups that have COUNT times eight examples.
template <int COUNT, int SUMS>
__device__ __forceinline__ void share_outputs(float (&sums)[SUMS], float *to) {
  const int first = over_rows(sums, [](float a, float b) { return a + b; });
#pragma unroll
  for (int c = 0; c < SHARE_OF_ROWS(SUMS); ++c) {
    const int i = first + c, eight = i / 2 % COUNT;
    to[i / (2 * COUNT) * 32 + place_of_column(eight, threadIdx.x % 4 * 2 + i % 2)] = sums[c];
  }
}

__device__ __forceinline__ float over_columns(float value) {
  value += __shfl_xor_sync(~0u, value, 1);
  return value + __shfl_xor_sync(~0u, value, 2);
}

#if SIGNED
#include "signed_gradient.cuh"
#else
#include "gradient.cuh"
#endif

// The outputs of a warp's units on one portion of the examples.
__device__ __forceinline__ void forward(const Network &net, Shared &shared, const Laid &at, Kept &kept, int portion,
                                        int turn, int warp) {
#pragma unroll 1
  for (int chunk = portion * PORTION_CHUNKS; chunk < CHUNKS && chunk < (portion + 1) * PORTION_CHUNKS; ++chunk) {
    float sums[2 * EIGHTS * CHUNK] = {};
#pragma unroll
    for (int tile = 0; tile < TILES; ++tile) {
      const Units units = units_of(net, shared, warp, tile);
      kept.begin(tile);
#pragma unroll
      for (int g = 0; g < CHUNK; ++g) {
        const u32 *group = at.by_example[0] + 32 * (chunk * CHUNK + g);
        add_outputs<EIGHTS>(sums + 2 * EIGHTS * g, units, net.k, group, 32 * GROUPS,
                            [&](int eight, const float (&z)[4], const float (&value)[4]) {
                              kept.add(tile, g * EIGHTS + eight, z, value);
                            });
      }
      kept.end(shared, tile, chunk);
    }
    share_outputs<EIGHTS>(sums, shared.sums[turn][warp] + 32 * CHUNK * (chunk % PORTION_CHUNKS));
  }
}

// The slopes of the loss on the examples of one portion, and what a lane has of their sum.
__device__ __forceinline__ float slopes(const Network &net, Shared &shared, const Laid &at, float margin, int portion,
                                        int turn, int warp) {
  const int lane = threadIdx.x % 32, first = portion * PORTION;
  float total = 0;
  for (int g = OWN_SLOPES ? 0 : warp; g < PORTION && first + g < GROUPS; g += OWN_SLOPES ? 1 : WARPS) {
    const bool inside = taken_place(lane, FEW) && 32 * (first + g) + number_at(lane, FEW) < BATCH;
    float slope = 0;
    if (inside) {
      float output = 0;
#pragma unroll
      for (int w = 0; w < WARPS; ++w) output += shared.sums[turn][w][32 * g + lane];
      slope = loss_slope(at.labels[first + g] >> lane & 1 ? -1.0f : 1.0f, output + net.constant, margin);
    }
    total += slope;
    shared.slopes[OWN_SLOPES ? warp : 0][32 * (first + g) + slot_of(lane)] = as_slope(slope);
  }
  return total;
}

// One step of gradient descent, and the layout of the next if there are words for it.
__device__ __forceinline__ void take_step(Network &net, const Pace &pace, Shared &shared, int buffer, int turn, float margin,
                                          int warp, const u32 *next, const TARGET_TYPE *target) {
  const int lane = threadIdx.x % 32;
  const Laid &at = shared.laid[buffer];
  Laid &after = shared.laid[(buffer + 1) % BUFFERS];
  Kept kept;
  float constant_gradient = 0;
#pragma unroll 1
  for (int portion = 0; portion < PORTIONS; ++portion) {
    const bool last = portion + 1 == PORTIONS;
    forward(net, shared, at, kept, portion, turn, warp);
    if (OWN_SLOPES && WARPS > 1 && next) lay_out(after, next, target, warp);
    SYNCHRONIZE();
    constant_gradient += slopes(net, shared, at, margin, portion, turn, warp);
    if (last) {
#pragma unroll
      for (int by = 1; by < 32; by *= 2) constant_gradient += __shfl_xor_sync(~0u, constant_gradient, by);
    }
#if OWN_SLOPES
    __syncwarp();
#else
    if (last && lane == 0) shared.slope_sums[warp] = constant_gradient;
    if (last && next) lay_out(after, next, target, warp);
    SYNCHRONIZE();
#endif
  }
#if !OWN_SLOPES
  constant_gradient = 0;
#pragma unroll
  for (int w = 0; w < WARPS; ++w) constant_gradient += shared.slope_sums[w];
#endif
#pragma unroll
  for (int tile = 0; tile < TILES; ++tile) {
    Gradient gradient;
    find_gradient(gradient, net, shared, at, kept, tile, warp);
    move_tile(net, shared, pace, gradient, warp, tile);
  }
  net.constant = moved(net.constant, constant_gradient / BATCH, pace.rate[3], pace.shrink[3]);
  __syncwarp();  // units have moved in shared memory
#if WARPS == 1
  if (next) lay_out(after, next, target, warp);
  __syncwarp();
#endif
}

// The output on the point of each lane; of COUNT times eight places, to which lanes without one hold copies.
template <int COUNT>
__device__ __forceinline__ float outputs_on(const Point &x, const Network &net, Shared &shared, int warp, int place) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int w = 0; w < WORDS; ++w)
    if (warp == 0) shared.tried[w][lane] = placed(x.word[w], w);
  SYNCHRONIZE();
  float sums[2 * COUNT] = {};
#pragma unroll
  for (int tile = 0; tile < TILES; ++tile) {
    const Units units = units_of(net, shared, warp, tile);
    add_outputs<COUNT>(sums, units, net.k, shared.tried[0], 32, [](int, const float (&)[4], const float (&)[4]) {});
  }
  share_outputs<COUNT>(sums, shared.tried_sums[warp]);
  SYNCHRONIZE();
  float output = 0;
#pragma unroll
  for (int w = 0; w < WARPS; ++w) output += shared.tried_sums[w][place];
  return output + net.constant;
}

// The outcome that a run's witnesses and the first validation points show.
__device__ __forceinline__ int tried(const Network &net, const TARGET_TYPE *target, const u32 *points, Shared &shared,
                                     int warp, int &start) {
  const int lane = threadIdx.x % 32, i = number_at(lane, true);
  static_assert(WITNESSES == 16, "they fill half of the places");
  float value = outputs_on<2>(witness(shared.witnesses, i), net, shared, warp, i % 8 + i / 8 * 16);
  if (__any_sync(~0u, !is_finite(value))) return DIVERGED;
  if (__any_sync(~0u, !(witness_label(shared.witnesses, i) * value > 0))) return RUNNING;
  for (int first = 0; first < POINTS; first += 32) {
    const bool inside = first + lane < POINTS;
    const Point x = point_at(points, inside ? first + lane : 0);
    const float y = label(x, target);
    value = outputs_on<4>(x, net, shared, warp, lane);
    if (__any_sync(~0u, inside && !is_finite(value))) return DIVERGED;
    const u32 wrong = __ballot_sync(~0u, inside && !(y * value > 0));
    if (!wrong) continue;
    SYNCHRONIZE();
    start = (start + 1) % WITNESSES;
    if (warp == 0 && lane == __ffs(wrong) - 1) replace(shared.witnesses, start, x, y);
    SYNCHRONIZE();
    return RUNNING;
  }
  return LEARNED;
}

extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT) train(PARAMETERS) {
  extern __shared__ __align__(16) unsigned char bytes[];
  Shared &shared = *(Shared *)bytes;
  const int at = blockIdx.x;
  if (!taken[at] || step_count[at] >= limit[at]) return;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;

  Network net;
  for_each_weight(net, warp, [&](float &value, int unit, int j) {
    value = unit < UNITS && j < N ? weight[((size_t)at * UNITS + unit) * N + j] : 0.0f;
  });
  for (int unit = threadIdx.x; unit < WARPS * TILES * 16; unit += THREADS) {
    const bool inside = unit < UNITS;
    const size_t from = (size_t)at * UNITS + unit;
    shared.units[unit] = Unit{inside ? bias[from] : 0.0f, inside ? output[from] : 0.0f};
  }
  net.constant = constant[at];
  net.k = DEGREE(at);
  const Numbers own = numbers_of(numbers + at * NUMBERS);
  const TARGET_TYPE *own_target = target + (size_t)at * TARGET_SIZE;
  const float *own_up = up + (size_t)at * UP_SIZE;
  const Key data = Key{key[2 * at], key[2 * at + 1]};
  u32 *own_witnesses = witnesses + (size_t)at * WITNESSES * WORDS;
  float *own_labels = witness_labels + at * WITNESSES;
  if (warp == 0 && lane == 0) take_witnesses(shared.witnesses, own_witnesses, own_labels);

  const int first = step_count[at], last = ROUNDS * EVERY;
  int now = first, seen = RUNNING, start = 0;
  auto draw = [&](int from) {  // the words of SPAN steps
    for (int item = threadIdx.x; item < SPAN * ITEMS; item += THREADS)
      shared.words[item] = drawn(folded(data, first + from + item / ITEMS), item % ITEMS, own_up, own.flips);
    SYNCHRONIZE();
  };
  draw(0);
  lay_out(shared.laid[0], shared.words, own_target, warp);
  SYNCHRONIZE();
  for (int i = 0, buffer = 0; i < last; ++i, buffer = (buffer + 1) % BUFFERS) {
    const bool more = i + 1 < last;
    if (more && (i + 1) % SPAN == 0) draw(i + 1);
    const u32 *next = more ? shared.words + (i + 1) % SPAN * ITEMS : 0;
    take_step(net, own.pace, shared, buffer, i % TURNS, own.margin, warp, next, own_target);
    if ((i + 1) % EVERY) continue;
    now += EVERY;
#if CHECKED
    seen = tried(net, own_target, points, shared, warp, start);
#endif
    if (seen != RUNNING || now >= limit[at]) break;
  }

  for_each_weight(net, warp, [&](float &value, int unit, int j) {
    if (unit < UNITS && j < N) weight[((size_t)at * UNITS + unit) * N + j] = value;
  });
  SYNCHRONIZE();
  for (int unit = threadIdx.x; unit < UNITS; unit += THREADS) {
    const size_t to = (size_t)at * UNITS + unit;
    bias[to] = shared.units[unit].bias, output[to] = shared.units[unit].output;
  }
  if (warp == 0 && lane == 0) {
    constant[at] = net.constant;
    step_count[at] = now;
    outcome[at] = seen;
    keep_witnesses(shared.witnesses, start, own_witnesses, own_labels);
  }
}
