"""What a motion is designed for: the information it brings on a load by a wrist sensor, or on the arm's own links."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pinocchio as pin

from inertid_ros.core.equations.load import (
    FEATURES,
    LOAD,
    PRIOR_BIAS,
    PRIOR_LOAD,
    REGRESSORS,
    UNKNOWNS,
    make_load_equation,
)
from inertid_ros.core.equations.model import LinkModel
from inertid_ros.core.records import FloatArray
from inertid_ros.core.rigid_body.inertial import to_pinocchio
from inertid_ros.core.robot.robot import FramePath
from inertid_ros.core.settings.settings import LinksSettings, LoadSettings
from inertid_ros.motions.files import ENDLESS
from inertid_ros.motions.information import MotionInformation, information_of
from inertid_ros.motions.motion import JointPath

_NOISE_RATE = 200.0
"""At which assumed noise is stated [Hz]: white noise of deviation s sampled at f has the density s / sqrt(f)."""


class WrenchNoise(NamedTuple):
    """Densities of wrench noise [N/√Hz, Nm/√Hz]; by default 0.1 N and 5 mNm at 200 Hz, as simulated for the PUMA."""

    force: float = 0.1 / _NOISE_RATE**0.5
    torque: float = 0.005 / _NOISE_RATE**0.5


BASE_NOISE = WrenchNoise(1.0 / _NOISE_RATE**0.5, 0.1 / _NOISE_RATE**0.5)
"""Assumed of a sensor that carries a whole arm: 1 N and 0.1 Nm at 200 Hz."""
NOISE_SHARE = 0.005
"""Share of its limit that is assumed as the noise of an effort at 200 Hz if nothing else is known."""
NOISE_WITHOUT_LIMIT = 0.5
"""The same [Nm or N] for a joint without an effort limit."""


class LoadInformation(MotionInformation):
    """The information that joint paths bring on [phi (10), bias (6)], of which phi is wanted."""

    def __init__(
        self,
        path: FramePath,
        gravity: FloatArray,
        noise: WrenchNoise,
        settings: LoadSettings,
        known: FloatArray | None = None,
        load: FloatArray | None = None,
    ) -> None:
        """Set up for the joints that move one sensor frame, and gravity (3,) in the root frame [m/s^2].

        `known` is the covariance (10, 10) of what is known of the load already, `load` (10,) what is carried, for the
        efforts; None for nothing.
        """
        self._model = path.model.copy()
        self._model.gravity.linear = np.asarray(gravity, dtype=np.float64)
        if load is not None:
            self._model.appendBodyToJoint(self._model.njoints - 1, to_pinocchio(load), pin.SE3.Identity())
        self._data = self._model.createData()
        self._equation = make_load_equation(path, self._model.gravity.linear)
        weights = 1.0 / np.repeat([noise.force, noise.torque], 3)
        whitened = (weights[:, None] * REGRESSORS).reshape(FEATURES, 6 * UNKNOWNS)
        prior = np.diag(1.0 / np.concatenate((PRIOR_LOAD, PRIOR_BIAS)) ** 2)
        if known is not None:
            prior[:LOAD, :LOAD] += information_of(known)
        super().__init__(
            (settings.filter_cutoff, settings.smoothing_cutoff), whitened, prior, np.arange(UNKNOWNS) < LOAD
        )

    def move(self, path: JointPath) -> tuple[FloatArray, FloatArray]:
        """Features of the regressor (N, 13), and efforts (N, n)."""
        signals = self._equation.compute(*path)
        features = signals[:, :FEATURES]
        features[:, :3] -= signals[:, FEATURES : FEATURES + 3]
        # The model's last joint is the sensor's, which does not move.
        coordinates = np.pad(np.stack(path, axis=1), ((0, 0), (0, 0), (0, 1)))
        return features, _compute_efforts(self._model, self._data, coordinates)[:, :-1]


class LinkInformation(MotionInformation):
    """The information on the base parameters of an arm that joint paths bring; offsets are not wanted, but unknown."""

    def __init__(
        self, model: LinkModel, densities: FloatArray, settings: LinksSettings, known: FloatArray | None = None
    ) -> None:
        """Set up for one arm with the noise densities (K,) of its channels [unit/sqrt(Hz)].

        `known` is the covariance (U, U) of what is known of the base parameters already; None for nothing.
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
        return self._equation.compute(*path), _compute_efforts(self._model, self._data, np.stack(path, axis=1))


def _compute_efforts(model: pin.Model, data: pin.Data, coordinates: FloatArray) -> FloatArray:
    """Efforts (N, n) of positions, velocities and accelerations (N, 3, n), after Newton and Euler."""
    return np.array([pin.rnea(model, data, *state) for state in coordinates])


def assume_noise(model: LinkModel, wrench: WrenchNoise, efforts: FloatArray | None = None) -> FloatArray:
    """Noise densities (K,) of the channels: base sensor, then efforts (n,), by default a share of their limits."""
    if efforts is None:
        limits = model.arm.effort_limits
        efforts = np.where(limits < ENDLESS, NOISE_SHARE * limits, NOISE_WITHOUT_LIMIT) / np.sqrt(_NOISE_RATE)
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
