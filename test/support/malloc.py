"""What C and C++ libraries have allocated, which Python does not know of."""

from __future__ import annotations

import ctypes

import pytest

_FIELDS = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost"


class _MallocInfo(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in _FIELDS.split()]


def read_malloc() -> int:
    """Bytes in use, in all of malloc's arenas; skips the test where the C library does not say (glibc 2.33 does)."""
    library = ctypes.CDLL(None)
    if not hasattr(library, "mallinfo2"):
        pytest.skip("the C library has no mallinfo2")
    library.mallinfo2.restype = _MallocInfo
    return int(library.mallinfo2().uordblks)
