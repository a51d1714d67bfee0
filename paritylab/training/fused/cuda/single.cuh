// Gradient descent of a network that each of its threads holds whole: a thread draws its share of the examples, one after
// the other, and adds what each of them says to the gradient; then the threads add theirs up, and move alike.

#define SHARE ((BATCH + THREADS - 1) / THREADS)  // of the examples

// One step, on the examples of a key. Threads of a run that has halted only help the others of their warp.
__device__ __forceinline__ void step_of_whole(Network &net, const Numbers &own, Key key, const TARGET_TYPE *target,
                                              const float *up, bool on, const Seat &seat, Shared &shared, int &turn) {
  float gradient[PER][N] = {}, bias_gradient[PER] = {};
#if MLP
  float output_gradient[PER] = {}, constant_gradient[1] = {};
#endif
  const int begin = seat.u * SHARE, end = !on ? 0 : begin + SHARE < BATCH ? begin + SHARE : BATCH;
  Stream stream(key, begin);
#if SHARE > 1
#pragma unroll 1
#endif
  for (int b = begin; b < end; ++b) {
    const Point x = stream.next(up);
    float z[PER], values[PER], output = MLP ? 0 : 1;
    preactivations(net, x, z);
#pragma unroll
    for (int p = 0; p < PER; ++p) {
      values[p] = activation(z[p], net.k);
#if MLP
      output = fmaf(net.output[p], values[p], output);
#else
      output *= values[p];
#endif
    }
#if MLP
    output += net.constant;
#endif
    const float slope = loss_slope(stream.noisy(label(x, target), own.flips), output, own.objective);
    float g[PER];
#pragma unroll
    for (int p = 0; p < PER; ++p) {
#if MLP
      const float factor = net.output[p];
      output_gradient[p] = fmaf(slope, values[p], output_gradient[p]);
#else
      float factor = 1;  // the other units
#pragma unroll
      for (int q = 0; q < PER; ++q)
        if (q != p) factor *= values[q];
#endif
      g[p] = slope * factor * activation_slope(z[p], net.k);
      bias_gradient[p] += g[p];
    }
#if MLP
    constant_gradient[0] += slope;
#endif
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
#if MLP
  sum_over_run(output_gradient, seat, shared, turn);
  sum_over_run(constant_gradient, seat, shared, turn);
#endif
  if (!on) return;
#pragma unroll
  for (int p = 0; p < PER; ++p) {
#pragma unroll
    for (int j = 0; j < N; ++j)
      net.weight[p][j] = moved(net.weight[p][j], gradient[p][j] / BATCH, own.pace.rate[0], own.pace.shrink[0]);
    net.bias[p] = moved(net.bias[p], bias_gradient[p] / BATCH, own.pace.rate[1], own.pace.shrink[1]);
#if MLP
    net.output[p] = moved(net.output[p], output_gradient[p] / BATCH, own.pace.rate[2], own.pace.shrink[2]);
#endif
  }
#if MLP
  net.constant = moved(net.constant, constant_gradient[0] / BATCH, own.pace.rate[3], own.pace.shrink[3]);
#endif
}
