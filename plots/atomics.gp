# atomics.gp - what the atomics of kernels take, and what they would on one address and on many.

load plots.'/plane.gp'
