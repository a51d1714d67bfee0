// The gradient of a tile of units, for any activation and loss.

__device__ __forceinline__ Slope as_slope(float slope) { return slope / BATCH; }

#define KEEP (CHUNKS == 1 && TILES * CHUNK * EIGHTS <= 16)  // sums of units stay in registers; else they are computed again

// The sums of units, where they are kept.
struct Kept {
  float z[KEEP ? TILES : 1][KEEP ? CHUNK * EIGHTS : 1][4];
};

struct Keeper {
  __device__ __forceinline__ void add(Kept &kept, int tile, int, int eight, const float (&z)[4]) {
#if KEEP
#pragma unroll
    for (int i = 0; i < 4; ++i) kept.z[tile][eight][i] = z[i];
#endif
  }
  __device__ __forceinline__ void end(Kept &, Shared &, int, int, int) const {}
};

// What the threads of a row have of its biases and outputs is summed when the tile moves.
struct Gradient {
  float weight[COLUMNS][4] = {}, bias[2] = {}, output[2] = {};
};

// Over all examples.
__device__ __forceinline__ void find_gradient(Gradient &of, const Network &net, const Shared &shared, const Laid &at,
                                              const Kept &kept, int tile, int warp) {
  const int thread = threadIdx.x % 4;
  const float *slopes = shared.slopes[OWN_SLOPES ? warp : 0];
  const Units units = units_of(net, shared, warp, tile);
#if KEEP
#pragma unroll
#else
#pragma unroll 1
#endif
  for (int g = 0; g < GROUPS; ++g) {
    u32 inputs[COLUMNS];
#pragma unroll
    for (int c = 0; c < COLUMNS; ++c)
      inputs[c] = at.by_coordinate[g][word_of_coordinate(c)];
#pragma unroll
    for (int step = 0; step < EIGHTS / 2; ++step) {
      float z[1][2][4], part[2][4];
#if KEEP
#pragma unroll
      for (int i = 0; i < 8; ++i) z[0][i / 4][i % 4] = kept.z[tile][g * EIGHTS + 2 * step + i / 4][i % 4];
#else
      preactivations(z, &units, at.by_example[0] + 32 * g, 32 * GROUPS, 2 * step);
#endif
#pragma unroll
      for (int h = 0; h < 2; ++h)
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const float slope = slopes[32 * g + 8 * thread + 4 * step + 2 * h + i % 2];
          part[h][i] = slope * units.row[i / 2].output * activation_slope(z[0][h][i], net.k);
          of.output[i / 2] = fmaf(slope, activation(z[0][h][i], net.k), of.output[i / 2]);
          of.bias[i / 2] += part[h][i];
        }
      const int first = 8 * step + 2 * thread;
      Factor factors[COLUMNS];
#pragma unroll
      for (int c = 0; c < COLUMNS; ++c)
        factors[c] = Factor{pair_of_signs(inputs[c], first), pair_of_signs(inputs[c], first + 1)};
      multiply_add(of.weight, left_factor(part[0], part[1]), factors);
    }
  }
}

__device__ __forceinline__ void move_tile(Network &net, Shared &shared, const Pace &pace, const Gradient &by, int warp,
                                          int tile) {
#pragma unroll
  for (int c = 0; c < COLUMNS; ++c)
#pragma unroll
    for (int i = 0; i < 4; ++i)
      if (coordinate_of(c, i) < N)
        net.weight[tile][c][i] = moved(net.weight[tile][c][i], by.weight[c][i], pace.rate[0], pace.shrink[0]);
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int number = unit_of(warp, tile, half);
    const Unit unit = shared.units[number];
    const float db = over_columns(by.bias[half]), da = over_columns(by.output[half]);
    if (number >= UNITS || threadIdx.x % 4) continue;  // what fills a tile up stays 0
    shared.units[number] = Unit{moved(unit.bias, db, pace.rate[1], pace.shrink[1]),
                                moved(unit.output, da, pace.rate[2], pace.shrink[2])};
  }
}

__device__ __forceinline__ void move_units(Network &net, Shared &shared, const Pace &pace, const Laid &at, const Kept &kept,
                                           int warp) {
#pragma unroll
  for (int tile = 0; tile < TILES; ++tile) {
    Gradient gradient;
    find_gradient(gradient, net, shared, at, kept, tile, warp);
    move_tile(net, shared, pace, gradient, warp, tile);
  }
}
