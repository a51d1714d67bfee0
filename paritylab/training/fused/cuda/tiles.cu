// Batches of 16 examples and more: products on tensor cores, weights in registers as accumulators.
//
// The accumulators of m16n8k16 lie in registers as its left factor wants them, so that weights become factors, and slopes
// of units too, without leaving their thread (`products.cuh`).
//
// A run has WARPS warps, each with TILES tiles of 16 units. Each step's inputs are laid out once, in shared memory, in
// the order in which threads take them as factors: coordinates by examples for the outputs, examples by coordinates
// for the gradient. While one step is taken, the next one is laid out. Large batches go in chunks: the gradients of all
// tiles are summed over them before anything moves.

#include "threefry.cuh"
#include "examples.cuh"
#include "functions.cuh"
#include "validation.cuh"
#include "products.cuh"
#include "descent.cuh"

#define THREADS (32 * WARPS)
#define CHUNKS ((BATCH + CHUNK - 1) / CHUNK)
#define PADDED (CHUNKS * CHUNK)   // examples; a chunk is a multiple of 16
#define FORWARD_TILES (CHUNK / 8)  // of 8 examples
#define BATCH_TILES (CHUNK / 16)   // of 16 examples
#define INPUT_TILES ((N + 15) / 16)      // of 16 coordinates
#define COLUMNS (2 * INPUT_TILES)        // tiles of 8 coordinates
#define BUFFERS (WARPS == 1 ? 1 : 3)     // a slow warp may still read what the last step laid out
#define SPAN (ITEMS >= THREADS ? 1 : THREADS / ITEMS < 10 ? THREADS / ITEMS : 10)  // steps whose words are drawn together
#define KEEP (!SIGNED && TILES * FORWARD_TILES <= 16)  // sums of units stay in registers; else they are computed again
#define GROUP 16                            // validation points that are tried together

#if WARPS == 1
#define SYNCHRONIZE() __syncwarp()
#else
#define SYNCHRONIZE() __syncthreads()
#endif

struct Chunk {
  Factor forward[INPUT_TILES * FORWARD_TILES][32], backward[BATCH_TILES * COLUMNS][32];
  float labels[CHUNK];
};

struct __align__(16) Shared {
  u32 words[SPAN * ITEMS + (PADDED - BATCH + 2) * WORDS + 2];  // what fills the batch up reads a little further
  Chunk chunks[BUFFERS];
  Factor tried[INPUT_TILES * GROUP / 8][32];
  float sums[2][WARPS][CHUNK];
  Witnesses witnesses;
};
static_assert(BLOCK == THREADS && sizeof(Shared) == SHARED_BYTES, "asked for at the launch");

// The bits of an example from coordinate `first` on.
__device__ __forceinline__ u32 bits_from(const u32 *words, int b, int first) {
#if UNIFORM_INPUTS
  const int bit = b * N + first;
  return __funnelshift_r(words[bit / 32], words[bit / 32 + 1], bit % 32);
#else
  return words[b * WORDS + first / 32] >> first % 32;  // `first` is a multiple of 8
#endif
}

__device__ __forceinline__ Factor pairs(u32 bits, int first) {
  const int i = 2 * (threadIdx.x % 4);
  return Factor{signs(bits >> i, bits >> (i + 1), first + i < N, first + i + 1 < N),
                signs(bits >> (i + 8), bits >> (i + 9), first + i + 8 < N, first + i + 9 < N)};
}

// Inputs and labels of a chunk of a step, laid out by all warps of the run.
__device__ __forceinline__ void lay_out(Chunk &to, const u32 *words, int begin, const TARGET_TYPE *target, int warp) {
  const int lane = threadIdx.x % 32;
  for (int tile = warp; tile < INPUT_TILES * FORWARD_TILES; tile += WARPS) {
    const int first = tile / FORWARD_TILES * 16, b = begin + tile % FORWARD_TILES * 8 + lane / 4;
    to.forward[tile][lane] = pairs(bits_from(words, b, first), first);
  }
  for (int tile = warp; tile < BATCH_TILES * COLUMNS; tile += WARPS) {
    const int b = begin + tile / COLUMNS * 16 + lane % 4 * 2, j = tile % COLUMNS * 8 + lane / 4;
    const int from = j / 8 * 8, by = j % 8;
    const u32 low = signs(bits_from(words, b, from) >> by, bits_from(words, b + 1, from) >> by, j < N, j < N);
    const u32 high = signs(bits_from(words, b + 8, from) >> by, bits_from(words, b + 9, from) >> by, j < N, j < N);
    to.backward[tile][lane] = Factor{low, high};
  }
  for (int i = warp * 32 + lane; i < CHUNK && begin + i < BATCH; i += THREADS)
    to.labels[i] = flipped(label(example(words, begin + i), target), words, begin + i);
}

