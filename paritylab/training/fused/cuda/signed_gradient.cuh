// The gradient of a tile of ReLU units where the loss has slopes 1, -1 and 0.
//
// An example adds to a unit's gradient its input times m, the slope of the loss where the unit's sum is above 0 and else
// 0, and times the unit's output weight a / BATCH. So G = sum of m x and C = sum of m are whole numbers, the weights'
// gradient is a G / BATCH, the bias's a C / BATCH, and that of a itself, the mean of m (w . x + b), is
// (w . G + b C) / BATCH. No sum has to be kept or computed again: whether it is above 0 says all.

__device__ __forceinline__ Slope as_slope(float slope) { return slope == 0 ? 0 : slope < 0 ? 0xbf80 : 0x3f80; }

// Which sums are above 0: a word for a tile and a chunk, whose byte i has a bit for sum i of each eight examples.
struct Kept {
  u32 word[KEPT_SHARED ? 1 : TILES];

  __device__ __forceinline__ u32 of(const Shared &shared, int tile, int chunk) const {
#if KEPT_SHARED
    return shared.kept[tile][chunk][threadIdx.x];
#else
    return word[tile];
#endif
  }
};

// 1 for numbers above 0, else 0. Those below 2^-126 count as 0.
__device__ __forceinline__ float is_above(float z) {
#if EMULATED
  return z >= 1.17549435e-38f ? 1 : 0;
#else
  float one;
  asm("mul.ftz.sat.f32 %0, %1, 0f7f000000;" : "=f"(one) : "f"(z));  // by 2^127, cut off at 1
  return one;
#endif
}

// Collects bits as a sum of powers of two, which other units add up than those that make factors: at 2^23 a float counts
// in ones, so that its last byte is that of the count.
struct Keeper {
  float count[PAIR][4];

  __device__ __forceinline__ Keeper() {
#pragma unroll
    for (int i = 0; i < PAIR * 4; ++i) count[i / 4][i % 4] = 8388608.0f;
  }

  __device__ __forceinline__ void add(Kept &, int, int u, int eight, const float (&z)[4]) {
#pragma unroll
    for (int i = 0; i < 4; ++i) count[u][i] = fmaf(is_above(z[i]), (float)(128 >> eight), count[u][i]);
  }

  __device__ __forceinline__ void end(Kept &kept, Shared &shared, int tile, int u, int chunk) const {
    const u32 low = __byte_perm(__float_as_uint(count[u][0]), __float_as_uint(count[u][1]), 0x0040);
    const u32 high = __byte_perm(__float_as_uint(count[u][2]), __float_as_uint(count[u][3]), 0x0040);
    const u32 word = __byte_perm(low, high, 0x5410);
#if KEPT_SHARED
    shared.kept[tile][chunk][threadIdx.x] = word;
#else
    kept.word[tile] = word;
#endif
  }
};

// Both halves of a word, each all ones or all zeros as the highest bit of a byte is: of bytes 0 and 1, or of 2 and 3.
__device__ __forceinline__ u32 halves(u32 bytes, bool upper) {
#if EMULATED
  if (upper) bytes >>= 16;
  return (bytes & 0x80 ? 0xffffu : 0) | (bytes & 0x8000 ? 0xffff0000u : 0);
#else
  u32 both;
  if (upper) asm("prmt.b32 %0, %1, 0, 0xbbaa;" : "=r"(both) : "r"(bytes));
  else asm("prmt.b32 %0, %1, 0, 0x9988;" : "=r"(both) : "r"(bytes));
  return both;
#endif
}

// G, and C in every column.
struct Gradient {
  float weight[COLUMNS][4] = {}, count[4] = {};
};

