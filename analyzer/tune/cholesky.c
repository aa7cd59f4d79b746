/* cholesky.c - symmetric positive definite systems of equations. */
#include "tune/cholesky.h"

#include <math.h>

bool cholesky_factor(double *a, size_t count)
{
	for (size_t column = 0; column < count; column++) {
		for (size_t row = column; row < count; row++) {
			double sum = a[row * count + column];

			for (size_t k = 0; k < column; k++)
				sum -= a[row * count + k] * a[column * count + k];
			if (row == column && !(sum > 0))
				return false;
			a[row * count + column] =
				row == column ? sqrt(sum) : sum / a[column * count + column];
		}
	}
	return true;
}

void cholesky_forward(const double *factor, size_t count, double *b)
{
	for (size_t row = 0; row < count; row++) {
		for (size_t k = 0; k < row; k++)
			b[row] -= factor[row * count + k] * b[k];
		b[row] /= factor[row * count + row];
	}
}

void cholesky_solve(const double *factor, size_t count, double *b)
{
	cholesky_forward(factor, count, b);
	for (size_t row = count; row-- > 0;) {
		for (size_t k = row + 1; k < count; k++)
			b[row] -= factor[k * count + row] * b[k];
		b[row] /= factor[row * count + row];
	}
}
