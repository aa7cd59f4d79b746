#!/usr/bin/env python3
"""make_counted.py DIR - writes a synthetic recording with hardware counters, and roofs to go with it.

DIR/host.9 is one process on an H200 whose kernels stand all over the roofline: near the memory
roof, three of them together; under the tensor and the FP32 roof; far below any; without FLOPs;
without counters; above their roof, which cannot be.  Three kernels do atomics, on one address, on 64
and on 2^20.  A graph was counted as a whole.  DIR.ceilings.json has round numbers, measured by
nobody.  The same arguments give the same bytes.
"""
import json
import os
import sys

ORIGIN_NS = 1_760_000_000_000_000_000
ROLES = """range_ns dram_read_bytes dram_write_bytes l2_bytes l1_bytes shared_bytes fp64_add fp64_mul
fp64_fma fp32_add fp32_mul fp32_fma fp16_add fp16_mul fp16_fma tensor_instructions tensor_fp64_ops
tensor_tf32_ops tensor_bf16_ops tensor_fp16_ops tensor_fp8_ops tensor_int8_ops
global_atom_instructions global_red_instructions shared_atom_instructions l2_atom_requests
l2_red_requests l2_cas_requests l2_atom_sectors l2_red_sectors atomic_unit_cycles
atomic_unit_cycles_max atomic_unit_cycles_mean l2_cycles sm_active_cycles_min
sm_active_cycles_mean sm_active_cycles_max sm_elapsed_cycles warps_active_percent stall_barrier
stall_long_scoreboard stall_wait stall_short_scoreboard stall_not_selected""".split()
SLICES = 96
L2_GHZ, SM_GHZ = 1.6, 1.9


def memory(dram, l2=None, l1=None, shared=0):
    """Bytes a launch: two thirds of DRAM's are read."""
    return {"dram_read_bytes": dram * 2 // 3, "dram_write_bytes": dram - dram * 2 // 3,
            "l2_bytes": l2 or dram, "l1_bytes": l1 or l2 or dram, "shared_bytes": shared}


def atomics(requests, sectors, hottest, total):
    return {"global_red_instructions": 32768, "l2_red_requests": requests,
            "l2_red_sectors": sectors, "atomic_unit_cycles": total,
            "atomic_unit_cycles_max": hottest, "atomic_unit_cycles_mean": total / SLICES}


# name, launches, duration in ns, idle time after it in ns, counters of a launch
KERNELS = [
    ("void stream::triad<float>(float*, float const*, float const*, float, unsigned long)",
     40, 100_000, 500, {**memory(330_000_000), "fp32_fma": 27_000_000}),
    ("void stream::scale<float>(float*, float const*, float, unsigned long)",
     40, 90_000, 500, {**memory(290_000_000), "fp32_mul": 24_000_000}),
    ("void stream::axpy<double>(double*, double const*, double, unsigned long)",
     30, 95_000, 500, {**memory(310_000_000), "fp64_fma": 13_000_000}),
    ("void stream::axpby<double>(double*, double const*, double, double, unsigned long)",
     20, 96_000, 500, {**memory(311_000_000), "fp64_fma": 14_000_000}),
    ("nvjet_hsh_128x256_64x4_1x2_h_bz_coopA_NTT", 25, 400_000, 800,
     {**memory(150_000_000, 900_000_000, 1_000_000_000, 5_000_000_000),
      "tensor_bf16_ops": 270_000_000_000, "tensor_instructions": 1_000_000}),
    ("sgemm_tiled(float const*, float const*, float*, int)", 20, 300_000, 800,
     {**memory(60_000_000, 500_000_000, 2_500_000_000, 4_800_000_000), "fp32_fma": 6_500_000_000}),
    ("nbody_step(float4*, float4 const*, int)", 30, 150_000, 500,
     {**memory(3_000_000, 40_000_000, 800_000_000), "fp32_fma": 2_900_000_000,
      "fp32_add": 900_000_000}),
    ("copy_rows(int*, int const*, int)", 30, 60_000, 500, memory(200_000_000)),
    ("chase_pointers(node const*, int*)", 10, 500_000, 500,
     {**memory(30_000_000), "fp32_add": 1_000_000}),
    ("histogram_one(unsigned int*, int const*, int)", 10, 770_000, 500,
     {**memory(4_000_000), "fp32_add": 1000, **atomics(1 << 20, 1 << 20, 1 << 20, 1 << 20)}),
    ("histogram_64(unsigned int*, int const*, int)", 10, 200_000, 500,
     {**memory(4_000_000), "fp32_add": 1000, **atomics(1 << 16, 1 << 18, 1 << 17, 1 << 18)}),
    ("scatter_add(float*, int const*, float const*, int)", 10, 60_000, 500,
     {**memory(90_000_000), "fp32_add": 1 << 20, **atomics(1 << 20, 1 << 20, 11500, 1 << 20)}),
    ("set_flag(int*)", 400, 1_100, 1_600, {**memory(4096), "fp32_add": 32}),
    ("apply_bias(float*, float const*, int)", 200, 1_900, 900,
     {**memory(1_000_000), "fp32_add": 250_000}),
    ("too_fast(float*)", 5, 50_000, 500, {**memory(260_000_000), "fp32_add": 40_000_000}),
    ("not_counted(float*)", 8, 120_000, 500, None),
]
GRAPH = (7, 20, 3, 40_000, {**memory(200_000_000), "fp32_fma": 900_000_000})

