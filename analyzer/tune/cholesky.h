/*
 * cholesky.h - symmetric positive definite systems of equations.
 *
 * As large as there are trials: 80 unknowns take 0.1 ms.  GSL and LAPACK have this and a thousand other functions;
 * for 30 lines they would be one more library that has to be there wherever a program is tuned.
 */
#ifndef ROOFLINE_CHOLESKY_H
#define ROOFLINE_CHOLESKY_H

#include <stdbool.h>
#include <stddef.h>

/* Replaces the lower triangle of a (count x count, by rows) by its factor L with L L^T = a.  False where a is not
 * positive definite. */
bool cholesky_factor(double *a, size_t count);

/* Replaces b by the solution x of L x = b. */
void cholesky_forward(const double *factor, size_t count, double *b);

/* Replaces b by the solution x of L L^T x = b. */
void cholesky_solve(const double *factor, size_t count, double *b);

#endif
