// Validation of one run by many threads: its weights lie where all of them can read them, in the order in which tensor
// cores take them, and 64 points at a time are tried by a warp, up to the first mistake.
//
// A few threads hold a run, so that one point after the other would take as long as the steps between two validations;
// and a network that is almost right is so on hundreds of points.

#include "products.cuh"

#define UNIT_TILES ((UNITS + 15) / 16)   // of 16 units
#define INPUT_TILES ((N + 15) / 16)      // of 16 coordinates
#define MOST_TILES 8                     // of 8 points, that a warp tries together
#define AT_FIRST 4                       // the same of the first time, when most networks that are wrong are found out

#include "places.cuh"

// What fills a tile up is 0.
struct __align__(16) Staged {
  float weight[UNIT_TILES * INPUT_TILES * 2][32][4];  // halves of left factors
  float bias[UNIT_TILES * 16], output[UNIT_TILES * 16];
  float constant, values[WARPS][MOST_TILES * 8];
  int least;
};

__device__ __forceinline__ void clear(Staged &staged) {
  for (int i = threadIdx.x; i < UNIT_TILES * INPUT_TILES * 256; i += BLOCK) (&staged.weight[0][0][0])[i] = 0;
  for (int i = threadIdx.x; i < UNIT_TILES * 16; i += BLOCK) staged.bias[i] = staged.output[i] = 0;
}

// Where the weight of a unit and a coordinate lies: the sum of what each of them says.
__device__ __forceinline__ int place_of_unit(int unit) {
  return unit / 16 * (INPUT_TILES * 256) + unit % 8 * 16 + unit % 16 / 8 * 2;
}
__device__ __forceinline__ constexpr int place_of_coordinate(int j) {
  return (j / 32 * 4 + place_in_word(j) % 16 / 4) * 128 + place_in_word(j) % 4 * 4 + place_in_word(j) / 16;
}

// The points, or the witnesses (whose numbers are below 0), from a number on.
__device__ __forceinline__ Point numbered(int i, const Witnesses &known, const u32 *points) {
  return i < 0 ? witness(known, i + WITNESSES) : point_at(points, i < POINTS ? i : 0);
}

// The outputs on 8 COUNT points from a number on, by a warp, to shared memory.
template <int COUNT>
__device__ __forceinline__ void staged_outputs(const Staged &net, int from, const Witnesses &known, const u32 *points, int k,
                                               float *values) {
  const int lane = threadIdx.x % 32;
  Factor inputs[INPUT_TILES][COUNT];
#pragma unroll
  for (int t = 0; t < COUNT; ++t) {
    const Point x = numbered(from + t * 8 + lane / 4, known, points);
#pragma unroll
    for (int q = 0; q < INPUT_TILES; ++q) inputs[q][t] = factor_of_tile(placed(x.word[q / 2], q / 2), q);
  }
  float sums[2 * COUNT];
#pragma unroll
  for (int i = 0; i < 2 * COUNT; ++i) sums[i] = MLP ? 0 : 1;
#pragma unroll 1
  for (int tile = 0; tile < UNIT_TILES; ++tile) {
    const int unit = tile * 16 + lane / 4;
    float z[COUNT][4];
#pragma unroll
    for (int t = 0; t < COUNT; ++t) z[t][0] = z[t][1] = net.bias[unit], z[t][2] = z[t][3] = net.bias[unit + 8];
#pragma unroll
    for (int q = 0; q < INPUT_TILES; ++q) {
      const int half = (tile * INPUT_TILES + q) * 2;
      const LeftFactor left = left_factor(net.weight[half][lane], net.weight[half + 1][lane]);
      multiply_add(z, left, inputs[q]);
    }
    const float of_unit[2] = {net.output[unit], net.output[unit + 8]};
#pragma unroll
    for (int t = 0; t < COUNT; ++t)
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float h = activation(z[t][i], k);
        float &sum = sums[2 * t + i % 2];
        if (MLP) sum = fmaf(of_unit[i / 2], h, sum);
        else if (unit + i / 2 * 8 < UNITS) sum *= h;
      }
  }
  const int first = over_rows(sums, [](float a, float b) { return MLP ? a + b : a * b; });
#pragma unroll
  for (int c = 0; c < SHARE_OF_ROWS(2 * COUNT); ++c) {
    const int i = first + c;
    values[i / 2 * 8 + lane % 4 * 2 + i % 2] = sums[c];
  }
  __syncwarp();
}

#define NONE (1 << 30)         // no point is classified wrongly
#define NOT_FINITE -(1 << 30)  // some output is no number

// The least of the numbers that the threads of a crowd have.
__device__ __forceinline__ int least_of(int number, Staged &staged) {
#if IN_A_WARP
  return __reduce_min_sync(~0u, number);
#else
  if (threadIdx.x == 0) staged.least = NONE;
  __syncthreads();
  if (number != NONE) atomicMin(&staged.least, number);
  __syncthreads();
  const int least = staged.least;
  __syncthreads();
  return least;
#endif
}

// The least number of a point that a staged run has wrong, of 8 COUNT for each warp.
template <int COUNT>
__device__ __forceinline__ int first_wrong(Staged &net, int from, const Witnesses &known, const TARGET_TYPE *target,
                                           const u32 *points, int k) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  from += warp * 8 * COUNT;
  staged_outputs<COUNT>(net, from, known, points, k, net.values[warp]);
  int found = NONE;
#pragma unroll
  for (int b = COUNT / 4 - 1; b >= 0; --b) {
    const int i = from + b * 32 + lane;
    const float y = i < 0 ? witness_label(known, i + WITNESSES) : label(numbered(i, known, points), target);
    const float value = MLP ? net.values[warp][b * 32 + lane] + net.constant : net.values[warp][b * 32 + lane];
    if (i < POINTS && found != NOT_FINITE) found = !is_finite(value) ? NOT_FINITE : y * value > 0 ? found : i;
  }
  __syncwarp();
  return least_of(found, net);
}

// What a staged run shows on all witnesses, then on validation points.
__device__ __forceinline__ int first_mistake(Staged &net, Witnesses &known, int &start, const TARGET_TYPE *target,
                                             const u32 *points, int k) {
  int wrong = first_wrong<AT_FIRST>(net, -WITNESSES, known, target, points, k);
  for (int from = BLOCK / 4 * AT_FIRST - WITNESSES; wrong == NONE && from < POINTS; from += BLOCK / 4 * MOST_TILES)
    wrong = first_wrong<MOST_TILES>(net, from, known, target, points, k);
  if (wrong == NONE) return LEARNED;
  if (wrong == NOT_FINITE) return DIVERGED;
  start = wrong < 0 ? wrong + WITNESSES : (start + 1) % WITNESSES;
  SYNCHRONIZE();
  if (wrong >= 0 && threadIdx.x == 0) {
    const Point x = point_at(points, wrong);
    replace(known, start, x, label(x, target));
  }
  SYNCHRONIZE();
  return RUNNING;
}

// Says that what lies there may have changed, so that the compiler does not keep it in registers as well.
__device__ __forceinline__ void in_memory(const void *at) { asm volatile("" : : "l"(at) : "memory"); }
