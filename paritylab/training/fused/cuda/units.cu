// Runs whose weights stay in registers: a few threads per run, a few units per thread, float32 throughout.
//
// A run of THREADS threads holds UNITS units, thread u those numbered u, u + THREADS, ... With at most 32 threads several
// runs share a warp and sums over units are shuffles; with more, a run is a block and sums go through shared memory.
// Single neurons, PolyNets and networks of a few units with large batches are WHOLE in each of their threads; these share
// the examples of a step, and take them one by one (`single.cuh`).

#include "threefry.cuh"
#include "examples.cuh"
#include "functions.cuh"
#include "validation.cuh"
#include "descent.cuh"

#define IN_A_WARP (THREADS <= 32)
#if IN_A_WARP  // and so is the block
#define RUNS (32 / THREADS)
#define SYNCHRONIZE() __syncwarp()
#else
#define RUNS 1
#define SYNCHRONIZE() __syncthreads()
#endif
#define WARPS (BLOCK / 32)
#define PER (WHOLE ? UNITS : (UNITS + THREADS - 1) / THREADS)
#define SPAN (ITEMS >= THREADS ? 1 : THREADS / ITEMS < 10 ? THREADS / ITEMS : 10)  // steps whose words are drawn together
#define FEW (BATCH * PER <= 8)  // examples whose sums stay in registers

#define TOGETHER (UNITS <= 12 ? (UNITS + 3) / 4 : 2)  // quads of units whose sums of a point are taken together
#if CROWD
#include "crowd.cuh"
#endif

struct Shared {
#if CROWD
  Staged staged;
#endif
#if !WHOLE
  u32 words[RUNS][SPAN * ITEMS + 1];
#endif
  Witnesses witnesses[RUNS];
#if !IN_A_WARP
  float sums[2][WHOLE ? N + UNITS : BATCH][WARPS];
#endif
};

struct Network {
  float weight[PER][N], bias[PER];
#if MLP
  float output[PER], constant;
#endif
  int k;
};

// Where a thread stands.
struct Seat {
  int u;      // its number among the threads of its run
  int place;  // its run's number in the block
  int first;  // the warp's lane of its run's first thread
  __device__ int unit(int p) const { return WHOLE ? p : u + p * THREADS; }
  __device__ bool holds(int p) const { return unit(p) < UNITS && u < THREADS; }
};

__device__ __forceinline__ Seat seat_of_thread() {
#if IN_A_WARP
  const int lane = threadIdx.x, group = lane / THREADS;
  const bool spare = group >= RUNS;  // such a thread goes along with the first run, and holds nothing
  return Seat{spare ? THREADS : lane % THREADS, spare ? 0 : group, spare ? 0 : group * THREADS};
#else
  return Seat{(int)threadIdx.x, 0, 0};
#endif
}

// The sums over the threads of each run, known to all of them.
template <int COUNT>
__device__ __forceinline__ void sum_over_run(float (&values)[COUNT], const Seat &seat, Shared &shared, int &turn) {
#if IN_A_WARP
#pragma unroll
  for (int b = 0; b < COUNT; ++b) {
    if ((THREADS & (THREADS - 1)) == 0) {
#pragma unroll
      for (int by = THREADS / 2; by; by /= 2) values[b] += __shfl_xor_sync(~0u, values[b], by);
    } else {
#pragma unroll
      for (int size = THREADS; size > 1; size = (size + 1) / 2) {
        const int half = (size + 1) / 2;
        const float other = __shfl_down_sync(~0u, values[b], half);
        if (seat.u + half < size) values[b] += other;
      }
      values[b] = __shfl_sync(~0u, values[b], seat.first);
    }
  }
#else
  turn ^= 1;  // what the slower warps still read is the other half
#pragma unroll
  for (int b = 0; b < COUNT; ++b) {
#pragma unroll
    for (int by = 16; by; by /= 2) values[b] += __shfl_xor_sync(~0u, values[b], by);
    if (threadIdx.x % 32 == 0) shared.sums[turn][b][threadIdx.x / 32] = values[b];
  }
  __syncthreads();
#pragma unroll
  for (int b = 0; b < COUNT; ++b) {
    float total = 0;
#pragma unroll
    for (int w = 0; w < WARPS; ++w) total += shared.sums[turn][b][w];
    values[b] = total;
  }
#endif
}

