"""Print the rate of this machine's time stamp counter in kHz; nothing where it cannot be had.

A guest under emulation reads this machine's counter. On a busy machine it cannot measure its rate:
what it takes for 10 ms may have been 50, and its clock then runs five times too fast for ever.
"""

import ctypes
import mmap
import platform
import time

# rdtsc; shl rdx, 32; or rax, rdx; ret
CODE = bytes.fromhex("0f31 48c1e220 4809d0 c3")
SPAN_S = 0.2
TRIES = 20


def counter():
    """A function that reads the time stamp counter."""
    memory = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    memory.write(CODE)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    read = ctypes.CFUNCTYPE(ctypes.c_uint64)(address)
    read.memory = memory
    return read


def sample(read):
    """(ns, ticks) of one moment: of several pairs, the one that was taken fastest."""
    pairs = []
    for _ in range(TRIES):
        before, ticks, after = time.monotonic_ns(), read(), time.monotonic_ns()
        pairs.append((after - before, (before + after) / 2, ticks))
    return min(pairs)[1:]


def main():
    if platform.machine() != "x86_64":
        return
    try:
        read = counter()
    except OSError:  # memory that is written and run may be forbidden
        return
    begin_ns, begin = sample(read)
    time.sleep(SPAN_S)
    end_ns, end = sample(read)
    print(round((end - begin) / (end_ns - begin_ns) * 1e6))


if __name__ == "__main__":
    main()
