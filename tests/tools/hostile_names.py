#!/usr/bin/env python3
"""hostile_names.py FROM TO - a recording like FROM, a folder, whose names attack whoever shows them.

Escape sequences of terminals, also as one character and as a byte that is no UTF-8; formulas of spreadsheets;
ends of elements of XML, and what is no character there.
"""
import csv
import itertools
import os
import sys

ATTACKS = [
    b'\x1b]0;owned\x07', b'\xc2\x9b31m', b'\x9b31m', b'a]]>b', b'=HYPERLINK("x")', b'+1', b'-1+cmd',
    b'@SUM(A1)', b'<b>&"\'', b'\xef\xbf\xbe\xef\xbf\xbf', b'\xed\xa0\x80', b'\tx', b'\rx',
    b'\xff\xfe', b'x\x7fy', b'one\ntwo',
]
ATTACKED = {  # tables, and their columns
    'names.csv': ('text',), 'process.csv': ('value',), 'devices.csv': ('name', 'uuid'),
    'losses.csv': ('kind', 'detail'),
}
KEPT = ('schema', 'pid', 'sealed_ns', 'graphs', 'run', 'time_offset_ns')  # numbers and choices


def cell(text):
    return b'"' + text.replace(b'"', b'""') + b'"'


attacks = itertools.cycle(zip(ATTACKS, ATTACKS[3:] + ATTACKS[:3]))


def attack(path, columns):
    with open(path, encoding='utf-8', newline='') as file:
        rows = list(csv.reader(file))
    lines = [','.join(rows[0]).encode()]
    for row in rows[1:]:
        cells = [text.encode() for text in row]
        for i, column in enumerate(rows[0]):
            if column in columns and row[0] not in KEPT and not row[i].startswith('cu'):
                begin, end = next(attacks)
                cells[i] = begin + cells[i].replace(b'_Z', b'Z') + end
        lines.append(b','.join(cell(text) for text in cells))
    return b'\n'.join(lines) + b'\n'


def main(source, target):
    for folder, _, names in sorted(os.walk(source)):
        into = os.path.join(target, os.path.relpath(folder, source))
        os.makedirs(into)
        for name in sorted(names):
            path = os.path.join(folder, name)
            if name in ATTACKED:
                text = attack(path, ATTACKED[name])
            else:
                with open(path, 'rb') as file:
                    text = file.read()
            with open(os.path.join(into, name), 'wb') as file:
                file.write(text)


main(*sys.argv[1:])
