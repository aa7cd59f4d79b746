"""The spaces that measure.py measures on a GPU and tests/bench/tune.py searches.

Two are of workloads of ours, the others of public programs.  No line of these is in here: `source` names
repository, commit and folder, and `build` what is compiled how for each point.  `where` is understood by
`rooflinectl tune` and by Python alike.
"""
import itertools
import shlex

HECBENCH = ("zjin-lcf/HeCBench", "f27000a5188f8ac79bd43fc95a1b3f890c18823d")
SAMPLES = ("NVIDIA/cuda-samples", "c94ff366aed18c797b8a85dfaac7817b0228b420")


class Space:
    """One program and what may be chosen of it.

    source    (repository, commit, folder); None: a workload of ours
    build     what is compiled, and how:
      files       the last one is compiled for each point, the others once
      edited      the file in which numbers are set
      macros      the macro of each parameter
      fixed       numbers that are the same for all points, to keep a run short
      is_guarded  -D sets the macros, and no file changes
      include     folders of the repository
    """

    def __init__(self, name, parameters, objective, command, where="", source=None, build=None):
        self.name, self.parameters, self.where = name, parameters, where
        self.objective, self.command = objective, command
        self.source, self.build = source, build

    def points(self):
        names = list(self.parameters)
        for values in itertools.product(*self.parameters.values()):
            point = dict(zip(names, values))
            if not self.where or eval(self.where, {}, point):  # pylint: disable=eval-used
                yield point

    def words(self):
        return shlex.split(self.command)

    def missing(self, lines):
        """Points of which there is none of these lines of trials.jsonl."""
        tried = {tuple(line["parameters"].values()) for line in lines}
        return [point for point in self.points() if tuple(map(str, point.values())) not in tried]

    def options(self):
        """What `rooflinectl tune` is told of the space."""
        words = []
        for name, values in self.parameters.items():
            words += ["--param", name + "=" + ",".join(map(str, values))]
        if self.where:
            words += ["--where", self.where]
        return words + ["--objective", self.objective]


# Programs that check their result fail where it is wrong: with grep for what they print when it is right.
SPACES = [
    Space("autotune",
          {"block": [64, 128, 256, 512, 1024], "tile": [8, 16, 32, 64], "unroll": [1, 2, 4, 8]},
          "kernel:multiply",
          "autotune chosen --block {block} --tile {tile} --unroll {unroll} --repeats 1"),
    Space("tune_transpose",
          {"x": [8, 16, 32, 64], "y": [4, 8, 16, 32], "tile": [16, 32, 64], "padding": [0, 1]},
          "kernel:tiled_kernel",
          "tune_transpose chosen --x {x} --y {y} --tile {tile} --padding {padding} "
          "--size 16777216 --iterations 20 --repeats 1",
          where="x * y <= 1024"),
    Space("expdist",
          {"x": [32, 64, 128], "y": [1, 2, 4, 8], "tile_x": [1, 2, 4], "tile_y": [1, 2, 4]},
          "kernel:distance",
          "./expdist.{x}.{y}.{tile_x}.{tile_y} 2048 20",
          source=(*HECBENCH, "src/expdist-cuda"),
          build={"files": ["main.cu"], "edited": "kernel.h", "is_guarded": True,
                 "macros": {"x": "block_size_x", "y": "block_size_y", "tile_x": "tile_size_x",
                            "tile_y": "tile_size_y"}}),
    Space("reduction",
          {"kernel": [6, 7, 8], "threads": [32, 64, 128, 256, 512],
           "blocks": [64, 128, 256, 512, 1024, 2048]},
          "kernel:reduce",
          "sh -c './reduction --n=4194304 --kernel={kernel} --threads={threads} --maxblocks={blocks} | "
          "grep \"Test passed\"'",
          source=(*SAMPLES, "Samples/2_Concepts_and_Techniques/reduction"),
          build={"files": ["reduction.cpp", "reduction_kernel.cu"], "include": ["Common"]}),
    Space("convolutionSeparable",
          {"x": [8, 16, 32, 64, 128], "y": [1, 2, 4, 8, 16], "steps": [1, 2, 4, 8, 16]},
          "kernel:conv_rows",
          "sh -c './convolutionSeparable.{x}.{y}.{steps} 2048 512 100 | grep PASS'",
          where="x * y >= 32 and x * y <= 1024 and y * (steps + 2) * x <= 12288",
          source=(*HECBENCH, "src/convolutionSeparable-cuda"),
          build={"files": ["main.cu", "conv_gold.cu", "conv.cu"], "edited": "conv.cu",
                 "macros": {"x": "ROWS_BLOCKDIM_X", "y": "ROWS_BLOCKDIM_Y",
                            "steps": "ROWS_RESULT_STEPS"}}),
    Space("che",
          {"x": [4, 8, 16, 32, 64, 128], "y": [1, 2, 4, 8, 16], "z": [1, 2, 4, 8]},
          "kernel:chemicalPotential",
          "./che.{x}.{y}.{z} 20",
          where="x * y * z >= 64 and x * y * z <= 1024",
          source=(*HECBENCH, "src/che-cuda"),
          build={"files": ["main.cu"], "edited": "kernels.h",
                 "macros": {"x": "BLKXSIZE", "y": "BLKYSIZE", "z": "BLKZSIZE"},
                 "fixed": {"DATAXSIZE": 128, "DATAYSIZE": 128, "DATAZSIZE": 128}}),
    Space("clenergy",
          {"x": [2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 96], "y": [1, 2, 4, 8, 16]},
          "kernel:cenergy",
          "./clenergy.{x}.{y}",
          where="x * y >= 16 and x * y <= 1024",
          source=(*HECBENCH, "src/clenergy-cuda"),
          build={"files": ["WKFUtils.cu", "clenergy.cu"], "edited": "clenergy.cu",
                 "macros": {"x": "BLOCKSIZEX", "y": "BLOCKSIZEY"}, "fixed": {"atomcount": 40000}}),
]


def find(name):
    return next(space for space in SPACES if space.name == name)
