#!/usr/bin/env python3
"""Run a command with standard error on a terminal of its own and standard output thrown away; print
what the terminal got. Exits as the command does."""
import os
import pty
import subprocess
import sys

mine, its = pty.openpty()
process = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=its)
os.close(its)
got = b""
while True:
    try:
        piece = os.read(mine, 4096)
    except OSError:  # the other end is closed
        break
    if not piece:
        break
    got += piece
sys.stdout.buffer.write(got)
sys.exit(process.wait())
