// The validation points that a kernel tries by itself: a run's witnesses, then the first points of the batch.
//
// A run halts here only if it classifies all of them; then the general engine validates it, and its word counts.
// The first mistake ends a trial: a network that is still wrong is mostly wrong on the point that it was wrong on
// before, so that point is tried first, and one that it meets among the others takes the place of a witness. Which
// points are tried never changes what a run gives.

#define WITNESSES 16

struct Witnesses {
  u32 word[WITNESSES][WORDS];
  u32 signs;  // bit i: the label of witness i is -1
};

__device__ __forceinline__ Point witness(const Witnesses &all, int i) {
  Point x;
#pragma unroll
  for (int q = 0; q < WORDS; ++q) x.word[q] = all.word[i][q];
  return x;
}

__device__ __forceinline__ float witness_label(const Witnesses &all, int i) { return all.signs >> i & 1 ? -1.0f : 1.0f; }

__device__ __forceinline__ Point point_at(const u32 *points, int i) {
  Point x;
#pragma unroll
  for (int q = 0; q < WORDS; ++q) x.word[q] = points[i * WORDS + q];
  return x;
}

__device__ __forceinline__ void replace(Witnesses &all, int i, const Point &x, float y) {
#pragma unroll
  for (int q = 0; q < WORDS; ++q) all.word[i][q] = x.word[q];
  all.signs = (all.signs & ~(1u << i)) | (y < 0 ? 1u << i : 0u);
}

__device__ __forceinline__ void take_witnesses(Witnesses &all, const u32 *words, const float *labels) {
  all.signs = 0;
  for (int i = 0; i < WITNESSES; ++i) replace(all, i, point_at(words, i), labels[i]);
}

// For the next block: what was tried last comes first.
__device__ __forceinline__ void keep_witnesses(const Witnesses &all, int start, u32 *words, float *labels) {
  for (int i = 0; i < WITNESSES; ++i) {
    const int which = (start + i) % WITNESSES;
    for (int q = 0; q < WORDS; ++q) words[i * WORDS + q] = all.word[which][q];
    labels[i] = witness_label(all, which);
  }
}

__device__ __forceinline__ bool is_finite(float value) { return fabsf(value) <= 3.402823466e38f; }

// The outcomes that a kernel can see, numbered as everywhere.
#define RUNNING 0
#define LEARNED 1
#define DIVERGED 3
