// Batches of 16 examples and more: products on tensor cores, weights in registers as accumulators.
//
// The accumulators of m16n8k16 lie in registers as its left factor wants them, so that weights become factors, and slopes
// of units too, without leaving their thread (`products.cuh`). Inputs lie in shared memory as bits, by example for the
// outputs and by coordinate for the gradient, and become factors in two instructions (`places.cuh`).
//
// A run has WARPS warps, each with TILES tiles of 16 units, of which PAIR share the factors that are made of inputs. A step
// has three parts: all warps compute the outputs of their units, a chunk of groups of examples after the other; then
// the slopes of the loss; then each tile its gradient, over all examples, and moves. Small batches need to wait for each
// other once a step, since every warp computes all slopes by itself; for large ones warps share them, in portions that
// bound what the sums take of shared memory.

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
#define GROUPS (CHUNKS * CHUNK)       // of 32 examples; a chunk has at most eight times eight
#define PASSES ((TILES + PAIR - 1) / PAIR)
#define TOGETHER (PAIR > 1 ? 2 : 4)   // times eight examples whose products take turns
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
#define KEPT_SHARED (CHUNKS > 1)
#else
typedef float Slope;
#define KEPT_SHARED 0
#endif

struct __align__(16) Shared {
  Slope slopes[COPIES][32 * GROUPS];
  Unit units[WARPS * TILES * 16];
  float sums[TURNS][WARPS * PASSES][32 * PORTION], tried_sums[WARPS * PASSES][32], slope_sums[WARPS];
#if KEPT_SHARED
  u32 kept[TILES][CHUNKS][THREADS];
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

// The tiles of a pass.
struct Pass {
  Units units[PAIR];

  __device__ __forceinline__ Pass(const Network &net, const Shared &shared, int warp, int pass) {
#pragma unroll
    for (int u = 0; u < PAIR; ++u)
      if (pass * PAIR + u < TILES) units[u] = units_of(net, shared, warp, pass * PAIR + u);
  }
};

// The sums of TILE_COUNT tiles of units on COUNT times eight examples of a group, from number `eight` on; its words are
// `stride` apart.
template <int TILE_COUNT, int COUNT>
__device__ __forceinline__ void preactivations(float (&z)[TILE_COUNT][COUNT][4], const Units *units, const u32 *group,
                                               int stride, int eight) {
  const int column = threadIdx.x % 32 / 4;
#pragma unroll
  for (int u = 0; u < TILE_COUNT; ++u)
#pragma unroll
    for (int t = 0; t < COUNT; ++t)
#pragma unroll
      for (int i = 0; i < 4; ++i) z[u][t][i] = units[u].row[i / 2].bias;
#pragma unroll
  for (int w = 0; w < WORDS; ++w) {
    u32 bits[COUNT];
#pragma unroll
    for (int t = 0; t < COUNT; ++t) bits[t] = group[w * stride + place_of_column(eight + t, column)];
#pragma unroll
    for (int tile = 2 * w; tile < INPUT_TILES && tile < 2 * w + 2; ++tile) {
      Factor inputs[COUNT];
#pragma unroll
      for (int t = 0; t < COUNT; ++t) inputs[t] = factor_of_tile(bits[t], tile);
#pragma unroll
      for (int u = 0; u < TILE_COUNT; ++u) multiply_add(z[u], units[u].left[tile], inputs);
    }
  }
}

// Adds what the tiles of a pass give on COUNT times eight examples of a group; `keep` sees the sums of each.
template <int TILE_COUNT, int COUNT, typename Keep>
__device__ __forceinline__ void add_outputs(float *sums, const Units *units, int k, const u32 *group, int stride, Keep keep) {
  constexpr int AT_ONCE = COUNT < TOGETHER ? COUNT : TOGETHER;
#pragma unroll
  for (int first = 0; first < COUNT; first += AT_ONCE) {
    float z[TILE_COUNT][AT_ONCE][4];
    preactivations(z, units, group, stride, first);
#pragma unroll
    for (int u = 0; u < TILE_COUNT; ++u)
#pragma unroll
      for (int t = 0; t < AT_ONCE; ++t) {
        const int eight = first + t;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const float output = units[u].row[i / 2].output;
          float &sum = sums[2 * eight + i % 2];
#if SIGNED  // twice ReLU, for which one addition is enough
          sum = fmaf(0.5f * output, z[u][t][i] + fabsf(z[u][t][i]), sum);
#else
          sum = fmaf(output, activation(z[u][t][i], k), sum);
#endif
        }
        keep(u, eight, z[u][t]);
      }
  }
}

