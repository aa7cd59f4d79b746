// Kernels whose instructions of half precision are known, for machine_code.bats.
#include <cuda_fp16.h>

extern "C" __global__ void singles(float *x, float y)
{
	x[threadIdx.x] = x[threadIdx.x] * y + 1.0f;
}

extern "C" __global__ void halves(__half2 *x, __half2 y)
{
	x[threadIdx.x] = __hfma2(x[threadIdx.x], y, y);
}

extern "C" __global__ void conversion(float *x, const __half *y)
{
	x[threadIdx.x] = __half2float(y[threadIdx.x]);
}

// An array of 256 bytes that is addressed by a number known at run time only: local memory.
extern "C" __global__ void spilled(float *x, int n)
{
	float kept[64];

	for (int i = 0; i < 64; i++)
		kept[(i * n) & 63] = x[i];
	x[threadIdx.x] = kept[(n + 5) & 63] + kept[(n * 3) & 63];
}

// ptxas sets several registers to constants with HFMA2.
extern "C" __global__ void constants(float *x, int n)
{
	float a = 1.0f, b = 2.0f, c = 0.5f, d = 0.25f;

	for (int i = 0; i < n; i++) {
		a = a * x[i] + b;
		b = b * x[i] + c;
		c = c * x[i] + d;
		d = d * x[i] + a;
	}
	x[threadIdx.x] = a + b + c + d;
}

// Launched before the kernel before it ends, loads one value of its own before it waits, and lets the next begin early.
extern "C" __global__ void dependent(float *x, const float *weights)
{
#if __CUDA_ARCH__ >= 900
	float weight = weights[threadIdx.x];

	cudaGridDependencySynchronize();
	x[threadIdx.x] *= weight;
	cudaTriggerProgrammaticLaunchCompletion();
#endif
	x[threadIdx.x] += 1.0f;
}
