// Products of float32 with +-1 on tensor cores, and sums over their rows.
//
// bfloat16 holds +-1 exactly, and a float32 number is the sum of three bfloat16 parts: three products of bfloat16,
// accumulated in float32, give that of float32.

struct Factor {
  u32 low, high;  // two pairs of bfloat16
};

#if EMULATED
__device__ void multiply_add(float (&sum)[4], const u32 (&left)[4], Factor right);
#else
__device__ __forceinline__ void multiply_add(float (&sum)[4], const u32 (&left)[4], Factor right) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right.low), "r"(right.high));
}
#endif

// Two numbers rounded to bfloat16, the first in the low half.
__device__ __forceinline__ u32 rounded(float first, float second) {
#if EMULATED
  return bfloat16_bits(first) | bfloat16_bits(second) << 16;
#else
  u32 both;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(second), "f"(first));
  return both;
#endif
}

#define PARTS 3

// Two numbers as sums of three bfloat16 parts each.
__device__ __forceinline__ void split(float first, float second, u32 &high, u32 &middle, u32 &low) {
  high = rounded(first, second);
  first -= __uint_as_float(high << 16), second -= __uint_as_float(high & 0xffff0000u);
  middle = rounded(first, second);
  first -= __uint_as_float(middle << 16), second -= __uint_as_float(middle & 0xffff0000u);
  low = rounded(first, second);
}

// A 16 x 16 tile, from two accumulators of 16 x 8, as left factor in parts.
struct LeftFactor {
  u32 part[PARTS][4];
};

__device__ __forceinline__ LeftFactor left_factor(const float (&first)[4], const float (&second)[4]) {
  LeftFactor left;
  split(first[0], first[1], left.part[0][0], left.part[1][0], left.part[2][0]);
  split(first[2], first[3], left.part[0][1], left.part[1][1], left.part[2][1]);
  split(second[0], second[1], left.part[0][2], left.part[1][2], left.part[2][2]);
  split(second[2], second[3], left.part[0][3], left.part[1][3], left.part[2][3]);
  return left;
}

// Several products with one left factor. They take turns: a product that waits for none of its own is done meanwhile.
template <int COUNT>
__device__ __forceinline__ void multiply_add(float (&sums)[COUNT][4], const LeftFactor &left, const Factor (&right)[COUNT]) {
#pragma unroll
  for (int part = PARTS - 1; part >= 0; --part)
#pragma unroll
    for (int i = 0; i < COUNT; ++i) multiply_add(sums[i], left.part[part], right[i]);
}

// Puts together what the eight threads of a column hold, in place. Each of them goes on with one half of the values at a
// time, as long as there are several: of COUNT values it ends with a share, from the number that is returned on.
template <int COUNT, typename Combine>
__device__ __forceinline__ int over_rows(float (&values)[COUNT], Combine combine) {
  static_assert(COUNT % 8 == 0 || COUNT == 4 || COUNT == 2 || COUNT == 1, "halves of values, three times or until one is left");
  int first = 0, count = COUNT;
#pragma unroll
  for (int by = 4; by < 32; by *= 2) {
    const bool upper = threadIdx.x & by;
    if (count == 1) {
      values[0] = combine(values[0], __shfl_xor_sync(~0u, values[0], by));
      continue;
    }
    count /= 2;
#pragma unroll
    for (int i = 0; i < COUNT / 2; ++i) {
      if (i >= count) break;
      const float kept = upper ? values[count + i] : values[i], given = upper ? values[i] : values[count + i];
      values[i] = combine(kept, __shfl_xor_sync(~0u, given, by));
    }
    first += upper ? count : 0;
  }
  return first;
}

#define SHARE_OF_ROWS(count) ((count) > 8 ? (count) / 8 : 1)
