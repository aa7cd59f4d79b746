#!/usr/bin/env python3
"""make_images.py FOLDER - code as programs hand it to the driver: PTX, machine code, and fatbins.

What is called silent_* prints nothing; of all else that is not certain.
"""
import pathlib
import struct
import subprocess
import sys

PTX, ELF = 1, 2
LZ4, ZSTD = 0x2000, 0x8000
SILENT = b".version 8.0\n.target sm_90\n" + b".visible .entry add() { ret; }\n" * 40
PRINTS = SILENT + b".extern .func vprintf\n"
MANAGED = SILENT + b".global .attribute(.managed) .align 4 .u32 m;\n"


def elf(other=0, name=b"add"):
    """A table of two symbols, their names, and three sections."""
    names = b"\0" + name + b"\0"
    symbols = bytes(24) + struct.pack("<IBBHQQ", 1, 1, other, 1, 0, 4)
    offset = 64
    sections = bytes(64)
    sections += struct.pack("<IIQQQQIIQQ", 0, 2, 0, 0, offset, len(symbols), 2, 1, 8, 24)
    names_at = offset + len(symbols)
    sections += struct.pack("<IIQQQQIIQQ", 0, 3, 0, 0, names_at, len(names), 0, 0, 1, 0)
    header = b"\x7fELF\x02\x01\x01\x41" + bytes(8)
    header += struct.pack("<HHIQQQIHHHHHH", 2, 190, 1, 0, 0, names_at + len(names), 0, 64, 0, 0, 64, 3, 2)
    return header + symbols + names + sections


def lz4(data):
    """One sequence that repeats the last 31 bytes of what came before, then the end as it is."""
    first, end, back = data[:62], data[-5:], 31  # a line of REPEATS
    again = len(data) - len(first) - len(end)
    assert data == first + (first[-back:] * (again // back + 1))[:again] + end

    def length(count):
        return b"" if count < 15 else b"\xff" * ((count - 15) // 255) + bytes([(count - 15) % 255])

    start = bytes([15 << 4 | min(again - 4, 15)]) + length(len(first)) + first
    return start + struct.pack("<H", back) + length(again - 4) + bytes([len(end) << 4]) + end


def zstd(data):
    return subprocess.run(["zstd", "-c", "--no-check"], input=data, stdout=subprocess.PIPE, check=True).stdout


def entry(kind, data, flags=0, arch=90):
    packed = {0: data, LZ4: data, ZSTD: data}[flags]
    if flags == LZ4:
        packed = lz4(data)
    if flags == ZSTD:
        packed = zstd(data)
    padded = packed + bytes(-len(packed) % 8)
    packed_bytes, bytes_before = (len(packed), len(data)) if flags else (0, 0)
    return struct.pack("<HHIQIIHHIIIQQQ", kind, 0x101, 64, len(padded), packed_bytes, 0, 0, 9, arch, 0, 0,
                       0x11 | flags, 0, bytes_before) + padded


def fatbin(*entries):
    body = b"".join(entries)
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body


REPEATS = b".version 8.0" + b"// again and again, the same 1\n" * 60 + b"ret;\n"
IMAGES = {
    "silent_ptx": SILENT,
    "ptx_prints": PRINTS,
    "ptx_managed": MANAGED,
    "silent_elf": elf(),
    "elf_prints": elf(name=b"vprintf"),
    "elf_asserts": elf(name=b"__assertfail"),
    "elf_managed": elf(other=4),
    "silent_fatbin": fatbin(entry(ELF, elf()), entry(PTX, SILENT)),
    "fatbin_prints": fatbin(entry(ELF, elf()), entry(PTX, PRINTS)),
    "silent_zstd": fatbin(entry(ELF, elf(), ZSTD), entry(PTX, SILENT, ZSTD)),
    "zstd_prints": fatbin(entry(ELF, elf(), ZSTD), entry(PTX, PRINTS, ZSTD)),
    "silent_lz4": fatbin(entry(PTX, b"." + REPEATS, LZ4)),
    "prints_on_8": fatbin(entry(ELF, elf(name=b"vprintf"), arch=80), entry(ELF, elf()), entry(PTX, SILENT)),
    "prints_on_9": fatbin(entry(ELF, elf(), arch=86), entry(ELF, elf(name=b"vprintf")), entry(PTX, SILENT)),
    "text_prints_on_8": fatbin(entry(ELF, elf()), entry(PTX, PRINTS, arch=80)),
    "unknown_kind": fatbin(entry(ELF, elf()), entry(8, SILENT)),
    "unknown": b"\x00\x01\x02\x03" * 99,
}

folder = pathlib.Path(sys.argv[1])
for name, image in IMAGES.items():
    (folder / name).write_bytes(image)
