# roofline.gp - kernels and the application under the roofs of memory and arithmetic.

load plots.'/plane.gp'
