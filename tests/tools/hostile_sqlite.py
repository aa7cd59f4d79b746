#!/usr/bin/env python3
"""Writes an SQLite file as of Nsight Systems that attacks its reader.

usage: hostile_sqlite.py KIND FILE

A kind is a function below whose name begins with make_, which adds to an honest file of one kernel.
"""
import sqlite3
import struct
import sys

PAGE = 4096
KERNEL = ("start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid", "demangledName")


def honest(path, strings="CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT)", extra=""):
    """A file of one kernel, and the connection to it."""
    file = sqlite3.connect(path)
    file.execute(f"PRAGMA page_size = {PAGE}")
    file.execute(strings)
    columns = ", ".join(f'"{name}" INTEGER' for name in KERNEL)
    file.execute(f"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL ({columns}{extra})")
    add_kernels(file, 1)
    return file


def add_kernels(file, count, name=1):
    names = ", ".join(f'"{name}"' for name in KERNEL)
    file.executemany(
        f"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL ({names}) VALUES (?, ?, 0, 1, 7, ?, ?, ?)",
        ((1000 + 20 * i, 1010 + 20 * i, i + 1, 7 << 24, name) for i in range(count)),
    )


def add_string(file, text="saxpy"):
    file.execute("INSERT INTO StringIds VALUES (1, ?)", (text,))


def make_plain(path):
    """A harmless file."""
    file = honest(path)
    add_string(file)
    file.commit()


def make_unread(path):
    """A harmless file with a column that is larger than any that is read, and that import does not read."""
    file = honest(path)
    add_string(file)
    file.execute("CREATE TABLE TARGET_INFO_SYSTEM_ENV (raw BLOB, name TEXT, value TEXT)")
    file.execute("INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES (zeroblob(3000000), 'Hostname', 'there')")
    file.commit()


def make_generated(path):
    """Each name and each column but the time is generated: gigabytes, were they evaluated."""
    value = "GENERATED ALWAYS AS (hex(zeroblob(499999000)))"
    strings = f"CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT {value} VIRTUAL)"
    grid = f', "gridX" INTEGER {value}, "gridY" INTEGER AS (length(printf(\'%.*c\', 900000000, 1)))'
    file = honest(path, strings, grid)
    file.execute("INSERT INTO StringIds (id) VALUES (1)")
    file.commit()


def make_virtual(path):
    """A table whose rows a module makes."""
    file = honest(path)
    add_string(file)
    file.execute("CREATE VIRTUAL TABLE META_DATA_EXPORT USING fts4(name, value)")
    file.execute("INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PRODUCT_VERSION', 'of a module')")
    file.commit()


def make_virtual_root(path):
    """The same, which says that it has a root page."""
    make_virtual(path)
    file = sqlite3.connect(path)
    file.execute("PRAGMA writable_schema = 1")
    file.execute("UPDATE sqlite_master SET rootpage = 2 WHERE name = 'META_DATA_EXPORT'")
    file.commit()


def make_cell(path):
    """A name of a little more than a MiB."""
    file = honest(path)
    add_string(file, "x" * ((1 << 20) + 1))
    file.commit()


def make_texts(path):
    """A default that each of many rows has and none of them stores."""
    file = honest(path, "CREATE TABLE StringIds (id INTEGER PRIMARY KEY)")
    file.executemany("INSERT INTO StringIds VALUES (?)", ((i,) for i in range(1, 20000)))
    file.execute(f"ALTER TABLE StringIds ADD COLUMN value TEXT DEFAULT '{'x' * 100000}'")
    file.commit()


def make_names(path):
    """One long name that each of many kernels has."""
    file = honest(path)
    add_string(file, "x" * 1000000)
    add_kernels(file, 100000)
    file.commit()


def make_heap(path):
    """Tables whose description takes more memory than any export's."""
    file = honest(path)
    add_string(file)
    columns = ", ".join(f"c{i}" for i in range(1000))
    file.execute("PRAGMA writable_schema = 1")
    file.executemany(
        f"INSERT INTO sqlite_master VALUES ('table', ?, ?, 2, ?)",
        ((f"t{i}", f"t{i}", f"CREATE TABLE t{i} ({columns})") for i in range(3000)),
    )
    file.commit()


