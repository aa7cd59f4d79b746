#!/usr/bin/env python3
"""extreme_times.py FROM TO - recordings like FROM, a folder, with times at the ends of what is allowed.

TO gets a folder for each way to move times and for the tables moved: operations, calls, or both.
"""
import csv
import os
import shutil
import sys

LATEST = 2 ** 62 - 1
LONGEST = 30 * 24 * 3600 * 10 ** 9
OPERATIONS = ('kernels.csv', 'copies.csv')
CALLS = ('api.csv', 'markers.csv', 'syncs.csv', 'overheads.csv')
WAYS = {  # start, end, number of the row, rows
    'late': lambda start, end, row, count: (
        LATEST - (count - row) * 1000 - 900, LATEST - (count - row) * 1000 - 100),
    'early': lambda start, end, row, count: (1 + row * 10, 5 + row * 10),
    'spread': lambda start, end, row, count: (1, 2) if row == 0 else (LATEST - 1, LATEST),
    'long': lambda start, end, row, count: (start, start + LONGEST),
}


def move(path, way):
    with open(path, encoding='utf-8', newline='') as file:
        rows = list(csv.reader(file))
    if 'start_ns' not in rows[0]:
        return
    start, end = rows[0].index('start_ns'), rows[0].index('end_ns')
    for number, row in enumerate(rows[1:]):
        row[start], row[end] = way(int(row[start]), int(row[end]), number, len(rows) - 1)
    with open(path, 'w', encoding='utf-8', newline='') as file:
        csv.writer(file, lineterminator='\n').writerows(rows)


def main(source, target):
    for name, way in WAYS.items():
        for moved, tables in (('operations', OPERATIONS), ('calls', CALLS), ('all', OPERATIONS + CALLS)):
            copy = os.path.join(target, name + '_' + moved)
            shutil.copytree(source, copy)
            for folder, _, names in os.walk(copy):
                for table in set(names) & set(tables):
                    move(os.path.join(folder, table), way)


main(*sys.argv[1:])
