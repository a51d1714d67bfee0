// Threefry-2x32 with twenty rounds, as JAX counts: keys, folded keys and words are the general engine's, bit for bit.

typedef unsigned int u32;

struct Key {
  u32 a, b;
};

__device__ __forceinline__ u32 rotated(u32 x, int by) { return __funnelshift_l(x, x, by); }

__device__ __forceinline__ void four_rounds(u32 &x, u32 &y, int a, int b, int c, int d) {
  x += y, y = rotated(y, a) ^ x;
  x += y, y = rotated(y, b) ^ x;
  x += y, y = rotated(y, c) ^ x;
  x += y, y = rotated(y, d) ^ x;
}

__device__ __forceinline__ Key threefry(Key key, u32 x, u32 y) {
  const u32 third = key.a ^ key.b ^ 0x1BD11BDAu;
  x += key.a, y += key.b;
  four_rounds(x, y, 13, 15, 26, 6);
  x += key.b, y += third + 1;
  four_rounds(x, y, 17, 29, 16, 24);
  x += third, y += key.a + 2;
  four_rounds(x, y, 13, 15, 26, 6);
  x += key.a, y += key.b + 3;
  four_rounds(x, y, 17, 29, 16, 24);
  x += key.b, y += third + 4;
  four_rounds(x, y, 13, 15, 26, 6);
  return Key{x + third, y + key.a + 5};
}

// jr.fold_in(key, i), and member i of jr.split(key).
__device__ __forceinline__ Key folded(Key key, u32 i) { return threefry(key, 0, i); }

// Entry i of jr.bits(key, shape).
__device__ __forceinline__ u32 word_of(Key key, u32 i) {
  const Key both = threefry(key, 0, i);
  return both.a ^ both.b;
}

// Entry i of jr.uniform(key, shape).
__device__ __forceinline__ float uniform_of(Key key, u32 i) {
  return __uint_as_float(word_of(key, i) >> 9 | 0x3f800000u) - 1.0f;
}
