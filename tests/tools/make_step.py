#!/usr/bin/env python3
"""make_step.py DIR [OPTION...] - writes the recording of training steps on one GPU, whose times are known.

In each step so many kernels make gradients, and one applies them; the host launches all of them well
before.  With --links FILE also ceilings: those of an H200, and an all-reduce between --gpus of them, which
takes so long for 8 bytes and for 256 MiB, and in between what follows.
What `rooflinectl scale` has to find follows from that:

    make_step.py DIR --layers 64 --gradient 105500 --update 250000 --links links.json --reduce 14000,893000
"""
import argparse
import json
import os

from make_crowd import START_NS, Process

GAP_NS = 1000  # between two kernels
LARGE = 256 << 20  # bytes
CALL_NS = 3000  # a launch, and until the next one
CEILINGS = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                        "../../ceilings/NVIDIA_H200-580.159.04.json")


def read_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--layers", type=int, default=8, help="kernels that make gradients, in a step")
    parser.add_argument("--gradient", type=int, default=100_000, help="what each takes, ns")
    parser.add_argument("--update", type=int, default=50_000, help="what the one takes that applies them")
    parser.add_argument("--blocks", type=int, default=4096)
    parser.add_argument("--input", type=int, default=0, help="bytes copied to the GPU in a step, 50 a ns")
    parser.add_argument("--graph", action="store_true", help="a step is one launch of a graph")
    parser.add_argument("--wait", action="store_true", help="the host waits for each step")
    parser.add_argument("--gpu", default="Synthetic GPU", help="its name")
    parser.add_argument("--beside", type=int, default=0, help="a kernel on another GPU, ns")
    parser.add_argument("--links", help="where to write ceilings")
    parser.add_argument("--reduce", default="14000,893000", help="8 bytes, and 256 MiB, ns")
    parser.add_argument("--gpus", type=int, default=2, help="of which that was measured")
    parser.add_argument("--by-gpus", default="", help="N:SMALL:LARGE,... measured of fewer of them")
    return parser.parse_args()


def plan_of(arguments):
    """The operations of a step."""
    plan = [("input", arguments.input // 50)] if arguments.input else []
    plan += [("gradient_kernel", arguments.gradient)] * arguments.layers
    return plan + ([("update_kernel", arguments.update)] if arguments.update else [])


def write_recording(arguments):
    process = Process()
    process.rows["devices"][0]["name"] = arguments.gpu
    signatures = {"gradient_kernel": process.signature("gradient_kernel", arguments.blocks),
                  "update_kernel": process.signature("update_kernel", 1 << 16)}
    plan = plan_of(arguments)
    host, device = 1000, 100_000
    for _ in range(arguments.steps):
        correlation = None
        if arguments.wait:
            host = max(host, device + 5000)
            device = max(device, host + 10_000)
        if arguments.graph:
            correlation = process.call(host, host + CALL_NS - 500, "cudaGraphLaunch_v10000")
            host += CALL_NS
        for node, (name, length) in enumerate(plan):
            start, device = device, device + length + GAP_NS
            more = {"graph": 1, "graph_node": 1 + node} if arguments.graph else {}
            if not arguments.graph:
                call = "cudaMemcpyAsync_v3020" if name == "input" else "cudaLaunchKernel_v7000"
                correlation = process.call(host, host + CALL_NS - 500, call)
                host += CALL_NS
            if name == "input":
                process.operation("copies", start, start + length, kind=1, src_memory=2, dst_memory=3,
                                  copy_count=1, bytes=arguments.input, correlation=correlation, is_async=1,
                                  **more)
            else:
                process.operation("kernels", start, start + length, signature=signatures[name],
                                  correlation=correlation, **more)
        if arguments.wait:
            process.call(host, device - GAP_NS + 4000, "cudaStreamSynchronize_v3020")
            host = device + 4000
    if arguments.beside:
        process.add("devices", device=1, name=arguments.gpu, uuid="GPU-1", sm_count=132)
        process.add("contexts", context=2, device=1, null_stream=7)
        process.launch(device, device + arguments.beside, device=1, context=2,
                       signature=signatures["gradient_kernel"])
    process.add("process", key="sealed_ns", value=START_NS + 10**15)
    process.write(f"{arguments.folder}/host.1")


def row(name, parameter, value):
    return {"name": name, "parameter": parameter, "unit": "ns", "value": value, "low": value, "high": value,
            "samples": 15, "sm_mhz_low": 0.0, "sm_mhz_high": 0.0}


def write_links(arguments):
    ceilings = json.load(open(CEILINGS))
    ceilings["ceilings"] = [found for found in ceilings["ceilings"]
                            if not found["name"].startswith(("peer_", "nccl_"))]
    small, large = map(float, arguments.reduce.split(","))
    fewer = [part.split(":") for part in arguments.by_gpus.split(",") if part]
    for size in (8, 64 << 10, 1 << 20, 16 << 20, LARGE):
        ceilings["ceilings"].append(row("nccl_all_reduce", size, small + (large - small) * size / LARGE))
    for count, few, many in [*fewer, (arguments.gpus, small, large)]:
        ceilings["ceilings"] += [row("nccl_small_by_gpus", int(count), float(few)),
                                 row("nccl_large_by_gpus", int(count), float(many))]
    with open(arguments.links, "w") as file:
        json.dump(ceilings, file, indent=1)


def main():
    arguments = read_arguments()
    write_recording(arguments)
    if arguments.links:
        write_links(arguments)


if __name__ == "__main__":
    main()