CEILINGS = {
    "dram_read": 4.2e12, "dram_write": 3.9e12, "l2_read": 9e12, "l1_read": 30e12,
    "shared_read": 31e12, "fp64_fma": 30e12, "fp32_fma": 60e12, "fp16_fma": 120e12,
    "tensor_bf16": 800e12, "tensor_fp16": 790e12, "tensor_tf32": 400e12, "launch_period": 2300.0,
    "graph_node": 900.0, "graph_launch": 3000.0,
}
ATOMIC_ADD = {1: 1.4e9, 64: 5e9, 1 << 20: 75e9}


class Recording:
    def __init__(self, folder):
        self.folder = folder
        self.names, self.rows = {}, {}
        self.correlation = self.counted = 0
        self.now_ns = ORIGIN_NS

    def name(self, text):
        return self.names.setdefault(text, len(self.names) + 1)

    def add(self, table, **columns):
        self.rows.setdefault(table, []).append(columns)

    def launch(self, call, start_ns):
        """A launch call that ends as the kernel starts."""
        self.correlation += 1
        self.add("api", start_ns=start_ns - 2500, end_ns=start_ns - 200, name=self.name(call),
                 thread=42, correlation=self.correlation, result=0)
        return self.correlation

    def kernel(self, signature, duration_ns, idle_ns, correlation, graph=0, node=0):
        self.add("kernels", start_ns=self.now_ns, end_ns=self.now_ns + duration_ns,
                 signature=signature, device=0, context=1, stream=7, correlation=correlation,
                 graph=graph, graph_node=node)
        self.now_ns += duration_ns + idle_ns

    def count(self, correlation, like, duration_ns, values, is_graph):
        self.counted += 1
        self.add("counted", id=self.counted, correlation=correlation, like=like, device=0,
                 context=1, **{"pass": 0}, is_graph=int(is_graph))
        known = {"range_ns": duration_ns, "l2_cycles": duration_ns * L2_GHZ,
                 "sm_elapsed_cycles": duration_ns * SM_GHZ,
                 "sm_active_cycles_min": duration_ns * SM_GHZ * 0.7,
                 "sm_active_cycles_mean": duration_ns * SM_GHZ * 0.9,
                 "sm_active_cycles_max": duration_ns * SM_GHZ * 0.99,
                 "warps_active_percent": 61.5, "stall_long_scoreboard": 8.25, "stall_wait": 1.5,
                 "stall_short_scoreboard": 2.75, "stall_not_selected": 0.5}
        for metric, role in enumerate(ROLES, 1):
            self.add("counters", counted=self.counted, metric=metric,
                     value=values.get(role, known.get(role, 0)))

    def write(self):
        os.makedirs(self.folder)
        self.rows["names"] = [{"id": id, "text": text} for text, id in self.names.items()]
        for table, rows in self.rows.items():
            with open(f"{self.folder}/{table}.csv", "w") as file:
                print(",".join(rows[0]), file=file)
                for row in rows:
                    print(",".join(f'"{v}"' if isinstance(v, str) else f"{v:.15g}"
                                   if isinstance(v, float) else str(v)
                                   for v in row.values()), file=file)


