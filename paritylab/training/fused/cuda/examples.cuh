// The examples of a step, as packed bits: bit 1 is a coordinate at -1.
//
// The words of a step, ITEMS of them, are the batch's inputs and then, if labels are noisy, one bit per example
// that says whether its label is flipped. Threads of a run draw them together, some steps ahead; a thread that has a run
// for itself draws them as they come.

#define WORDS ((N + 31) / 32)  // of one point
#if UNIFORM_INPUTS
#define INPUT_WORDS ((BATCH * N + 31) / 32)  // examples follow each other without a gap
#else
#define INPUT_WORDS (BATCH * WORDS)
#endif
#if NOISY
#define ITEMS (INPUT_WORDS + (BATCH + 31) / 32)
#else
#define ITEMS INPUT_WORDS
#endif
#define LAST_WORD (N % 32 ? (1u << N % 32) - 1 : ~0u)  // the bits of a point's last word

// Word number `item` of the inputs whose key is given.
__device__ __forceinline__ u32 input_word(Key key, int item, const float *up) {
#if UNIFORM_INPUTS
  return word_of(key, item);
#else
  const int example = item / WORDS, first = 32 * (item % WORDS);
  u32 word = 0;
  for (int i = 0; i < 32 && first + i < N; ++i)
    if (!(uniform_of(key, example * N + first + i) < up[first + i])) word |= 1u << i;
  return word;
#endif
}

// Word number `item` of the step whose key is given.
__device__ __forceinline__ u32 drawn(Key key, int item, const float *up, float flips) {
#if NOISY
  if (item >= INPUT_WORDS) {
    const Key flip_key = folded(key, 1);
    u32 word = 0;
    for (int i = 0; i < 32; ++i) {
      const int example = 32 * (item - INPUT_WORDS) + i;
      if (example < BATCH && uniform_of(flip_key, example) < flips) word |= 1u << i;
    }
    return word;
  }
  key = folded(key, 0);
#endif
  return input_word(key, item, up);
}

struct Point {
  u32 word[WORDS];
};

// Example number b of a step.
__device__ __forceinline__ Point example(const u32 *words, int b) {
  Point x;
#pragma unroll
  for (int q = 0; q < WORDS; ++q) {
#if UNIFORM_INPUTS
    const int bit = b * N + 32 * q, first = bit / 32;
    const u32 next = first + 1 < INPUT_WORDS ? words[first + 1] : 0;
    x.word[q] = __funnelshift_r(words[first], next, bit % 32);
#else
    x.word[q] = words[b * WORDS + q];
#endif
  }
  x.word[WORDS - 1] &= LAST_WORD;
  return x;
}

__device__ __forceinline__ float coordinate(const Point &x, int j) {
  return __uint_as_float(0x3f800000u | (x.word[j / 32] << (31 - j % 32) & 0x80000000u));
}

// The target of a run: the mask of a parity, the values of a symmetric function, or the terms of a polynomial whose sign
// is the label, the words of each term's mask followed by the bits of its coefficient.
__device__ __forceinline__ float label(const Point &x, const TARGET_TYPE *target) {
#if TERMS
  float value = 0;
  for (int t = 0; t < TERMS; ++t, target += WORDS + 1) {
    int odd = 0;
#pragma unroll
    for (int q = 0; q < WORDS; ++q) odd ^= __popc(x.word[q] & target[q]);
    const float coefficient = __uint_as_float(target[WORDS]);
    value += odd & 1 ? -coefficient : coefficient;
  }
  return value >= 0 ? 1.0f : -1.0f;
#else
  int count = 0;
#pragma unroll
  for (int q = 0; q < WORDS; ++q) {
#if PARITY
    count += __popc(x.word[q] & target[q]);
#else
    count += __popc(x.word[q]);
#endif
  }
#if PARITY
  return count & 1 ? -1.0f : 1.0f;
#else
  return target[count];
#endif
#endif
}

__device__ __forceinline__ float flipped(float y, const u32 *words, int b) {
#if NOISY
  return words[INPUT_WORDS + b / 32] >> b % 32 & 1 ? -y : y;
#else
  return y;
#endif
}

// The examples of a step, one after the other, from number `begin` on.
struct Stream {
  Key inputs, flips;
  int count;  // of the examples so far
#if UNIFORM_INPUTS
  u32 window[WORDS + 1];  // the words that the next example has bits of
  int first;              // the number of the first of them
#endif

  __device__ Stream(Key step, int begin) : inputs(NOISY ? folded(step, 0) : step), flips(folded(step, 1)), count(begin) {
#if UNIFORM_INPUTS
    first = begin * N / 32;
#pragma unroll
    for (int q = 0; q <= WORDS; ++q) window[q] = first + q < INPUT_WORDS ? word_of(inputs, first + q) : 0;
#endif
  }

  __device__ __forceinline__ Point next(const float *up) {
    Point x;
#pragma unroll
    for (int q = 0; q < WORDS; ++q) {
#if UNIFORM_INPUTS
      x.word[q] = __funnelshift_r(window[q], window[q + 1], count * N % 32);
#else
      x.word[q] = input_word(inputs, count * WORDS + q, up);
#endif
    }
    x.word[WORDS - 1] &= LAST_WORD;
    ++count;
#if UNIFORM_INPUTS
    for (; first < count * N / 32; ++first) {
#pragma unroll
      for (int q = 0; q < WORDS; ++q) window[q] = window[q + 1];
      window[WORDS] = first + WORDS + 1 < INPUT_WORDS ? word_of(inputs, first + WORDS + 1) : 0;
    }
#endif
    return x;
  }

  // Its label, flipped or not, if `y` is the label of the example that came last.
  __device__ __forceinline__ float noisy(float y, float probability) const {
    return NOISY && uniform_of(flips, count - 1) < probability ? -y : y;
  }
};
