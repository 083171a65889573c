"""How much a motion will tell of an arm's links and drives, from its joints' efforts or the wrench under its base."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from inertid_ros.core.equations.model import LinkModel
from inertid_ros.core.records import FloatArray
from inertid_ros.core.settings.settings import LinksSettings
from inertid_ros.motions.design.load_information import WrenchNoise
from inertid_ros.motions.design.motion_information import MotionInformation, information_of
from inertid_ros.motions.motion import JointPath

NOISE_SHARE = 0.005
"""Where nothing is said of them, efforts at 200 Hz are taken to have this part of their limit as noise ..."""
NOISE_WITHOUT_LIMIT = 0.5
"""... or so much [Nm or N] where there is no limit."""

_NOISE_RATE = 200.0
BASE_NOISE = WrenchNoise(1.0 / _NOISE_RATE**0.5, 0.1 / _NOISE_RATE**0.5)
"""Of a sensor that carries a whole arm: 1 N and 0.1 Nm at 200 Hz."""

_ENDLESS = 1e6


class LinkInformation(MotionInformation):
    """The information on the base parameters of an arm that joint paths bring; offsets are not wanted, but unknown."""

    def __init__(
        self, model: LinkModel, densities: FloatArray, settings: LinksSettings, known: FloatArray | None = None
    ) -> None:
        """Set up for one arm.

        Args:
            model: the arm, what is measured of it, and its base parameters.
            densities: (K,) of the noise of each channel, unit/sqrt(Hz).
            settings: with the two cutoffs of the filtered method, and the smallest noise that is believed.
            known: (U, U) covariance of what is known of the base parameters already; None for nothing.
        """
        self._equation = model.equation
        self._model = model.arm.model
        self._data = self._model.createData()
        cutoffs = settings.filter_cutoff, settings.smoothing_cutoff
        weights = 1.0 / np.sqrt(densities**2 + _floor_densities(model, settings) ** 2)
        signals = self._equation.signals
        places = self._equation.assemble(np.eye(signals))
        prior = np.diag(1.0 / model.prior_deviations**2)
        if known is not None:
            prior += information_of(known)
        offsets = [range(part.start, part.stop) for part in (model.unknowns.offset, model.unknowns.base_offset)]
        wanted = ~np.isin(model.base.columns, np.concatenate(offsets))
        super().__init__(cutoffs, (weights[:, None] * places).reshape(signals, -1), prior, wanted)

    def move(self, path: JointPath) -> tuple[FloatArray, FloatArray]:
        """Entries of the arm's equations, and the efforts that the URDF's own inertias take."""
        efforts = np.empty(path.positions.shape)
        model, data, inverse_dynamics = self._model, self._data, pin.rnea
        for i, (q, v, a) in enumerate(zip(*path, strict=True)):
            efforts[i] = inverse_dynamics(model, data, q, v, a)
        return self._equation.compute(*path), efforts


def assume_noise(model: LinkModel, wrench: WrenchNoise, efforts: FloatArray | None = None) -> FloatArray:
    """Densities (K,) of the noise of each channel, unit/sqrt(Hz).

    Args:
        model: the arm and what is measured of it.
        wrench: of the base sensor.
        efforts: (n,) of the efforts; None for a share of their limits.
    """
    if efforts is None:
        limits = model.arm.effort_limits
        efforts = np.where(limits < _ENDLESS, NOISE_SHARE * limits, NOISE_WITHOUT_LIMIT) / np.sqrt(_NOISE_RATE)
    return _join_channels(model, wrench, efforts)


def _floor_densities(model: LinkModel, settings: LinksSettings) -> FloatArray:
    """What the smallest standard deviations of filtered rows that are believed amount to as densities, (K,).

    White noise of density S passes both filters with the variance S^2 l d / (2 (l + d)).
    """
    first, second = settings.filter_cutoff, settings.smoothing_cutoff
    base = WrenchNoise(settings.noise_floor_force, settings.noise_floor_torque)
    floors = _join_channels(model, base, np.full(len(model.arm.joint_names), settings.noise_floor_effort))
    return np.asarray(floors * np.sqrt(2.0 * (first + second) / (first * second)))


def _join_channels(model: LinkModel, wrench: WrenchNoise, efforts: FloatArray) -> FloatArray:
    base = np.repeat(np.array(wrench), 3) if model.source.has_base_wrench else np.empty(0)
    return np.concatenate((base, efforts)) if model.source.has_efforts else base