struct Network {
  float weight[TILES][COLUMNS][4];  // rows lane / 4 and lane / 4 + 8, columns 2 * (lane % 4) and the next
  float bias[TILES][2], output[TILES][2], constant;
  int k;
};

__device__ __forceinline__ int unit_of(int warp, int tile, int half) {
  return (warp * TILES + tile) * 16 + half * 8 + threadIdx.x % 32 / 4;
}

// Calls `visit` with each weight that a thread has, its unit and its coordinate.
template <typename Visit>
__device__ __forceinline__ void for_each_weight(Network &net, int warp, Visit visit) {
#pragma unroll
  for (int tile = 0; tile < TILES; ++tile)
#pragma unroll
    for (int c = 0; c < COLUMNS; ++c)
#pragma unroll
      for (int i = 0; i < 4; ++i)
        visit(net.weight[tile][c][i], unit_of(warp, tile, i / 2), c * 8 + threadIdx.x % 4 * 2 + i % 2);
}

template <typename Visit>
__device__ __forceinline__ void for_each_unit(Network &net, int warp, Visit visit) {
#pragma unroll
  for (int tile = 0; tile < TILES; ++tile)
#pragma unroll
    for (int half = 0; half < 2; ++half) visit(net.bias[tile][half], net.output[tile][half], unit_of(warp, tile, half));
}

struct Units {
  LeftFactor left[INPUT_TILES];
};

__device__ __forceinline__ Units factors_of(const Network &net, int tile) {
  Units units;
#pragma unroll
  for (int i = 0; i < INPUT_TILES; ++i) units.left[i] = left_factor(net.weight[tile][2 * i], net.weight[tile][2 * i + 1]);
  return units;
}

// The sums of a tile of units on eight examples; `inputs` has its tiles `stride` apart.
__device__ __forceinline__ void preactivations(float (&z)[4], const Units &units, const Network &net, int tile,
                                               const Factor (*inputs)[32], int stride) {
  z[0] = z[1] = net.bias[tile][0], z[2] = z[3] = net.bias[tile][1];
#pragma unroll
  for (int i = 0; i < INPUT_TILES; ++i) multiply_add(z, units.left[i], inputs[i * stride][threadIdx.x % 32]);
}

// Adds a tile's part of the outputs on two examples.
__device__ __forceinline__ void add_outputs(float *sums, const float (&z)[4], const Network &net, int tile) {
#pragma unroll
  for (int i = 0; i < 4; ++i) sums[i % 2] = fmaf(net.output[tile][i / 2], activation(z[i], net.k), sums[i % 2]);
}

// Each warp's part of the outputs, by pairs of examples, to shared memory.
template <int COUNT>
__device__ __forceinline__ void share_outputs(float (&sums)[COUNT], float *to) {
  const int first = over_rows(sums, [](float a, float b) { return a + b; });
#pragma unroll
  for (int c = 0; c < SHARE_OF_ROWS(COUNT); ++c) {
    const int i = first + c;
    to[i / 2 * 8 + threadIdx.x % 4 * 2 + i % 2] = sums[c];
  }
}

