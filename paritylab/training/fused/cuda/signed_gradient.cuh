// The gradient of a tile of ReLU units where the loss has slopes 1, -1 and 0.
//
// An example adds to a unit's gradient its input times m, the slope of the loss where the unit's sum is above 0 and else
// 0, and times the unit's output weight a / BATCH. So G = sum of m x and C = sum of m are whole numbers, the weights'
// gradient is a G / BATCH, the bias's a C / BATCH, and that of a itself, the mean of m (w . x + b), is
// (w . G + b C) / BATCH. No sum has to be kept or computed again: whether it is above 0 says all.

__device__ __forceinline__ Slope as_slope(float slope) { return slope == 0 ? 0 : slope < 0 ? 0xbf80 : 0x3f80; }

// Which sums are above 0: of eight examples number `eight` a bit in each of the four bytes of a word, `eight` % 8 below
// its highest. A sum below 2^-125 counts as 0, since the first byte of a number tells.
struct Kept {
  u32 word[KEPT_SHARED ? 1 : TILES][KEPT_WORDS];

  __device__ __forceinline__ void begin(int tile) {
#pragma unroll
    for (int i = 0; i < KEPT_WORDS; ++i) word[KEPT_SHARED ? 0 : tile][i] = 0;
  }

  __device__ __forceinline__ void add(int tile, int eight, const float (&)[4], const float (&value)[4]) {
    const u32 low = __byte_perm(__float_as_uint(value[0]), __float_as_uint(value[1]), 0x0073);
    const u32 high = __byte_perm(__float_as_uint(value[2]), __float_as_uint(value[3]), 0x0073);
    const u32 above = __byte_perm(low, high, 0x5410) + 0x7f7f7f7fu & 0x80808080u;
    word[KEPT_SHARED ? 0 : tile][eight / 8] |= above >> eight % 8;
  }

  __device__ __forceinline__ void end(Shared &shared, int tile, int chunk) const {
#if KEPT_SHARED
#pragma unroll
    for (int i = 0; i < KEPT_WORDS; ++i) shared.kept[tile][chunk * KEPT_WORDS + i][threadIdx.x] = word[0][i];
#endif
  }

  __device__ __forceinline__ u32 of(const Shared &shared, int tile, int g) const {
#if KEPT_SHARED
    return shared.kept[tile][g * EIGHTS / 8][threadIdx.x];
#else
    return word[tile][g * EIGHTS / 8];
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

// Over all examples.
__device__ __forceinline__ void find_gradient(Gradient &of, const Network &, const Shared &shared, const Laid &at,
                                              const Kept &kept, int tile, int warp) {
  const int column = threadIdx.x % 32 / 4, i = threadIdx.x % 4;
  const u32 *slopes = (const u32 *)shared.slopes[OWN_SLOPES ? warp : 0];
#if KEPT_SHARED
#pragma unroll 2
#else
#pragma unroll
#endif
  for (int g = 0; g < GROUPS; ++g) {
    const u32 above = kept.of(shared, tile, g);
    u32 inputs[COLUMNS];
#pragma unroll
    for (int c = 0; c < COLUMNS; ++c)
      inputs[c] = at.by_coordinate[g][c / 4 * 32 + c % 4 * 4 + column / 2 + column % 2 * 16];
#pragma unroll
    for (int step = 0; step < EIGHTS / 2; ++step) {
      u32 left[4];
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const u32 pair = slopes[16 * g + 4 * i + 2 * step + h];
        const u32 bytes = above << (g * EIGHTS + 2 * step + h) % 8;
        left[2 * h] = pair & halves(bytes, false), left[2 * h + 1] = pair & halves(bytes, true);
      }
      const int first = 8 * step + 2 * i;
#pragma unroll
      for (int c = 0; c < COLUMNS; ++c)
        multiply_add(of.weight[c], left, Factor{pair_of_signs(inputs[c], first), pair_of_signs(inputs[c], first + 1)});
      multiply_add(of.count, left, Factor{0x3f803f80u, 0x3f803f80u});
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
