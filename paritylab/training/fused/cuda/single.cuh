// Gradient descent of a run that one thread holds: each example is drawn, tried and added to the gradient, then the next.

// One step, on the examples of a key.
__device__ __forceinline__ void step_of_one(Network &net, const Numbers &own, Key key, const TARGET_TYPE *target,
                                            const float *up) {
  float gradient[PER][N] = {}, bias_gradient[PER] = {};
  Stream stream(key);
#if BATCH > 1
#pragma unroll 1
#endif
  for (int b = 0; b < BATCH; ++b) {
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
#pragma unroll
  for (int p = 0; p < PER; ++p) {
#pragma unroll
    for (int j = 0; j < N; ++j)
      net.weight[p][j] = moved(net.weight[p][j], gradient[p][j] / BATCH, own.pace.rate[0], own.pace.shrink[0]);
    net.bias[p] = moved(net.bias[p], bias_gradient[p] / BATCH, own.pace.rate[1], own.pace.shrink[1]);
  }
}