__device__ __forceinline__ float output_of(const float (&sums)[WARPS][CHUNK], int b, float constant) {
  float total = 0;
#pragma unroll
  for (int w = 0; w < WARPS; ++w) total += sums[w][b];
  return total + constant;
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

// What comes after a chunk: the words of its step and its first example. There are no words after the last one.
struct Next {
  const u32 *words;
  int begin;
};

// What a step has of its chunks so far.
struct Sums {
  Gradient tile[CHUNKS > 1 ? TILES : 1];
  float constant = 0;
};

// One chunk of a step of gradient descent, and the layout of the next if it comes.
__device__ __forceinline__ void take_chunk(Network &net, Sums &so_far, const Pace &pace, Shared &shared, int buffer, int turn,
                                           int begin, float margin, int warp, Next next, const TARGET_TYPE *target) {
  const int lane = threadIdx.x % 32;
  const Chunk &at = shared.chunks[buffer];
  float sums[2 * FORWARD_TILES] = {};
  Kept kept;
#pragma unroll
  for (int tile = 0; tile < TILES; ++tile) {
    const Units units = factors_of(net, tile);
#pragma unroll
    for (int t = 0; t < FORWARD_TILES; ++t) {
      float z[4];
      preactivations(z, units, net, tile, at.forward + t, FORWARD_TILES);
      add_outputs(sums + 2 * t, z, net, tile);
      keep(kept, tile, t, z);
    }
  }
  share_outputs(sums, shared.sums[turn][warp]);
#if WARPS > 1
  if (next.words) lay_out(shared.chunks[(buffer + 1) % BUFFERS], next.words, next.begin, target, warp);
#endif
  SYNCHRONIZE();

  float mine[(CHUNK + 31) / 32], constant_gradient = 0;
#pragma unroll
  for (int i = 0; i < (CHUNK + 31) / 32; ++i) {
    const int b = 32 * i + lane;
    const bool inside = b < CHUNK && begin + b < BATCH;
    mine[i] = inside ? loss_slope(at.labels[b], output_of(shared.sums[turn], b, net.constant), margin) : 0.0f;
    constant_gradient += mine[i];
  }
  Slopes slopes;
#pragma unroll
  for (int t = 0; t < FORWARD_TILES; ++t) {
    const int b = t % 4 * 8 + lane % 4 * 2;
    set_slopes(slopes, t, __shfl_sync(~0u, mine[t / 4], b), __shfl_sync(~0u, mine[t / 4], b + 1));
  }
#pragma unroll
  for (int by = 1; by < 32; by *= 2) constant_gradient += __shfl_xor_sync(~0u, constant_gradient, by);
  so_far.constant += constant_gradient;
#pragma unroll
  for (int tile = 0; tile < TILES; ++tile) {
#if CHUNKS > 1
    add_gradient(so_far.tile[tile], net, at, tile, slopes, kept);
#else
    Gradient gradient;
    add_gradient(gradient, net, at, tile, slopes, kept);
    move_tile(net, pace, gradient, warp, tile);
#endif
  }
#if CHUNKS > 1
  if (begin + CHUNK >= BATCH) {
#pragma unroll
    for (int tile = 0; tile < TILES; ++tile) move_tile(net, pace, so_far.tile[tile], warp, tile);
  }
#endif
  if (CHUNKS == 1 || begin + CHUNK >= BATCH) {
    net.constant = moved(net.constant, so_far.constant / BATCH, pace.rate[3], pace.shrink[3]);
    so_far = Sums();
  }
#if WARPS == 1
  __syncwarp();
  if (next.words) lay_out(shared.chunks[0], next.words, next.begin, target, warp);
  __syncwarp();
#endif
}

// The outputs on 16 points, one for each of the first lanes; `x` is that lane's point.
__device__ __forceinline__ float outputs_on(const Point &x, const Network &net, Shared &shared, int warp, int turn) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int q = 0; q < INPUT_TILES; ++q)
#pragma unroll
    for (int t = 0; t < GROUP / 8; ++t) {
      const u32 bits = __shfl_sync(~0u, x.word[q / 2], t * 8 + lane / 4) >> (q % 2 * 16);
      if (warp == 0) shared.tried[q * (GROUP / 8) + t][lane] = pairs(bits, 16 * q);
    }
  SYNCHRONIZE();
  float sums[GROUP / 4] = {};
#pragma unroll
  for (int tile = 0; tile < TILES; ++tile) {
    const Units units = factors_of(net, tile);
#pragma unroll
    for (int t = 0; t < GROUP / 8; ++t) {
      float z[4];
      preactivations(z, units, net, tile, shared.tried + t, GROUP / 8);
      add_outputs(sums + 2 * t, z, net, tile);
    }
  }
  share_outputs(sums, shared.sums[turn][warp]);
  SYNCHRONIZE();
  return output_of(shared.sums[turn], lane % GROUP, net.constant);
}

