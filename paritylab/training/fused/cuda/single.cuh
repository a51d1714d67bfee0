// Gradient descent of a network that each of its threads holds whole: a thread draws its share of the examples, one after
// the other, and adds what each of them says to the gradient; then the threads add theirs up, and move alike.

#define SHARE ((BATCH + THREADS - 1) / THREADS)  // of the examples

// One step, on the examples of a key. Threads of a run that has halted only help the others of their warp.
__device__ __forceinline__ void step_of_whole(Network &net, const Numbers &own, Key key, const TARGET_TYPE *target,
                                              const float *up, bool on, const Seat &seat, Shared &shared, int &turn) {
  float gradient[PER][N] = {}, bias_gradient[PER] = {};
  const int begin = seat.u * SHARE, end = !on ? 0 : begin + SHARE < BATCH ? begin + SHARE : BATCH;
  Stream stream(key, begin);
#if SHARE > 1
#pragma unroll 1
#endif
  for (int b = begin; b < end; ++b) {
    const Point x = stream.next(up);
    float z[PER], values[PER], output = 1;
    preactivations(net, x, z);
#pragma unroll
    for (int p = 0; p < PER; ++p) output *= values[p] = activation(z[p], net.k);
    const float slope = loss_slope(stream.noisy(label(x, target), own.flips), output, own.margin);
    float g[PER];
#pragma unroll
    for (int p = 0; p < PER; ++p) {
      float others = 1;
#pragma unroll
      for (int q = 0; q < PER; ++q)
        if (q != p) others *= values[q];
      g[p] = slope * others * activation_slope(z[p], net.k);
      bias_gradient[p] += g[p];
    }
#pragma unroll
    for (int j = 0; j < N; ++j) {
      const float xj = coordinate(x, j);
#pragma unroll
      for (int p = 0; p < PER; ++p) gradient[p][j] = fmaf(g[p], xj, gradient[p][j]);
    }
  }
  sum_over_run(bias_gradient, seat, shared, turn);
#pragma unroll
  for (int p = 0; p < PER; ++p) sum_over_run(gradient[p], seat, shared, turn);
  if (!on) return;
#pragma unroll
  for (int p = 0; p < PER; ++p) {
#pragma unroll
    for (int j = 0; j < N; ++j)
      net.weight[p][j] = moved(net.weight[p][j], gradient[p][j] / BATCH, own.pace.rate[0], own.pace.shrink[0]);
    net.bias[p] = moved(net.bias[p], bias_gradient[p] / BATCH, own.pace.rate[1], own.pace.shrink[1]);
  }
}
