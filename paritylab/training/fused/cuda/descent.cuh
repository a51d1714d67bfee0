// What a step moves each array by, and what a run brings along.

// The rate of each array of the network, and what it shrinks by at a step.
struct Pace {
  float rate[ARRAYS], shrink[ARRAYS];
};

__device__ __forceinline__ float moved(float weight, float gradient, float rate, float shrink) {
#if DECAY
  return weight + (-rate * gradient - shrink * weight);
#else
  return fmaf(-rate, gradient, weight);
#endif
}

// The numbers of a run, in the order in which the host writes them.
struct Numbers {
  Pace pace;
  Objective objective;
  float flips;
};

__device__ __forceinline__ Numbers numbers_of(const float *row) {
  Numbers of_run;
#pragma unroll
  for (int i = 0; i < ARRAYS; ++i) of_run.pace.rate[i] = row[i], of_run.pace.shrink[i] = row[ARRAYS + i];
  of_run.objective = Objective{row[2 * ARRAYS], (int)row[2 * ARRAYS + 2]};
  of_run.flips = row[2 * ARRAYS + 1];
  return of_run;
}