// Each unit's weighted sum of a point.
__device__ __forceinline__ void preactivations(const Network &net, const Point &x, float (&z)[PER]) {
  float even[PER], odd[PER];
#pragma unroll
  for (int p = 0; p < PER; ++p) even[p] = net.bias[p], odd[p] = 0;
#pragma unroll
  for (int j = 0; j < N; j += 2) {
    const float first = coordinate(x, j), second = j + 1 < N ? coordinate(x, j + 1 < N ? j + 1 : j) : 0;
#pragma unroll
    for (int p = 0; p < PER; ++p) {
      even[p] = fmaf(net.weight[p][j], first, even[p]);
      if (j + 1 < N) odd[p] = fmaf(net.weight[p][j + 1 < N ? j + 1 : j], second, odd[p]);
    }
  }
#pragma unroll
  for (int p = 0; p < PER; ++p) z[p] = even[p] + odd[p];
}

// What a thread adds to its run's output.
__device__ __forceinline__ float share(const Network &net, const float (&z)[PER], const Seat &seat) {
#if MLP
  float sum = 0;
#pragma unroll
  for (int p = 0; p < PER; ++p)
    if (seat.holds(p)) sum = fmaf(net.output[p], activation(z[p], net.k), sum);
  return sum;
#else
  float product = 1;
#pragma unroll
  for (int p = 0; p < PER; ++p) product *= activation(z[p], net.k);
  return product;
#endif
}

template <int COUNT>
__device__ __forceinline__ void outputs(float (&values)[COUNT], const Network &net, const Seat &seat, Shared &shared, int &turn) {
#if !WHOLE
  sum_over_run(values, seat, shared, turn);
#endif
#if MLP
#pragma unroll
  for (int b = 0; b < COUNT; ++b) values[b] += net.constant;
#endif
}

__device__ __forceinline__ float output_at(const Network &net, const Point &x, const Seat &seat, Shared &shared, int &turn) {
  float z[PER], value[1];
  preactivations(net, x, z);
  value[0] = share(net, z, seat);
  outputs(value, net, seat, shared, turn);
  return value[0];
}

#if !WHOLE
// One step of gradient descent; threads of a run that has halted only help the others of their warp.
__device__ __forceinline__ void step(Network &net, const Pace &pace, const u32 *words, const TARGET_TYPE *target,
                                     Objective objective, bool on, const Seat &seat, Shared &shared, int &turn) {
  float z[BATCH][PER], slopes[BATCH];
#if FEW
#pragma unroll
#else
#pragma unroll 1
#endif
  for (int b = 0; b < BATCH; ++b) {
    preactivations(net, example(words, b), z[b]);
    slopes[b] = share(net, z[b], seat);
  }
  outputs(slopes, net, seat, shared, turn);
  if (!on) return;
#if FEW
#pragma unroll
#else
#pragma unroll 1
#endif
  for (int b = 0; b < BATCH; ++b) {
    const float y = flipped(label(example(words, b), target), words, b);
    slopes[b] = loss_slope(y, slopes[b], objective) / BATCH;
  }

  // Sums over the batch; then each array moves. Weights take each example in turn: no room for their gradient.
  float bias_gradient[PER] = {}, output_gradient[PER] = {}, constant_gradient = 0;
#if DECAY
#pragma unroll
  for (int p = 0; p < PER; ++p)
#pragma unroll
    for (int j = 0; j < N; ++j) net.weight[p][j] -= pace.shrink[0] * net.weight[p][j];
#endif
#if FEW
#pragma unroll
#else
#pragma unroll 1
#endif
  for (int b = 0; b < BATCH; ++b) {
    float g[PER];
#pragma unroll
    for (int p = 0; p < PER; ++p) {
      output_gradient[p] = fmaf(slopes[b], activation(z[b][p], net.k), output_gradient[p]);
      g[p] = slopes[b] * net.output[p] * activation_slope(z[b][p], net.k);
      bias_gradient[p] += g[p];
      g[p] *= -pace.rate[0];
    }
    constant_gradient += slopes[b];
    const Point x = example(words, b);
#pragma unroll
    for (int j = 0; j < N; ++j) {
      const float xj = coordinate(x, j);
#pragma unroll
      for (int p = 0; p < PER; ++p) net.weight[p][j] = fmaf(g[p], xj, net.weight[p][j]);
    }
  }
#pragma unroll
  for (int p = 0; p < PER; ++p) {
    net.bias[p] = moved(net.bias[p], bias_gradient[p], pace.rate[1], pace.shrink[1]);
    net.output[p] = moved(net.output[p], output_gradient[p], pace.rate[2], pace.shrink[2]);
  }
  net.constant = moved(net.constant, constant_gradient, pace.rate[3], pace.shrink[3]);
}
#else
#include "single.cuh"
#endif

