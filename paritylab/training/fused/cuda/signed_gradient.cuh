// The gradient of a tile of ReLU units where the loss has slopes 1, -1 and 0.
//
// An example adds to a unit's gradient its input times m, the slope of the loss where the unit's sum is above 0 and else
// 0, and times the unit's output weight a / BATCH. So G = sum of m x and C = sum of m are whole numbers, the weights'
// gradient is a G / BATCH, the bias's a C / BATCH, and that of a itself, the mean of m (w . x + b), is
// (w . G + b C) / BATCH. No sum has to be kept or computed again: whether it is above 0 says all.

#define SIGN_WORDS ((FORWARD_TILES + 7) / 8)  // of 32 bits, for the four sums that a thread has of each tile of examples

// Bit 4 t + i: whether sum i of eight examples t is above 0.
struct Kept {
  u32 above[TILES][SIGN_WORDS] = {};
};

__device__ __forceinline__ void keep(Kept &kept, int tile, int t, const float (&z)[4]) {
#pragma unroll
  for (int i = 0; i < 4; ++i)
    if (z[i] > 0) kept.above[tile][t / 8] |= 1u << (t % 8 * 4 + i);
}

// Those of the loss on a chunk: as pairs of bfloat16, and where they are 1 and -1, in the order of the sums.
struct Slopes {
  u32 pair[FORWARD_TILES], plus[SIGN_WORDS] = {}, minus[SIGN_WORDS] = {};
};

__device__ __forceinline__ void set_slopes(Slopes &slopes, int t, float first, float second) {
  slopes.pair[t] = rounded(first, second);
  slopes.plus[t / 8] |= ((first > 0 ? 5u : 0) | (second > 0 ? 10u : 0)) << t % 8 * 4;
  slopes.minus[t / 8] |= ((first < 0 ? 5u : 0) | (second < 0 ? 10u : 0)) << t % 8 * 4;
}

// G, and what a thread has of C for its two rows.
struct Gradient {
  float weight[COLUMNS][4] = {};
  int count[2] = {};
};

// A pair of slopes where both bits are set, and 0 for each that is not.
__device__ __forceinline__ u32 chosen(u32 pair, u32 bits) {
  return pair & ((bits & 1) * 0xffffu | (bits >> 1 & 1) * 0xffff0000u);
}

// Adds that of a chunk.
__device__ __forceinline__ void add_gradient(Gradient &of, const Network &, const Chunk &at, int tile, const Slopes &slopes,
                                             const Kept &kept) {
#pragma unroll
  for (int word = 0; word < SIGN_WORDS; ++word) {
    const u32 plus = kept.above[tile][word] & slopes.plus[word], minus = kept.above[tile][word] & slopes.minus[word];
    of.count[0] += __popc(plus & 0x33333333u) - __popc(minus & 0x33333333u);
    of.count[1] += __popc(plus & 0xccccccccu) - __popc(minus & 0xccccccccu);
  }
#pragma unroll
  for (int t = 0; t < BATCH_TILES; ++t) {
    u32 left[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int eight = 2 * t + i / 2;
      left[i] = chosen(slopes.pair[eight], kept.above[tile][eight / 8] >> (eight % 8 * 4 + i % 2 * 2));
    }
#pragma unroll
    for (int c = 0; c < COLUMNS; ++c) multiply_add(of.weight[c], left, at.backward[t * COLUMNS + c][threadIdx.x % 32]);
  }
}

__device__ __forceinline__ void move_tile(Network &net, const Pace &pace, const Gradient &by, int warp, int tile) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    float &bias = net.bias[tile][half], &output = net.output[tile][half];
    const float count = over_columns((float)by.count[half]), scale = output / BATCH;
    float inner = 0;
#pragma unroll
    for (int c = 0; c < COLUMNS; ++c)
#pragma unroll
      for (int i = 2 * half; i < 2 * half + 2; ++i) {
        float &weight = net.weight[tile][c][i];
        inner = fmaf(weight, by.weight[c][i], inner);
        weight = moved(weight, by.weight[c][i] * scale, pace.rate[0], pace.shrink[0]);
      }
    inner = fmaf(bias, count, over_columns(inner));
    if (unit_of(warp, tile, half) >= UNITS) continue;  // what fills a tile up stays 0
    bias = moved(bias, count * scale, pace.rate[1], pace.shrink[1]);
    output = moved(output, inner / BATCH, pace.rate[2], pace.shrink[2]);
  }
}
