// Activations with their slopes, and the slopes of losses. Where a function has a corner its slope is what
// JAX's derivative of the general engine's function is there.

#define RELU 0
#define RELU6 1
#define SIGMOID 2
#define SQUARE 3
#define GELU 4
#define POWER 5
#define TRIANGLE_WAVE 6
#define ZIGZAG 7
#define OSCILLATING 8
#define SINUSOID 9
#define IDENTITY 10

#define HALF_PI 1.57079632679489661923f

// How far the point of the triangle wave is from the top before it, in half periods: in [-1, 1].
__device__ __forceinline__ float phase_of(float z, int k) {
  const float phase = ((float)k - z) / 2;
  return phase - 2 * rintf(phase / 2);
}

// By squares; those that most degrees need without a branch.
__device__ __forceinline__ float power(float z, int k) {
  const float second = z * z, fourth = second * second;
  float result = k & 1 ? z : 1;
  result *= k & 2 ? second : 1;
  result *= k & 4 ? fourth : 1;
  z = fourth;
  for (k >>= 3; k; k >>= 1) {
    z *= z;
    if (k & 1) result *= z;
  }
  return result;
}

// The polynomial through (k, 1), (k - 2, -1), ... in Newton's form, and its slope.
__device__ __forceinline__ float oscillating(float z, int k, float *slope) {
  const float j = ((float)k - z) / 2;
  float total = 1, term = 1, total_slope = 0, term_slope = 0;
  for (int i = 0; i < k; ++i) {
    const float factor = -2.0f / (i + 1);
    term_slope = (term_slope * (j - i) - term / 2) * factor;
    term = term * (j - i) * factor;
    total += term, total_slope += term_slope;
  }
  *slope = total_slope;
  return total;
}

__device__ __forceinline__ float activation(float z, int k) {
#if ACTIVATION == RELU && EMULATED
  return z > 0 ? z : (z != z ? z : 0);
#elif ACTIVATION == RELU
  float value;
  asm("max.NaN.f32 %0, %1, 0f00000000;" : "=f"(value) : "f"(z));
  return value;
#elif ACTIVATION == RELU6
  return z != z ? z : fminf(fmaxf(z, 0), 6);
#elif ACTIVATION == SIGMOID
  return 1 / (1 + expf(-z));
#elif ACTIVATION == SQUARE
  return z * z;
#elif ACTIVATION == GELU
  return z * 0.5f * erfcf(-z * 0.70710678118654752440f);
#elif ACTIVATION == POWER
  return power(z, k);
#elif ACTIVATION == TRIANGLE_WAVE
  return 1 - 2 * fabsf(phase_of(z, k));
#elif ACTIVATION == ZIGZAG
  const float end = k, outside = fmaxf(z - end, 0) + (k & 1 ? -1 : 1) * fmaxf(-end - z, 0);
  return z != z ? z : 1 - 2 * fabsf(phase_of(fminf(fmaxf(z, -end), end), k)) + outside;
#elif ACTIVATION == OSCILLATING
  float slope;
  return oscillating(z, k, &slope);
#elif ACTIVATION == SINUSOID
  return sinf(HALF_PI * (SCALE * z + (float)(1 - k)));
#else
  return z;
#endif
}

__device__ __forceinline__ float activation_slope(float z, int k) {
#if ACTIVATION == RELU
  return z > 0 ? 1 : 0;
#elif ACTIVATION == RELU6
  return z > 0 && z < 6 ? 1 : 0;
#elif ACTIVATION == SIGMOID
  const float s = 1 / (1 + expf(-z));
  return s * (1 - s);
#elif ACTIVATION == SQUARE
  return 2 * z;
#elif ACTIVATION == GELU
  return 0.5f * erfcf(-z * 0.70710678118654752440f) + z * 0.39894228040143267794f * expf(-z * z / 2);
#elif ACTIVATION == POWER
  return k * power(z, k - 1);
#elif ACTIVATION == TRIANGLE_WAVE
  const float u = phase_of(z, k);
  return u >= 0 ? 1 : -1;
#elif ACTIVATION == ZIGZAG
  const float end = k, u = phase_of(fminf(fmaxf(z, -end), end), k);
  const float inside = fabsf(z) < end ? 1.0f : fabsf(z) == end ? 0.5f : 0.0f;
  return (u >= 0 ? inside : -inside) + (z > end ? 1.0f : 0.0f) - (z < -end ? (k & 1 ? -1.0f : 1.0f) : 0.0f);
#elif ACTIVATION == OSCILLATING
  float slope;
  oscillating(z, k, &slope);
  return slope;
#elif ACTIVATION == SINUSOID
  return HALF_PI * SCALE * cosf(HALF_PI * (SCALE * z + (float)(1 - k)));
#else
  return 1;
#endif
}

#define HINGE 0
#define SQUARE_LOSS 1
#define LOGISTIC 2
#define CORRELATION 3
#define CHOSEN 4  // one of the others by a number of the run

struct Objective {
  float margin;
  int loss;
};

// The derivative of the loss of one example by the output.
__device__ __forceinline__ float loss_slope(float y, float output, Objective of) {
  switch (LOSS == CHOSEN ? of.loss : LOSS) {
    case HINGE:
      return of.margin - y * output > 0 ? -y : 0;
    case SQUARE_LOSS:
      return -2 * (y - output);
    case LOGISTIC:
      return -y / (1 + expf(y * output));
    default:
      return -y;
  }
}
