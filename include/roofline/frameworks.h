/*
 * frameworks.h - frameworks of Python whose libraries launch a program's kernels.
 *
 * The collector writes the names of those that a process has loaded into process.csv (key frameworks); the analyzer answers
 * in their own terms.  To add one: its row here, and its words in the rules (analyzer/advice/rules/).
 */
#ifndef ROOFLINE_FRAMEWORKS_H
#define ROOFLINE_FRAMEWORKS_H

/*
 * FRAMEWORK(id, name, library, kernel)
 *   library  is in the path of a file that only a process with this framework maps
 *   kernel   is in the names of the kernels that its own libraries and compilers make, as demangled
 */
#define FRAMEWORKS(FRAMEWORK)                                              \
	FRAMEWORK(pytorch, "PyTorch", "/libtorch_cuda.so", "at::native::") \
	FRAMEWORK(jax, "JAX", "/xla_cuda_plugin.so", "_fusion")            \
	FRAMEWORK(cupy, "CuPy", "/cupy/_core/", "cupy_")                   \
	FRAMEWORK(numba, "Numba", "/numba/_dispatcher", "cudapy::")

#define FRAMEWORK_CONSTANT(id, name, library, kernel) FRAMEWORK_##id,
enum framework { FRAMEWORK_NONE, FRAMEWORKS(FRAMEWORK_CONSTANT) FRAMEWORK_COUNT };
#undef FRAMEWORK_CONSTANT

#endif
