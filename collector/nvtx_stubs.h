/*
 * nvtx_stubs.h - functions that stand in for CUPTI's in a module that uses NVTX, until CUPTI's are there.
 *
 * While a module's first NVTX call is with the tool, NVTX holds back the module's other threads, and a child that is forked
 * meanwhile for good: it waits for a thread that it does not have.  So that call only gets these, which takes microseconds.
 * Whoever calls one of them has the module handed to CUPTI, and goes on to CUPTI's function if there is one by then.
 */
#ifndef ROOFLINE_NVTX_STUBS_H
#define ROOFLINE_NVTX_STUBS_H

#include <stdbool.h>

/* Puts them into the functions of a module, given what NVTX gives to a tool.  False when it is of another kind.  Each call of
 * one of them calls serve first, which hands to CUPTI what can be handed to it. */
bool nvtx_stubs_put(void *table, void (*serve)(void));

/* CUPTI has put its functions there, or never will: what it left is nothing to the module from now on. */
void nvtx_stubs_end(void *table);

/* What a module has for nvtxDomainRangePop and nvtxDomainRangePushEx, to be cast; NULL: nothing, or a stub. */
typedef void nvtx_any_function(void);
nvtx_any_function *nvtx_stubs_domain_pop(void *table);
nvtx_any_function *nvtx_stubs_domain_push(void *table);

/* Where there is one. */
void nvtx_stubs_replace_domain_push(void *table, nvtx_any_function *function);

#endif