#if IN_A_WARP
#define SOME(condition) __any_sync(~0u, condition)
#else
#define SOME(condition) (condition)  // all threads of a block have one run
#endif

// What one witness after the other says, until a mistake: a few of them, or all. Runs of a warp try theirs together.
__device__ __forceinline__ int try_witnesses(const Network &net, bool &right, int most, int &start, const Seat &seat,
                                             Shared &shared, int &turn) {
  const Witnesses &known = shared.witnesses[seat.place];
  int outcome = RUNNING;
  for (int i = 0; i < most && SOME(right); ++i) {
    const int which = (start + i) % WITNESSES;
    const float value = output_at(net, witness(known, which), seat, shared, turn);
    if (!right) continue;  // its neighbours go on
    if (!is_finite(value)) right = false, outcome = DIVERGED;
    else if (!(witness_label(known, which) * value > 0)) right = false, start = which;
  }
  return outcome;
}

#if CROWD
__device__ __forceinline__ void stage(Staged &to, const Network &net, const Seat &seat) {
#pragma unroll
  for (int p = 0; p < PER; ++p) {
    const int unit = seat.unit(p);
    if (!seat.holds(p)) continue;
    float *const row = &to.weight[0][0][0] + place_of_unit(unit);
#pragma unroll
    for (int j = 0; j < N; ++j) row[place_of_coordinate(j)] = net.weight[p][j];
    to.bias[unit] = net.bias[p];
#if MLP
    to.output[unit] = net.output[p];
    if (unit == 0) to.constant = net.constant;
#endif
  }
}
#endif

#if CROWD
// What all witnesses and the validation points say of each run that is `right` so far. It is called with a network that
// lies in memory: registers are for the products here, and for the weights in the loop over steps.
__device__ __noinline__ int look_together(Network &net, bool right, int &start, const TARGET_TYPE *target,
                                          const u32 *points, const Seat &seat, Shared &shared) {
#if IN_A_WARP
  int outcome = RUNNING;
  Staged &staged = shared.staged;
  for (u32 asking = __ballot_sync(~0u, right && seat.u == 0); asking; asking &= asking - 1) {
    const int leader = __ffs(asking) - 1, place = __shfl_sync(~0u, seat.place, leader);
    const bool own = seat.place == place;
    __syncwarp();
    if (own) stage(staged, net, seat);
    __syncwarp();
    int from = __shfl_sync(~0u, start, leader);
    const int k = __shfl_sync(~0u, net.k, leader);
    const TARGET_TYPE *its = (const TARGET_TYPE *)__shfl_sync(~0u, (unsigned long long)target, leader);
    const int shown = first_mistake(staged, shared.witnesses[place], from, its, points, k);
    if (own) start = from, outcome = shown;
  }
  return outcome;
#else
  __syncthreads();
  stage(shared.staged, net, seat);
  __syncthreads();
  return first_mistake(shared.staged, shared.witnesses[0], start, target, points, net.k);
#endif
}
#endif

#define TRIED_ALONE (CROWD ? 2 : WITNESSES)  // most networks that are wrong are so on one of the last points

// The outcome that a run's witnesses and the first validation points show.
__device__ __forceinline__ int tried(Network &net, bool on, int &start, const TARGET_TYPE *target, const u32 *points,
                                     const Seat &seat, Shared &shared, int &turn) {
  bool right = on;
  int outcome = try_witnesses(net, right, TRIED_ALONE, start, seat, shared, turn);
#if CROWD
  if (!SOME(right)) return outcome;
  Network kept = net;
  int at = start;
  const int shown = look_together(kept, right, at, target, points, seat, shared);
  in_memory(&kept);
  net = kept;
  if (right) start = at;
  return right ? shown : outcome;
#else
  Witnesses &known = shared.witnesses[seat.place];
  for (int i = 0; i < POINTS && SOME(right); ++i) {
    const Point x = point_at(points, i);
    const float value = output_at(net, x, seat, shared, turn), y = label(x, target);
    const bool wrong = right && !(y * value > 0);
    if (right && !is_finite(value)) outcome = DIVERGED;
    if (wrong) start = (start + 1) % WITNESSES;
    SYNCHRONIZE();
    if (wrong && seat.u == 0) replace(known, start, x, y);
    SYNCHRONIZE();
    if (wrong) right = false;
  }
  return right ? LEARNED : outcome;
#endif
}

extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT) train(PARAMETERS) {
  __shared__ Shared shared;
  const Seat seat = seat_of_thread();
  const int run = blockIdx.x * RUNS + seat.place;
  const bool inside = run < LANES;
  const int at = inside ? run : 0;
  bool on = inside && taken[at];
#if IN_A_WARP
  if (!__any_sync(~0u, on)) return;
#else
  if (!on) return;
#endif

  Network net;
#pragma unroll
  for (int p = 0; p < PER; ++p) {
    const size_t unit = (size_t)at * UNITS + seat.unit(p);
    const bool holds = on && seat.holds(p);
#pragma unroll
    for (int j = 0; j < N; ++j) net.weight[p][j] = holds ? weight[unit * N + j] : 0.0f;
    net.bias[p] = holds ? bias[unit] : 0.0f;
#if MLP
    net.output[p] = holds ? output[unit] : 0.0f;
#endif
  }
#if MLP
  net.constant = constant[at];
#endif
  net.k = DEGREE(at);
  const Numbers own = numbers_of(numbers + at * NUMBERS);
  const TARGET_TYPE *own_target = target + (size_t)at * TARGET_SIZE;
  const float *own_up = up + (size_t)at * UP_SIZE;
  const Key data = Key{key[2 * at], key[2 * at + 1]};
  u32 *own_witnesses = witnesses + (size_t)at * WITNESSES * WORDS;
  float *own_labels = witness_labels + at * WITNESSES;
  Witnesses &known = shared.witnesses[seat.place];
  if (seat.u == 0) take_witnesses(known, own_witnesses, own_labels);
#if CROWD
  clear(shared.staged);
#endif
  SYNCHRONIZE();

  const int first = step_count[at];
  int now = first, start = 0, turn = 0, seen = RUNNING;
#if !WHOLE
  u32 *words = shared.words[seat.place];
#endif
  for (int round = 0; round < ROUNDS; ++round) {
    on = on && now < limit[at];
    if (!on && !IN_A_WARP) break;
    for (int i = 0; i < EVERY; ++i) {
#if !WHOLE
      const int ahead = (round * EVERY + i) % SPAN;
      if (ahead == 0) {
        SYNCHRONIZE();
        for (int item = seat.u; item < SPAN * ITEMS && seat.u < THREADS; item += THREADS)
          words[item] = drawn(folded(data, first + round * EVERY + i + item / ITEMS), item % ITEMS, own_up, own.flips);
        SYNCHRONIZE();
      }
      step(net, own.pace, words + ahead * ITEMS, own_target, own.objective, on, seat, shared, turn);
#else
      step_of_whole(net, own, folded(data, now + i), own_target, own_up, on, seat, shared, turn);
#endif
    }
    if (on) now += EVERY;
#if CHECKED
    const int shown = tried(net, on, start, own_target, points, seat, shared, turn);
    if (on && shown != RUNNING) seen = shown, on = false;
#endif
#if IN_A_WARP
    if (!__any_sync(~0u, on)) break;
#endif
  }

  if (!(inside && taken[at])) return;
#pragma unroll
  for (int p = 0; p < PER; ++p) {
    if (!seat.holds(p)) continue;
    const size_t unit = (size_t)at * UNITS + seat.unit(p);
#pragma unroll
    for (int j = 0; j < N; ++j) weight[unit * N + j] = net.weight[p][j];
    bias[unit] = net.bias[p];
#if MLP
    output[unit] = net.output[p];
#endif
  }
  if (seat.u == 0) {
#if MLP
    constant[at] = net.constant;
#endif
    step_count[at] = now;
    outcome[at] = seen;
    keep_witnesses(known, start, own_witnesses, own_labels);
  }
}