def make_unkeyed(path):
    """Names without a key to find them by."""
    file = honest(path, "CREATE TABLE StringIds (id INTEGER, value TEXT)")
    names = ((i, f"kernel{i}") for i in range(60000))
    file.executemany("INSERT INTO StringIds VALUES (?, ?)", names)
    file.execute("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET demangledName = 59999")
    add_kernels(file, 60000, 59998)
    file.commit()


def make_gpus(path):
    """More GPUs than any machine has."""
    file = honest(path)
    add_string(file)
    file.execute("CREATE TABLE TARGET_INFO_GPU (id INTEGER PRIMARY KEY, name TEXT)")
    file.executemany("INSERT INTO TARGET_INFO_GPU VALUES (?, 'GPU')", ((i,) for i in range(1025)))
    file.commit()


def make_processes(path):
    """A kernel of each of many processes."""
    file = honest(path)
    add_string(file)
    add_kernels(file, 1025)
    file.execute("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET globalPid = correlationId << 24")
    file.commit()


def root_page(path, table):
    query = "SELECT rootpage FROM sqlite_master WHERE name = ?"
    return sqlite3.connect(path).execute(query, (table,)).fetchone()[0]


def make_shared_pages(path):
    """A tree whose pages are each other's child many times: 300 ** 6 rows."""
    file = honest(path)
    add_string(file)
    file.commit()
    file.close()
    root = root_page(path, "CUPTI_ACTIVITY_KIND_KERNEL")
    with open(path, "r+b") as raw:
        pages = bytearray(raw.read())
        leaf = pages[(root - 1) * PAGE : root * PAGE]
        count = len(pages) // PAGE
        child = count + 1
        pages += leaf
        for level in range(6):
            cells, count = 300, count + 1
            page = bytearray(PAGE)
            content = PAGE
            for i in range(cells):
                content -= 5
                page[content : content + 5] = struct.pack(">IB", child, 1)
                page[12 + 2 * i : 14 + 2 * i] = struct.pack(">H", content)
            page[:12] = struct.pack(">BHHHBI", 5, 0, cells, content, 0, child)
            if level == 5:
                pages[(root - 1) * PAGE : root * PAGE] = page
            else:
                pages += page
                child = len(pages) // PAGE
        pages[28:32] = struct.pack(">I", len(pages) // PAGE)
        raw.seek(0)
        raw.write(pages)


def make_long_chain(path):
    """Rows whose last columns lie behind a cell as long as the file: a page that follows itself."""
    file = honest(path)
    file.execute("CREATE TABLE EXPORT_META_DATA (raw BLOB, name TEXT, value TEXT)")
    file.executemany("INSERT INTO EXPORT_META_DATA VALUES (zeroblob(3000), 'n', 'v')", ((),) * 1500)
    add_string(file)
    file.commit()
    file.close()
    with open(path, "r+b") as raw:
        pages = bytearray(raw.read())
        loop = len(pages) // PAGE + 1
        payload = len(pages) - PAGE
        least = (PAGE - 12) * 32 // 255 - 23
        local = least + (payload - least) % (PAGE - 4)
        local = local if local <= PAGE - 35 else least
        length = varint((payload - 9) * 2 + 12)  # of four bytes
        header = bytes([len(length) + 3]) + length + b"\x0f\x0f"
        for start in range(4 * PAGE, len(pages), PAGE):  # behind the roots
            if pages[start] != 13 or pages[start + 3 : start + 5] != b"\0\1":
                continue  # not a leaf of one row
            if b"\0" * 2900 not in pages[start : start + PAGE]:
                continue
            cell = varint(payload) + b"\1" + header.ljust(local, b"x") + struct.pack(">I", loop)
            at = PAGE - len(cell)
            page = struct.pack(">BHHHBH", 13, 0, 1, at, 0, at).ljust(at, b"\0") + cell
            pages[start : start + PAGE] = page
        pages += struct.pack(">I", loop) + b"y" * (PAGE - 4)
        pages[28:32] = struct.pack(">I", len(pages) // PAGE)
        raw.seek(0)
        raw.write(pages)


def varint(value):
    out = [value & 0x7F]
    while value := value >> 7:
        out.append(value & 0x7F | 0x80)
    return bytes(reversed(out))


if __name__ == "__main__":
    globals()["make_" + sys.argv[1]](sys.argv[2])
