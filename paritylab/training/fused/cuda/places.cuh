// Where coordinates and examples stand in words.
//
// A product does not mind in which order the terms of its sums come. So the two numbers that share a register of
// tensor cores are chosen 16 places apart: one shift brings both of their bits to where a pair of bfloat16 has its signs,
// and inputs stay bits until the moment that they are multiplied.
//
// A word has 32 places. What fills at most half of it stands at places 0 to 7 and 16 to 23, so that it still makes pairs.

#define FEW_IN_LAST_WORD (INPUT_TILES % 2 == 1)

// What stands at a place, counted from 0.
__device__ __forceinline__ int number_at(int place, bool few) { return few ? place % 8 + place / 16 * 8 : place; }

// Whether something stands there.
__device__ __forceinline__ bool taken_place(int place, bool few) { return !few || place % 16 < 8; }

// The coordinate at a place of word number w.
__device__ __forceinline__ int coordinate_at(int w, int place) {
  return 32 * w + number_at(place, FEW_IN_LAST_WORD && w == WORDS - 1);
}

// The place of a coordinate in its word.
__device__ __forceinline__ constexpr int place_in_word(int j) {
  return FEW_IN_LAST_WORD && j / 32 == WORDS - 1 ? j % 32 + j % 32 / 8 * 8 : j % 32;
}

// Word number w of a point, with its bits at their places.
__device__ __forceinline__ u32 placed(u32 word, int w) {
  return FEW_IN_LAST_WORD && w == WORDS - 1 ? (word & 0xffu) | (word & 0xff00u) << 8 : word;
}

// +-1 for the bits at a place and 16 further on, as a pair of bfloat16.
__device__ __forceinline__ u32 pair_of_signs(u32 word, int place) {
  return (word << (15 - place) & 0x80008000u) | 0x3f803f80u;
}

// 16 coordinates of a point as right factor, from their placed word. What lies outside of the cube meets weights that are 0.
__device__ __forceinline__ Factor factor_of_tile(u32 word, int tile) {
  const int first = tile % 2 * 8 + threadIdx.x % 4;
  return Factor{pair_of_signs(word, first), pair_of_signs(word, first + 4)};
}

// The transpose of the 32 x 32 bits that a warp holds, a row in each lane.
__device__ __forceinline__ u32 transposed(u32 row) {
  u32 mask = 0x0000ffffu;
#pragma unroll
  for (int by = 16; by; by /= 2, mask ^= mask << by) {
    const u32 other = __shfl_xor_sync(~0u, row, by);
    row = threadIdx.x & by ? (row & ~mask) | (other >> by & mask) : (row & mask) | (other & mask) << by;
  }
  return row;
}

// Examples are taken in groups of 32, and eight of them at a time by tensor cores: number `eight` of a group has a column
// for each example, and a thread that multiplies column `column` has it from this place.
__device__ __forceinline__ int place_of_column(int eight, int column) {
  return eight / 2 * 8 + eight % 2 + column / 2 * 2 + column % 2 * 16;
}

// Where a thread has its coordinate of column tile c among the words that say how a group's examples have each of them.
__device__ __forceinline__ int word_of_coordinate(int c) {
  const int column = threadIdx.x % 32 / 4;
  return c / 4 * 32 + c % 4 * 4 + column / 2 + column % 2 * 16;
}

// Slopes of a group in the order in which threads take them as factors: eight for each of the four columns of threads.
__device__ __forceinline__ int slot_of(int place) {
  const int within = place % 16;
  return within / 2 % 4 * 8 + within / 8 * 4 + within % 2 * 2 + place / 16;
}
