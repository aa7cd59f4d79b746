"""Runs a command on a terminal of so many rows and columns; prints what it shows, ends with its exit code.

    on_terminal.py ROWS COLUMNS COMMAND [ARGUMENT...]

What is typed on it is stdin of this, once the command has shown something.
"""

import fcntl
import os
import pty
import select
import struct
import sys
import termios


def show(terminal, typed):
    while True:
        try:
            shown = os.read(terminal, 65536)
        except OSError:  # the last process that had it has ended
            return
        if not shown:
            return
        sys.stdout.buffer.write(shown.replace(b"\r\n", b"\n"))
        if typed and not select.select([terminal], [], [], 0.2)[0]:
            os.write(terminal, typed)
            typed = b""


def main():
    rows, columns, command = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    typed = sys.stdin.buffer.read()
    child, terminal = pty.fork()
    if child == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        os.execvp(command[0], command)
    show(terminal, typed)
    sys.stdout.flush()
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


main()
