/*
 * reals.h - the lesser and the greater of two numbers that are numbers.
 *
 * fmin() and fmax() also take what is none, for which they are called as functions: millions of times that shows.
 */
#ifndef ROOFLINE_REALS_H
#define ROOFLINE_REALS_H

static inline double min_real(double a, double b)
{
	return a < b ? a : b;
}

static inline double max_real(double a, double b)
{
	return a > b ? a : b;
}

#endif
