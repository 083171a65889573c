"""Compiled code from numba's cache, loaded with what is needed to run it and nothing of what is needed to compile.

Numba itself looks for a place in the cache for every function, prepares for compiling before it loads one, and parses
the intermediate code that others may inline. That takes three times as long as loading the machine code. The files are
numba's own.
"""

# ruff: noqa: SLF001 - numba has no other way to say how its code is loaded
from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from numba.core import codegen as numba_codegen
from numba.core.caching import FunctionCache, NullCache
from numba.core.runtime.nrt import rtsys

_find_place: Any = FunctionCache
_llvm: Any = getattr(numba_codegen, "ll")  # noqa: B009 - numba does not export it
_runtime: Any = rtsys
_Library: Any = numba_codegen.JITCodeLibrary


class KernelCache(NullCache):
    """The compiled code of one kernel, looked for when it is first called: most are only ever part of others."""

    def __init__(self, function: Callable[..., Any]) -> None:
        """Remember whose code it is."""
        self._function = function

    @cached_property
    def _files(self) -> Any:
        try:
            return _find_place(self._function)
        except RuntimeError:  # numba finds no place for this file's code
            return None

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The code for arguments of some types; None if there is none yet."""
        if self._files is None:
            return None
        _runtime.initialize(target_context)
        target_context.codegen()._library_class = _KernelLibrary
        return self._files._load_overload(sig, target_context)  # for `load_overload` prepares for compiling

    def save_overload(self, sig: Any, cres: Any) -> None:
        """Keep code that was compiled."""
        if self._files is not None:
            self._files.save_overload(sig, cres)


class _KernelLibrary(_Library):  # type: ignore[misc]  # numba is not typed
    """Machine code, of which the intermediate code is parsed when something is compiled that may inline it."""

    _bitcode = b""

    @classmethod
    def _unserialize(cls, codegen: Any, state: Any) -> Any:
        name, kind, content = state
        if kind != "object":
            return super()._unserialize(codegen, state)
        library = cls(codegen, name)
        code, library._bitcode = content
        library.enable_object_caching()
        library._set_compiled_object(code)
        library._finalize_final_module()
        return library

    def _get_module_for_linking(self) -> Any:
        if self._bitcode:
            self._shared_module = _llvm.parse_bitcode(self._bitcode)
            self._codegen._engine._load_defined_symbols(self._shared_module)
            self._bitcode = b""
        return super()._get_module_for_linking()

    def get_pointer_to_function(self, name: str) -> Any:
        """Address of a function; what was loaded has those that are asked for."""
        if self._bitcode:
            return self._codegen._engine.get_function_address(name)
        return super().get_pointer_to_function(name)
