// The gradient of a tile of units, for any activation and loss.

// The sums of units on a chunk, where they are kept.
struct Kept {
  float z[KEEP ? TILES : 1][KEEP ? FORWARD_TILES : 1][4];
};

__device__ __forceinline__ void keep(Kept &kept, int tile, int t, const float (&z)[4]) {
#if KEEP
#pragma unroll
  for (int i = 0; i < 4; ++i) kept.z[tile][t][i] = z[i];
#endif
}

// Those of the loss on a chunk, as parts of the mean: two examples of each tile of eight.
struct Slopes {
  float pair[FORWARD_TILES][2];
};

__device__ __forceinline__ void set_slopes(Slopes &slopes, int t, float first, float second) {
  slopes.pair[t][0] = first / BATCH, slopes.pair[t][1] = second / BATCH;
}

// What the threads of a row have of its biases and outputs is summed when the tile moves.
struct Gradient {
  float weight[COLUMNS][4] = {}, bias[2] = {}, output[2] = {};
};

// Adds that of a chunk.
__device__ __forceinline__ void add_gradient(Gradient &of, const Network &net, const Chunk &at, int tile,
                                             const Slopes &slopes, const Kept &kept) {
#if !KEEP
  const Units units = factors_of(net, tile);
#endif
#if KEEP
#pragma unroll
#else
#pragma unroll 1
#endif
  for (int t = 0; t < BATCH_TILES; ++t) {
    float g[2][4];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float z[4];
#if KEEP
#pragma unroll
      for (int i = 0; i < 4; ++i) z[i] = kept.z[tile][2 * t + half][i];
#else
      preactivations(z, units, net, tile, at.forward + 2 * t + half, FORWARD_TILES);
#endif
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float slope = slopes.pair[2 * t + half][i % 2];
        g[half][i] = slope * net.output[tile][i / 2] * activation_slope(z[i], net.k);
        of.output[i / 2] = fmaf(slope, activation(z[i], net.k), of.output[i / 2]);
        of.bias[i / 2] += g[half][i];
      }
    }
    const LeftFactor left = left_factor(g[0], g[1]);
#pragma unroll
    for (int c = 0; c < COLUMNS; ++c) multiply_add(of.weight[c], left, at.backward[t * COLUMNS + c][threadIdx.x % 32]);
  }
}

__device__ __forceinline__ void move_tile(Network &net, const Pace &pace, const Gradient &by, int warp, int tile) {
#pragma unroll
  for (int c = 0; c < COLUMNS; ++c)
#pragma unroll
    for (int i = 0; i < 4; ++i)
      net.weight[tile][c][i] = moved(net.weight[tile][c][i], by.weight[c][i], pace.rate[0], pace.shrink[0]);
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const float db = over_columns(by.bias[half]), da = over_columns(by.output[half]);
    if (unit_of(warp, tile, half) >= UNITS) continue;  // what fills a tile up stays 0
    net.bias[tile][half] = moved(net.bias[tile][half], db, pace.rate[1], pace.shrink[1]);
    net.output[tile][half] = moved(net.output[tile][half], da, pace.rate[2], pace.shrink[2]);
  }
}
