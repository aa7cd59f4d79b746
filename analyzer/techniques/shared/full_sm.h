/*
 * full_sm.h - how many warps an SM needs to be busy with arithmetic alone.
 */
#ifndef ROOFLINE_FULL_SM_H
#define ROOFLINE_FULL_SM_H

/* An SM with fewer has schedulers that idle while an addition is computed: four of them, and 4 cycles, for each of which
 * they take a warp (CUDA C++ Programming Guide, 'Multiprocessor Level', of compute capability 7 and later). */
#define FULL_SM_WARPS (4 * 4)

#endif