// The outcome that a run's witnesses and the first validation points show.
__device__ __forceinline__ int tried(const Network &net, const TARGET_TYPE *target, const u32 *points, Shared &shared,
                                     int warp, int &start, int &turn) {
  const int lane = threadIdx.x % 32, i = lane % GROUP;
  float value = outputs_on(witness(shared.witnesses, i), net, shared, warp, turn);
  turn ^= 1;
  if (__any_sync(~0u, !is_finite(value))) return DIVERGED;
  if (__any_sync(~0u, !(witness_label(shared.witnesses, i) * value > 0))) return RUNNING;
  for (int first = 0; first < POINTS; first += GROUP) {
    const bool inside = first + i < POINTS;
    const Point x = point_at(points, inside ? first + i : 0);
    const float y = label(x, target);
    value = outputs_on(x, net, shared, warp, turn);
    turn ^= 1;
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
  for_each_unit(net, warp, [&](float &of_bias, float &of_output, int unit) {
    of_bias = unit < UNITS ? bias[(size_t)at * UNITS + unit] : 0.0f;
    of_output = unit < UNITS ? output[(size_t)at * UNITS + unit] : 0.0f;
  });
  net.constant = constant[at];
  net.k = DEGREE(at);
  const Numbers own = numbers_of(numbers + at * NUMBERS);
  const TARGET_TYPE *own_target = target + (size_t)at * TARGET_SIZE;
  const float *own_up = up + (size_t)at * UP_SIZE;
  const Key data = Key{key[2 * at], key[2 * at + 1]};
  u32 *own_witnesses = witnesses + (size_t)at * WITNESSES * WORDS;
  float *own_labels = witness_labels + at * WITNESSES;
  if (warp == 0 && lane == 0) {
    take_witnesses(shared.witnesses, own_witnesses, own_labels);
  }

  const int first = step_count[at], last = ROUNDS * EVERY;
  int now = first, seen = RUNNING, start = 0, turn = 0;
  auto draw = [&](int from) {  // the words of SPAN steps
    for (int item = warp * 32 + lane; item < SPAN * ITEMS; item += THREADS)
      shared.words[item] = drawn(folded(data, first + from + item / ITEMS), item % ITEMS, own_up, own.flips);
    SYNCHRONIZE();
  };
  draw(0);
  lay_out(shared.chunks[0], shared.words, 0, own_target, warp);
  SYNCHRONIZE();
  Sums so_far;
  for (int i = 0, buffer = 0; i < last; ++i) {
#if CHUNKS > 1
#pragma unroll 1
#endif
    for (int c = 0; c < CHUNKS; ++c) {
      Next next{shared.words + i % SPAN * ITEMS, (c + 1) * CHUNK};
      if (c + 1 == CHUNKS) {
        const bool more = i + 1 < last;
        if (more && (i + 1) % SPAN == 0) draw(i + 1);
        next = Next{more ? shared.words + (i + 1) % SPAN * ITEMS : 0, 0};
      }
      take_chunk(net, so_far, own.pace, shared, buffer, turn, c * CHUNK, own.margin, warp, next, own_target);
      buffer = (buffer + 1) % BUFFERS, turn ^= 1;
    }
    if ((i + 1) % EVERY) continue;
    now += EVERY;
#if CHECKED
    seen = tried(net, own_target, points, shared, warp, start, turn);
#endif
    if (seen != RUNNING || now >= limit[at]) break;
  }

  for_each_weight(net, warp, [&](float &value, int unit, int j) {
    if (unit < UNITS && j < N) weight[((size_t)at * UNITS + unit) * N + j] = value;
  });
  for_each_unit(net, warp, [&](float &of_bias, float &of_output, int unit) {
    if (unit >= UNITS || lane % 4) return;  // four threads have the same
    bias[(size_t)at * UNITS + unit] = of_bias;
    output[(size_t)at * UNITS + unit] = of_output;
  });
  if (warp == 0 && lane == 0) {
    constant[at] = net.constant;
    step_count[at] = now;
    outcome[at] = seen;
    keep_witnesses(shared.witnesses, start, own_witnesses, own_labels);
  }
}