// Of TILE_COUNT tiles from a number on, over all examples.
template <int TILE_COUNT>
__device__ __forceinline__ void find_gradient(Gradient (&of)[TILE_COUNT], const Shared &shared, const Laid &at,
                                              const Kept &kept, int tile, int warp) {
  const int i = threadIdx.x % 4;
  const u32 *slopes = (const u32 *)shared.slopes[OWN_SLOPES ? warp : 0];
#pragma unroll 1
  for (int chunk = 0; chunk < CHUNKS; ++chunk) {
    u32 above[TILE_COUNT];
#pragma unroll
    for (int u = 0; u < TILE_COUNT; ++u) above[u] = kept.of(shared, tile + u, chunk);
#pragma unroll
    for (int in_chunk = 0; in_chunk < CHUNK; ++in_chunk) {
      const int g = chunk * CHUNK + in_chunk;
      u32 inputs[COLUMNS];
#pragma unroll
      for (int c = 0; c < COLUMNS; ++c)
        inputs[c] = at.by_coordinate[g][word_of_coordinate(c)];
#pragma unroll
      for (int step = 0; step < EIGHTS / 2; ++step) {
        u32 left[TILE_COUNT][4];
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          const u32 pair = slopes[16 * g + 4 * i + 2 * step + h];
#pragma unroll
          for (int u = 0; u < TILE_COUNT; ++u) {
            const u32 bytes = above[u] << (in_chunk * EIGHTS + 2 * step + h);
            left[u][2 * h] = pair & halves(bytes, false), left[u][2 * h + 1] = pair & halves(bytes, true);
          }
        }
        const int first = 8 * step + 2 * i;
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c) {
          const Factor factor{pair_of_signs(inputs[c], first), pair_of_signs(inputs[c], first + 1)};
#pragma unroll
          for (int u = 0; u < TILE_COUNT; ++u) multiply_add(of[u].weight[c], left[u], factor);
        }
#pragma unroll
        for (int u = 0; u < TILE_COUNT; ++u) multiply_add(of[u].count, left[u], Factor{0x3f803f80u, 0x3f803f80u});
      }
    }
  }
}

__device__ __forceinline__ void move_tile(Network &net, Shared &shared, const Pace &pace, const Gradient &by, int warp,
                                          int tile) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int number = unit_of(warp, tile, half);
    const Unit unit = shared.units[number];
    const float count = by.count[2 * half], scale = unit.output / BATCH;
    float inner = 0;
#pragma unroll
    for (int c = 0; c < COLUMNS; ++c)
#pragma unroll
      for (int i = 2 * half; i < 2 * half + 2; ++i) {
        float &weight = net.weight[tile][c][i];
        inner = fmaf(weight, by.weight[c][i], inner);
        if (coordinate_of(c, i) < N) weight = moved(weight, by.weight[c][i] * scale, pace.rate[0], pace.shrink[0]);
      }
    inner = fmaf(unit.bias, count, over_columns(inner));
    if (number >= UNITS || threadIdx.x % 4) continue;  // what fills a tile up stays 0
    shared.units[number] = Unit{moved(unit.bias, count * scale, pace.rate[1], pace.shrink[1]),
                                moved(unit.output, inner / BATCH, pace.rate[2], pace.shrink[2])};
  }
}

template <int TILE_COUNT>
__device__ __forceinline__ void move_tiles(Network &net, Shared &shared, const Pace &pace, const Laid &at, const Kept &kept,
                                           int warp, int tile) {
  Gradient gradient[TILE_COUNT];
  find_gradient(gradient, shared, at, kept, tile, warp);
#pragma unroll
  for (int u = 0; u < TILE_COUNT; ++u) move_tile(net, shared, pace, gradient[u], warp, tile + u);
}

__device__ __forceinline__ void move_units(Network &net, Shared &shared, const Pace &pace, const Laid &at, const Kept &kept,
                                           int warp) {
#pragma unroll
  for (int tile = 0; tile < TILES; tile += PAIR) {
    if (tile + PAIR <= TILES) move_tiles<PAIR>(net, shared, pace, at, kept, warp, tile);
    else move_tiles<1>(net, shared, pace, at, kept, warp, tile);
  }
}
