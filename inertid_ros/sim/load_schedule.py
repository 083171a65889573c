"""Which load is on the sensor when."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Iterator

import numpy as np

from inertid_ros.core.errors import SettingError
from inertid_ros.core.records import FloatArray

NO_LOAD = np.zeros(10)
NO_LOAD.setflags(write=False)


class LoadSchedule:
    """Changes of the load in the order of time; before the first there is none."""

    def __init__(self, changes: Iterable[tuple[float, FloatArray | None]] = ()) -> None:
        """Take pairs of time [s] and load, phi (10,) in the sensor frame or None to release."""
        self._changes: list[tuple[float, FloatArray]] = []
        for time, load in changes:
            self.change(time, load)

    def change(self, time: float, load: FloatArray | None) -> None:
        """Replace the load from a time on, until the next change; at equal times the last call counts."""
        phi = NO_LOAD if load is None else np.array(load, dtype=np.float64)
        if phi.shape != (10,) or not np.all(np.isfinite(phi)):
            raise SettingError("load", load, "ten finite parameters, or None")
        if not np.isfinite(time):
            raise SettingError("time", time, "a finite time in seconds")
        insort(self._changes, (float(time), phi), key=lambda change: change[0])

    def load_at(self, time: float) -> FloatArray:
        """Return phi (10,) at a time, zeros if there is no load."""
        return next(load.copy() for _, load in self.parts(np.array([time])))

    def parts(self, times: FloatArray) -> Iterator[tuple[slice, FloatArray]]:
        """Yield for each load that is there at any of the rising times (N,) which of them these are, and phi (10,)."""
        bounds = np.searchsorted(times, [time for time, _ in self._changes])
        loads = [NO_LOAD, *(load for _, load in self._changes)]
        for first, last, load in zip([0, *bounds], [*bounds, len(times)], loads, strict=True):
            if first < last:
                yield slice(int(first), int(last)), load
