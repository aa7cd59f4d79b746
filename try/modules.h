/*
 * modules.h - the functions of handlers.h that load code, with the arguments of cuda.h.
 */
#ifndef ROOFLINE_TRY_MODULES_H
#define ROOFLINE_TRY_MODULES_H

#include <cuda.h>

CUresult try_load_file(CUmodule *module, const char *path);
CUresult try_load_data(CUmodule *module, const void *image);
CUresult try_load_data_ex(CUmodule *module, const void *image, unsigned count,
			  CUjit_option *options, void **values);
CUresult try_load_fat_binary(CUmodule *module, const void *image);
CUresult try_load_library(CUlibrary *library, const void *image, CUjit_option *options,
			  void **values, unsigned count, CUlibraryOption *library_options,
			  void **library_values, unsigned library_count);
CUresult try_load_library_file(CUlibrary *library, const char *path, CUjit_option *options,
			       void **values, unsigned count, CUlibraryOption *library_options,
			       void **library_values, unsigned library_count);

#endif
