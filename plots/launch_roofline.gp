# launch_roofline.gp - how long kernels are, and for how much of the time they keep the GPU busy.

load plots.'/plane.gp'
