# message_sizes.gp - how fast messages are by their size, and what links do.

load plots.'/plane.gp'