def add_machine(recording):
    for key, value in {"schema": "1", "host": "host", "pid": "9", "command": "./counted",
                       "driver": "13000", "driver_name": "580.1", "cupti": "130001",
                       "collector": "0.1.0", "graphs": "node", "counters": "roofline",
                       "counters_mode": "rotation", "counters_passes": "1",
                       "sealed_ns": str(ORIGIN_NS * 2)}.items():
        recording.add("process", key=key, value=value)
    recording.add("devices", device=0, name="NVIDIA H200", uuid="GPU-9", compute_major=9,
                  compute_minor=0, sm_count=132, sm_clock_khz=1980000)
    recording.add("contexts", context=1, device=0, null_stream=7)
    recording.add("streams", context=1, stream=7)
    for metric, role in enumerate(ROLES, 1):
        recording.add("metrics", id=metric, name=recording.name(f"counter__{role}.sum"), role=role,
                      device=0, is_patched=0)


def add_kernels(recording):
    for signature, (name, count, duration_ns, idle_ns, values) in enumerate(KERNELS, 1):
        recording.add("signatures", id=signature, name=recording.name(name), grid_x=132, grid_y=1,
                      grid_z=1, block_x=256, block_y=1, block_z=1, registers_per_thread=32)
        like = recording.correlation + 1
        for launch in range(count):
            correlation = recording.launch("cudaLaunchKernel", recording.now_ns)
            recording.kernel(signature, duration_ns + 10 * (launch % 7), idle_ns, correlation)
            if values is not None and launch < 3:
                recording.count(correlation, like, duration_ns, values, False)


def add_graph(recording):
    graph, count, node_count, duration_ns, values = GRAPH
    recording.add("signatures", id=len(KERNELS) + 1, name=recording.name("graph_step(float*)"),
                  grid_x=132, grid_y=1, grid_z=1, block_x=256, block_y=1, block_z=1,
                  registers_per_thread=32)
    like = recording.correlation + 1
    for launch in range(count):
        correlation = recording.launch("cudaGraphLaunch", recording.now_ns)
        for node in range(node_count):
            recording.kernel(len(KERNELS) + 1, duration_ns, 900, correlation, graph, node + 1)
        if launch < 2:
            recording.count(correlation, like, node_count * duration_ns, values, True)


def write_ceilings(path):
    def row(name, parameter, value):
        unit = ("ns" if name.startswith(("launch", "graph")) else "op/s" if "atomic" in name
                else "FLOP/s" if name.startswith(("fp", "tensor")) else "B/s")
        return {"name": name, "parameter": parameter, "unit": unit, "value": value, "low": value * 0.99,
                "high": value * 1.01, "samples": 20, "sm_mhz_low": 1980, "sm_mhz_high": 1980}
    rows = [row(name, 0, value) for name, value in CEILINGS.items()]
    rows += [row("atomic_add", addresses, value) for addresses, value in ATOMIC_ADD.items()]
    rows += [row("atomic_cas", 1, 1e9)]
    with open(path, "w") as file:
        json.dump({"schema": 1, "kind": "rooflinectl ceilings", "gpu": "NVIDIA H200",
                   "driver": "580.1", "cuda": "13.0", "date": "2026-01-31T00:00:00Z",
                   "command": "by hand", "quick": False, "ceilings": rows, "skipped": []}, file, indent=1)


def main():
    folder = sys.argv[1]
    recording = Recording(f"{folder}/host.9")
    add_machine(recording)
    add_kernels(recording)
    add_graph(recording)
    recording.write()
    write_ceilings(f"{folder}.ceilings.json")


main()
