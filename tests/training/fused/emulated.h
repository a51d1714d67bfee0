// A GPU's block on one core: every thread is a fiber, and whoever waits for others lets them run.
// Only what the package's kernels use is here.
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <initializer_list>

#define EMULATED 1
#define __device__
#define __global__
#define __forceinline__ inline
#define __noinline__
#define __launch_bounds__(...)
#define __shared__ static
#define __align__(bytes) alignas(bytes)

struct Index {
  unsigned x;
};
static Index threadIdx, blockIdx;
static unsigned char *emulated_shared;

namespace emulation {
constexpr int MOST = 1024, STACK = 1 << 18;
struct Fiber {
  ucontext_t context;
  char *stack = nullptr;
  bool done;
};
static Fiber fibers[MOST];
static ucontext_t home;
static int threads, current;
static void (*body)();
struct Barrier {
  int arrived, alive;
  long turn;
};
static Barrier of_warp[MOST / 32], of_block;
static uint64_t slots[MOST];

static void resume(int next) {
  const int before = current;
  current = next;
  threadIdx.x = next;
  swapcontext(&fibers[before].context, &fibers[next].context);
  threadIdx.x = current;
}

static int next_alive() {
  for (int i = 1; i <= threads; ++i)
    if (!fibers[(current + i) % threads].done) return (current + i) % threads;
  return -1;
}

static void release(Barrier &barrier) {
  if (barrier.arrived >= barrier.alive) barrier.arrived = 0, ++barrier.turn;
}

static void wait(Barrier &barrier) {
  const long turn = barrier.turn;
  ++barrier.arrived;
  release(barrier);
  while (barrier.turn == turn) {
    const int next = next_alive();
    if (next == current) abort();  // everybody else has ended: a kernel that waits for nobody
    resume(next);
  }
}

static void main_of_fiber() {
  body();
  Fiber &self = fibers[current];
  self.done = true;
  for (Barrier *barrier : {&of_warp[current / 32], &of_block}) --barrier->alive, release(*barrier);
  const int next = next_alive();
  if (next < 0) setcontext(&home);
  current = next;
  threadIdx.x = next;
  setcontext(&fibers[next].context);
}

static void run_block(int count, void (*kernel)()) {
  threads = count, body = kernel;
  of_block = Barrier{0, count, 0};
  for (int w = 0; w < count / 32; ++w) of_warp[w] = Barrier{0, 32, 0};
  for (int i = 0; i < count; ++i) {
    Fiber &fiber = fibers[i];
    if (!fiber.stack) fiber.stack = (char *)malloc(STACK);
    fiber.done = false;
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack;
    fiber.context.uc_stack.ss_size = STACK;
    fiber.context.uc_link = nullptr;
    makecontext(&fiber.context, main_of_fiber, 0);
  }
  current = 0, threadIdx.x = 0;
  swapcontext(&home, &fibers[0].context);
}

template <typename T>
static T exchanged(T value, int from) {
  memcpy(&slots[current], &value, sizeof value);
  wait(of_warp[current / 32]);
  T result;
  memcpy(&result, &slots[current / 32 * 32 + (from & 31)], sizeof result);
  wait(of_warp[current / 32]);
  return result;
}
}  // namespace emulation

static void __syncthreads() { emulation::wait(emulation::of_block); }
static void __syncwarp() { emulation::wait(emulation::of_warp[emulation::current / 32]); }