// The same for a pass, whose tiles may be fewer at the end.
template <int COUNT, typename Keep>
__device__ __forceinline__ void add_outputs(float *sums, const Pass &of, int pass, int k, const u32 *group, int stride,
                                            Keep keep) {
  if ((pass + 1) * PAIR <= TILES) add_outputs<PAIR, COUNT>(sums, of.units, k, group, stride, keep);
  else add_outputs<1, COUNT>(sums, of.units, k, group, stride, keep);
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
#pragma unroll
  for (int pass = 0; pass < PASSES; ++pass) {
    const Pass of(net, shared, warp, pass);
#pragma unroll 1
    for (int chunk = portion * PORTION_CHUNKS; chunk < CHUNKS && chunk < (portion + 1) * PORTION_CHUNKS; ++chunk) {
      float sums[2 * EIGHTS * CHUNK] = {};
      Keeper keeper;
#pragma unroll
      for (int g = 0; g < CHUNK; ++g)
        add_outputs<EIGHTS>(sums + 2 * EIGHTS * g, of, pass, net.k, at.by_example[0] + 32 * (chunk * CHUNK + g), 32 * GROUPS,
                            [&](int u, int eight, const float (&z)[4]) {
                              keeper.add(kept, pass * PAIR + u, u, g * EIGHTS + eight, z);
                            });
#pragma unroll
      for (int u = 0; u < PAIR; ++u)
        if (pass * PAIR + u < TILES) keeper.end(kept, shared, pass * PAIR + u, u, chunk);
      share_outputs<EIGHTS>(sums, shared.sums[turn][warp * PASSES + pass] + 32 * CHUNK * (chunk % PORTION_CHUNKS));
    }
  }
}

// The sums of all warps at a place.
template <int PLACES>
__device__ __forceinline__ float sum_of(const float (&sums)[WARPS * PASSES][PLACES], int place) {
  float total = 0;
#pragma unroll
  for (int i = 0; i < WARPS * PASSES; ++i) total += sums[i][place];
  return total;
}

// The slopes of the loss on the examples of one portion, and what a lane has of their sum.
__device__ __forceinline__ float slopes(const Network &net, Shared &shared, const Laid &at, Objective objective, int portion,
                                        int turn, int warp) {
  const int lane = threadIdx.x % 32, first = portion * PORTION;
  float total = 0;
  for (int g = OWN_SLOPES ? 0 : warp; g < PORTION && first + g < GROUPS; g += OWN_SLOPES ? 1 : WARPS) {
    const bool inside = taken_place(lane, FEW) && 32 * (first + g) + number_at(lane, FEW) < BATCH;
    float slope = 0;
    if (inside) {
      const float output = sum_of(shared.sums[turn], 32 * g + lane) + net.constant;
      slope = loss_slope(at.labels[first + g] >> lane & 1 ? -1.0f : 1.0f, output, objective);
    }
    total += slope;
    shared.slopes[OWN_SLOPES ? warp : 0][32 * (first + g) + slot_of(lane)] = as_slope(slope);
  }
  return total;
}

// One step of gradient descent, and the layout of the next if there are words for it.
__device__ __forceinline__ void take_step(Network &net, const Pace &pace, Shared &shared, int buffer, int turn, Objective objective,
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
    constant_gradient += slopes(net, shared, at, objective, portion, turn, warp);
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
  move_units(net, shared, pace, at, kept, warp);
  net.constant = moved(net.constant, constant_gradient / BATCH, pace.rate[3], pace.shrink[3]);
  __syncwarp();  // units have moved in shared memory
#if WARPS == 1
  if (next) lay_out(after, next, target, warp);
  __syncwarp();
#endif
}

// The output on the point of each lane.
__device__ __forceinline__ float output_on(const Point &x, const Network &net, Shared &shared, int warp) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int w = 0; w < WORDS; ++w)
    if (warp == 0) shared.tried[w][lane] = placed(x.word[w], w);
  SYNCHRONIZE();
#pragma unroll
  for (int pass = 0; pass < PASSES; ++pass) {
    const Pass of(net, shared, warp, pass);
    float sums[8] = {};
    add_outputs<4>(sums, of, pass, net.k, shared.tried[0], 32, [](int, int, const float (&)[4]) {});
    share_outputs<4>(sums, shared.tried_sums[warp * PASSES + pass]);
  }
  SYNCHRONIZE();
  return sum_of(shared.tried_sums, lane) + net.constant;
}

// The outcome that a run's witnesses and the first validation points show.
__device__ __forceinline__ int tried(const Network &net, const TARGET_TYPE *target, const u32 *points, Shared &shared,
                                     int warp, int &start) {
  const int lane = threadIdx.x % 32;
#pragma unroll 1
  for (int first = -32; first < POINTS; first += 32) {
    const bool known = first < 0, inside = known || first + lane < POINTS;
    const Point x = known ? witness(shared.witnesses, lane % WITNESSES) : point_at(points, inside ? first + lane : 0);
    const float y = known ? witness_label(shared.witnesses, lane % WITNESSES) : label(x, target);
    const float value = output_on(x, net, shared, warp);
    if (__any_sync(~0u, inside && !is_finite(value))) return DIVERGED;
    const u32 wrong = __ballot_sync(~0u, inside && !(y * value > 0));
    if (!wrong) continue;
    if (known) return RUNNING;
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
    take_step(net, own.pace, shared, buffer, i % TURNS, own.objective, warp, next, own_target);
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
