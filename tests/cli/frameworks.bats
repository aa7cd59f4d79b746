#!/usr/bin/env bats
# Programs of PyTorch, JAX and CuPy (tests/corpus/frameworks): what they are told first, and how much it brings.

load common

setup_file() {
	tar -xf "$BATS_TEST_DIRNAME/../corpus/frameworks/recordings.1.tar" -C "$BATS_FILE_TMPDIR"
	cp "$BATS_TEST_DIRNAME"/../corpus/frameworks/*.roofline "$BATS_FILE_TMPDIR"
}

setup() {
	corpus="$root/tests/corpus/frameworks"
	cd "$BATS_FILE_TMPDIR" || return
}

# told RUN: what advise says of it
told() {
	run -0 "$ROOFLINECTL" advise "$1.roofline"
}

# step RUN OPTION: speedup, low and high of a step, or of what changes where no step is found
step() {
	"$ROOFLINECTL" whatif --format json "$2" "$1.roofline" | python3 -c '
import json, sys
said = json.load(sys.stdin)
step = next(said[key] for key in ("steady", "place") if said[key] and said[key]["speedup"])
print(*(f"{step[key]:.3f}" for key in ("speedup", "low", "high")))'
}

# predicted RUN OPTION MEASURED: the interval of a step holds what was measured
predicted() {
	read -r speedup low high < <(step "$1" "$2")
	echo "$1: $speedup ($low to $high), measured $3"
	awk -v low="$low" -v high="$high" -v measured="$3" 'BEGIN { exit !(low <= measured && measured <= high) }'
}

@test "the first change is right for 85% of framework programs, and controls are left alone" {
	[[ $BUILD != */sanitized ]] || skip "the plain build is enough"
	run -0 "$corpus/score.py" . "$corpus/runs.tsv"
	[[ "$output" =~ "something to gain: right "([0-9]+)" of "([0-9]+) ]]
	((BASH_REMATCH[2] >= 20 && 100 * BASH_REMATCH[1] >= 85 * BASH_REMATCH[2]))
	[[ "$output" == *"controls: right 7 of 7"* ]]
}

@test "a step between a copy from the host and a read is a graph" {
	told triton_small_layers.1
	[[ "$output" == *"do:   Run the step as a CUDA graph: torch.compile(mode=\"reduce-overhead\")"* ]]
	predicted triton_small_layers.1 --graph 16.84
	run -0 "$ROOFLINECTL" whatif --graph swin_label.1.roofline
	[[ "$output" == *"graph"*" in an iteration, which cuda"*" cuts: "* ]]
}

@test "steps of several lengths are found, and a graph for each is predicted" {
	run -0 "$ROOFLINECTL" report distilbert_buckets.1.roofline
	[[ "$output" == *"iterations are of 6"*kinds* ]]
	told distilbert_buckets.1
	[[ "$output" == *"iterations are of 6 kinds: a graph for each"* ]]
	[[ "$output" == *"if nothing cut a step, and results were read after the last: up to"*"(whatif --compile)"* ]]
	predicted distilbert_buckets.1 --graph 7.87
}

@test "a step whose sizes come again every eighth time is a graph for each, between its reads" {
	run -0 "$ROOFLINECTL" whatif --graph gin_batches.1.roofline
	[[ "$output" == *"graphs in an iteration, which cudaMemcpyAsync of "*"cuts: "* ]]
	predicted gin_batches.1 --graph 5.09
}

@test "steps of JAX become one compiled call, and no CUDA graph by hand" {
	told jax_nbody.short
	[[ "$output" == *"idle"*"of each step"*Python*"do:   Compile all steps into one call: jax.jit of a lax.scan over them"* ]]
	[[ "$output" != *cudaStream* && "$output" != *"by hand"* ]]
	run -0 "$ROOFLINECTL" whatif --compile jax_nbody.short.roofline
	[[ "$output" == *"launches and copies are nodes"* ]]
	run -0 "$ROOFLINECTL" whatif --compile --graph jax_nbody.short.roofline
	[[ "$output" == *compiled_steps* ]]
}

@test "rows of elementwise kernels are fused, and FP32 products go to tensor cores, without counters" {
	told tone_mapping.1
	[[ "$output" == *"do: "*fuse* || "$output" == *"torch.compile"* ]]
	predicted tone_mapping.1 --fuse 6.64
	told bert_large_fp32.1
	[[ "$output" == *"set_float32_matmul_precision"* ]]
	predicted bert_large_fp32.1 --tf32 1.60
}

@test "pinned memory for batches of the host" {
	told recommender.1
	[[ "$output" == *pin* ]]
	predicted recommender.1 --pinned 2.20
	predicted numba_wave.1 --pinned 5.57
}

@test "where Python makes the batches, workers are to do it, and not where it only launches" {
	for run in lightning_autoencoder.1 mobilenet_loader.1 sage_sampled.1; do
		told $run
		[[ "$output" == *"do:   Load batches in workers while the GPU works:"*"num_workers=8"* ]]
	done
	predicted lightning_autoencoder.1 --load-ahead 2.81
	predicted mobilenet_loader.1 --load-ahead 4.46
	predicted sage_sampled.1 --load-ahead 2.26
	for run in swin_label.1 gat_full.1 wide_mlp.1; do
		told $run
		[[ "$output" != *"do:   Load batches"* ]]
	done
}
