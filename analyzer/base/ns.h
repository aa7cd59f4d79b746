/*
 * ns.h - the earlier and the later of two moments, or the shorter and the longer of two times.
 */
#ifndef ROOFLINE_NS_H
#define ROOFLINE_NS_H

#include <stdint.h>

static inline int64_t min_ns(int64_t left, int64_t right)
{
	return left < right ? left : right;
}

static inline int64_t max_ns(int64_t left, int64_t right)
{
	return left > right ? left : right;
}

#endif
