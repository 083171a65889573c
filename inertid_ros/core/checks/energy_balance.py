"""Does the energy balance close with the parameters found from torques?

The torque model is fitted joint by joint at each instant; the energy model asks whether the work that went in is what
the moving arm holds and friction took. Where the two disagree by more than noise and uncertainty of the parameters
explain, something is wrong that a fit of torques hides: the scale of an effort, its delay, a velocity, a friction.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from inertid_ros.core.diagnosis import Finding
from inertid_ros.core.equations.model import LinkModel
from inertid_ros.core.estimation.reweighted import WeightedSolution
from inertid_ros.core.records import BoolArray, FloatArray
from inertid_ros.core.rows.energy import EnergyWindows, Work, make_energy_rows
from inertid_ros.core.settings.settings import LinksSettings

_ENOUGH_WINDOWS = 10
"""Windows before the balance is judged: the root mean square of ten is known to a quarter."""
_SIGNIFICANT = 3.0
"""Multiple of what noise and uncertain parameters explain from which a disagreement is significant: three sigma."""
_LARGE = 0.02
"""Part of the work below which a disagreement is not reported, however significant: no friction model is better."""
_IS_SCALE = 0.95
"""Part of the squared disagreement that a wrong scale must explain to be named as its cause: nearly all of it."""
_IS_FRICTION = 0.5
"""Part of the squared disagreement that losses growing with speed must explain to be named as its cause: most of it."""
_LARGEST = 0.15
"""Part of the work above which a disagreement counts even where the parameters are that uncertain: torque models of
real arms leave less than half of it."""
_ROWS = 250
"""Rows (5 s) that a solution must come from before it is compared with anything: earlier ones change too much."""
_NO_TIME = 1e-9
"""Time [s] that is divided by before the first window has ended: any number above zero."""


@dataclass(frozen=True, slots=True)
class EnergyBalance:
    """What all windows say together; all are root mean squares over windows but the last two.

    Attributes:
        windows: how many.
        work: work put in [J].
        disagreement: work less energy gained and lost as predicted [J].
        expected: what noise and uncertainty of the parameters make of it [J].
        scale: what the work has more than the prediction in proportion to it, as a share, by least squares.
        loss: power that goes where the model has no friction, on average, as far as it grows with speed squared [W].
    """

    windows: int
    work: float
    disagreement: float
    expected: float
    scale: float
    loss: float


class EnergyCheck:
    """Adds up windows, each against the parameters of its time, for efforts (n,) of a density [Nm²/Hz or N²/Hz]."""

    def __init__(self, effort_density: FloatArray) -> None:
        """Set the noise of the efforts."""
        self.effort_density = effort_density
        self._sums = np.zeros(8)
        self._speed = self._span = 0.0
        self._count = 0

    def take(self, windows: EnergyWindows, parameters: FloatArray, root: FloatArray) -> None:
        """Compare windows with what parameters (F,), with a root (F, F) of their covariance, predict."""
        rows, work = windows.rows[:, :-1], windows.rows[:, -1]
        predicted = rows @ parameters
        left = work - predicted
        variances = np.maximum(windows.squares, 0.0) @ self.effort_density
        variances += np.square(rows @ root).sum(axis=1)
        speeds = windows.squares.sum(axis=1)
        fit = (left * predicted, left * speeds, predicted * predicted, predicted * speeds, speeds * speeds)
        self._sums += [product.sum() for product in (left * left, variances, work * work, *fit)]
        self._speed += float(speeds.sum())
        self._span += float(np.diff(windows.times).sum())
        self._count += len(rows)

    def balance(self) -> EnergyBalance:
        """What is known so far."""
        work_rms, left_rms, expected_rms = np.sqrt(self._sums[[2, 0, 1]] / max(self._count, 1))
        scale, friction = self._fit()
        loss = friction * self._speed / max(self._span, _NO_TIME)
        return EnergyBalance(self._count, *map(float, (work_rms, left_rms, expected_rms, scale, loss)))

    def _fit(self) -> FloatArray:
        """What is left as a multiple of the prediction, and of the squared speeds: both coefficients (2,)."""
        normal = self._sums[[[5, 6], [6, 7]]]
        return np.asarray(np.linalg.lstsq(normal, self._sums[3:5], rcond=None)[0])

    def findings(self, largest: float = np.inf) -> tuple[Finding, ...]:
        """The disagreement in words; empty while there are too few windows, or if there is none to speak of.

        Above the part `largest` of the work it counts even where the parameters are that uncertain.
        """
        balance = self.balance()
        limit = min(max(_SIGNIFICANT * balance.expected, _LARGE * balance.work), largest * balance.work)
        if balance.windows < _ENOUGH_WINDOWS or balance.disagreement <= limit:
            return ()
        share = 100.0 * balance.disagreement / balance.work
        message = (
            f"the energy balance disagrees with the torque model: {share:.0f} % of the work over {balance.windows} "
            f"windows is unexplained; {self._explain(balance)}"
        )
        return (Finding("warning", "energy_disagrees", message),)

    def _explain(self, balance: EnergyBalance) -> str:
        by_scale, by_friction = self._fit() ** 2 * self._sums[[5, 7]] / self._sums[0]
        if by_scale > _IS_SCALE:
            return (
                f"the work is the predicted one {100.0 * balance.scale:+.0f} %: check sign, unit and torque constants "
                "of the effort, and the unit of the velocities"
            )
        if by_friction > _IS_FRICTION:
            return (
                f"{balance.loss:.2g} W are {'lost' if balance.loss > 0.0 else 'gained'} with speed: switch on viscous "
                "and Coulomb friction; where they are on, look for an effort stamped late (links.effort_delay)"
            )
        return "check that efforts, positions and velocities are those of the same joint at the same time"


class EnergyCrossCheck:
    """Takes samples 20 ms apart, which is enough for the work over a window, and the solutions in between."""

    def __init__(self, model: LinkModel, links: LinksSettings, interval: float) -> None:
        """Set the arm, and how far samples are apart [s]."""
        self._rows = make_energy_rows(model, links, links.energy_window)
        self._taken = np.append(model.base.columns, len(model.base.names))
        self._interval, self._joints = interval, len(model.arm.joint_names)
        self.reset()

    def reset(self) -> None:
        """Forget all windows."""
        self._rows.restart()
        self._waiting: list[EnergyWindows] = []
        self._check = EnergyCheck(np.zeros(self._joints))

    @property
    def work(self) -> Work:
        """What efforts have done since the beginning of the window, for a kernel that adds to it."""
        return self._rows.work

    def restart(self) -> None:
        """Begin a new window with the next sample: there was a gap."""
        self._rows.restart()

    def end_window(self, sample: FloatArray) -> None:
        """A window has ended with a sample [time, positions, velocities, efforts, ...]."""
        windows = self._rows.end_window(sample)
        self._waiting.append(windows._replace(rows=windows.rows[:, self._taken]))

    def judge(self, time: float, solution: WeightedSolution) -> None:
        """Compare the windows that ended by a time [s] with what a solution predicts of them."""
        if not self._waiting:
            return
        windows = EnergyWindows(*(np.concatenate(parts) for parts in zip(*self._waiting, strict=True)))
        ended = windows.times[:, 1] <= time
        self._waiting = [_select(windows, ~ended)] if not ended.all() else []
        judged = _select(windows, ended)
        if not len(judged.rows) or solution.rows.max() < _ROWS:
            return
        self._check.effort_density = solution.variances * solution.correlations * self._interval
        self._check.take(judged, solution.values, solution.inverse)

    def findings(self) -> tuple[Finding, ...]:
        """The disagreement in words, if there is one."""
        return self._check.findings(_LARGEST)


def _select(windows: EnergyWindows, chosen: BoolArray) -> EnergyWindows:
    return EnergyWindows(*(part[chosen] for part in windows))