template <typename T>
static T __shfl_sync(unsigned, T value, int lane) {
  return emulation::exchanged(value, lane);
}
template <typename T>
static T __shfl_xor_sync(unsigned, T value, int by) {
  return emulation::exchanged(value, (int)(threadIdx.x % 32) ^ by);
}
template <typename T>
static T __shfl_down_sync(unsigned, T value, int by) {
  const int lane = threadIdx.x % 32;
  return emulation::exchanged(value, lane + by < 32 ? lane + by : lane);
}
static unsigned __ballot_sync(unsigned, bool value) {
  unsigned result = 0;
  const int warp = emulation::current / 32;
  emulation::slots[emulation::current] = value;
  emulation::wait(emulation::of_warp[warp]);
  for (int lane = 0; lane < 32; ++lane)
    if (!emulation::fibers[warp * 32 + lane].done && emulation::slots[warp * 32 + lane]) result |= 1u << lane;
  emulation::wait(emulation::of_warp[warp]);
  return result;
}
static int __reduce_min_sync(unsigned mask, int value) {
  for (int by = 16; by; by /= 2) {
    const int other = __shfl_xor_sync(mask, value, by);
    if (other < value) value = other;
  }
  return value;
}
static int atomicMin(int *at, int value) {
  const int before = *at;
  if (value < before) *at = value;
  return before;
}
static bool __any_sync(unsigned mask, bool value) { return __ballot_sync(mask, value) != 0; }

static unsigned __funnelshift_l(unsigned low, unsigned high, int by) {
  by &= 31;
  return by ? high << by | low >> (32 - by) : high;
}
static unsigned __funnelshift_r(unsigned low, unsigned high, int by) {
  by &= 31;
  return by ? high << (32 - by) | low >> by : low;
}
static int __popc(unsigned x) { return __builtin_popcount(x); }
static int __ffs(unsigned x) { return __builtin_ffs(x); }
static float __uint_as_float(unsigned bits) {
  float value;
  memcpy(&value, &bits, 4);
  return value;
}
static unsigned __float_as_uint(float value) {
  unsigned bits;
  memcpy(&bits, &value, 4);
  return bits;
}
static unsigned __byte_perm(unsigned low, unsigned high, unsigned selector) {
  const uint64_t both = (uint64_t)high << 32 | low;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i) result |= (unsigned)(both >> 8 * (selector >> 4 * i & 7) & 0xff) << 8 * i;
  return result;
}

// The upper half of a float, rounded to nearest, ties to even.
static unsigned bfloat16_bits(float value) {
  unsigned bits;
  memcpy(&bits, &value, 4);
  if (value != value) return bits >> 16 | 0x40;
  return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

// mma.sync.m16n8k16 of bfloat16, from the lanes' parts of both factors; sums in double, rounded once.
template <typename Factor>
static void emulated_multiply_add(float (&sum)[4], const unsigned (&left)[4], Factor right) {
  const int lane = threadIdx.x % 32;
  unsigned all_left[32][4], all_right[32][2];
  for (int i = 0; i < 4; ++i) {
    emulation::slots[emulation::current] = left[i];
    emulation::wait(emulation::of_warp[emulation::current / 32]);
    for (int other = 0; other < 32; ++other)
      all_left[other][i] = (unsigned)emulation::slots[emulation::current / 32 * 32 + other];
    emulation::wait(emulation::of_warp[emulation::current / 32]);
  }
  const unsigned halves[2] = {right.low, right.high};
  for (int i = 0; i < 2; ++i) {
    emulation::slots[emulation::current] = halves[i];
    emulation::wait(emulation::of_warp[emulation::current / 32]);
    for (int other = 0; other < 32; ++other)
      all_right[other][i] = (unsigned)emulation::slots[emulation::current / 32 * 32 + other];
    emulation::wait(emulation::of_warp[emulation::current / 32]);
  }
  const auto half = [](unsigned both, int which) { return (double)__uint_as_float(which ? both & 0xffff0000u : both << 16); };
  for (int c = 0; c < 4; ++c) {
    const int row = lane / 4 + c / 2 * 8, column = lane % 4 * 2 + c % 2;
    double total = sum[c];
    for (int k = 0; k < 16; ++k) {
      const double a = half(all_left[row % 8 * 4 + k % 8 / 2][k / 8 * 2 + row / 8], k % 2);
      const double b = half(all_right[column * 4 + k % 8 / 2][k / 8], k % 2);
      total += a * b;
    }
    sum[c] = (float)total;
  }
}
