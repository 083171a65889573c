"""Rows of a load that an identified arm carries: what the arm does not explain of its efforts.

With x the arm's base parameters, kept fixed, and A_l the columns of the link that the load is fixed to,

    y - A x = A_l T phi

where phi are the load's parameters in its own frame and T takes them to the link's.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from inertid_ros.core.equations.arm_regressor import ArmRegressor
from inertid_ros.core.equations.link_columns import LinkColumns
from inertid_ros.core.equations.model import LinkModel
from inertid_ros.core.errors import UnknownFrameError, UnsupportedJointError
from inertid_ros.core.input.synchroniser import Stretch
from inertid_ros.core.records import FloatArray, IntArray
from inertid_ros.core.rigid_body.inertial import change_frame
from inertid_ros.core.rows.link_rows import make_link_rows
from inertid_ros.core.settings.settings import LinksSettings

LOAD = 10


class PayloadRows:
    """Makes rows (K, 11) of a load's ten parameters."""

    def __init__(self, model: LinkModel, values: FloatArray, frame: str, links: LinksSettings) -> None:
        """Put a load on an arm.

        Args:
            model: the arm.
            values: (U,) its base parameters, without the load.
            frame: of the load's parameters; a joint must move it.
            links: settings.

        Raises:
            UnknownFrameError, UnsupportedJointError: if the frame is not there or no joint moves it.
        """
        body, turn = _attach(model, frame)
        link = np.arange(LOAD * body, LOAD * body + LOAD)
        chosen = np.union1d(model.base.columns, link)
        inertial = chosen[chosen < model.unknowns.inertial.stop]
        regressor = ArmRegressor(model.arm, model.source, model.base_pose, inertial)
        columns = LinkColumns(regressor, model.unknowns, chosen, links.coulomb_velocity)
        self._rows = make_link_rows(columns, links)
        self._load = np.searchsorted(chosen, link)
        self._turn = turn
        self._arm = np.zeros(len(chosen))
        self._arm[np.searchsorted(chosen, model.base.columns)] = values
        self.settling, self.repeats = self._rows.settling, self._rows.repeats
        moved = [bool(np.isin(self._load, used).any()) for used in self._rows.used]
        self.drives: list[IntArray] = []
        self.judged: FloatArray = np.empty((0, len(moved), LOAD + 1))
        self.used: list[IntArray] = [np.arange(LOAD if moves else 0, dtype=np.int64) for moves in moved]

    def start_anew(self) -> None:
        """Forget the past at the next sample."""
        self._rows.start_anew()

    def process(self, stretch: Stretch, readings: FloatArray, picked: list[int]) -> FloatArray:
        """Take samples without a gap and their readings (N, K); returns rows (picked, K, 11)."""
        whole = self._rows.process(stretch, readings, picked)
        rows = np.empty((*whole.shape[:2], LOAD + 1))
        rows[..., :LOAD] = whole[..., self._load] @ self._turn
        rows[..., LOAD] = whole[..., -1] - whole[..., :-1] @ self._arm
        self.judged = rows
        return rows

    def set_values(self, values: FloatArray) -> None:
        """Predict for the arm with a load (10,) from now on."""
        together = self._arm.copy()
        together[self._load] += self._turn @ values
        self._rows.set_values(together)

    def predict(self, start: int, stop: int) -> FloatArray:
        """Readings (stop - start, K) of some samples of the last stretch, of arm and load together."""
        return self._rows.predict(start, stop)


def _attach(model: LinkModel, frame: str) -> tuple[int, FloatArray]:
    """Which body a frame is fixed to, and the (10, 10) matrix from parameters in the frame to the body's."""
    frames = [item for item in model.arm.model.frames if item.type == pin.FrameType.BODY]
    found = [item for item in frames if item.name == frame]
    if not found:
        raise UnknownFrameError(frame, [item.name for item in frames])
    place = found[0].placement
    if found[0].parentJoint == 0:
        raise UnsupportedJointError(f"no measured joint moves frame '{frame}': a load cannot be identified there")
    turn = np.array([change_frame(unit, place.rotation, place.translation) for unit in np.eye(LOAD)]).T
    return found[0].parentJoint - 1, turn
