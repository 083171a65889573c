"""Whether practice converges, and how fast: the criteria of the thesis (6.6) for an arm that is known with uncertainty.

About a pose on the way, with G(s) = M s² + B s + K the arm, Ĝ the model that learns and C(s) = K_v s + K_p the
feedback, an error of the feedforward command becomes in the next trial (6.12, 6.28)

    du_ff' = A(s) du_ff,    A = (G - Ĝ)(G + C)⁻¹

since du = (1 + C G⁻¹)⁻¹ du_ff and its estimate is Ĝ G⁻¹ du. Errors die out in the end if the eigenvalues of
1 - M̂ M⁻¹, A's limit at high frequencies, are inside the unit circle (6.25); they shrink from the first trial on only if
the gain of A is below 1 at all frequencies that are learned. The gain is measured by the energy that efforts bring into
the arm, M⁻¹ᐟ² A M¹ᐟ², so that it does not depend on units. The true arm is not known: it is drawn from the estimate.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from inertid_ros.control.controllers import Gains
from inertid_ros.control.inverse_model import Inverse, InverseModel
from inertid_ros.control.practice import CUTOFF, Practice, low_pass
from inertid_ros.core.records import FloatArray
from inertid_ros.motions.motion import JointPath, Motion

POINTS = 9
"""Poses on the way at which the arm is linearised: quarters of a swing of the thesis' motions, twice as dense."""
DRAWS = 40
"""Arms that are drawn from the estimate: the second largest of them is the 95 % quantile."""
FREQUENCIES = np.geomspace(0.25, CUTOFF, 13)
"""Hz at which the gain is looked at: from the length of usual motions to what the filter lets through."""
_STEP = 1e-4
"""Step of the differences [rad, m and per second]: a hundredth of the knee of Coulomb friction."""


class Convergence(NamedTuple):
    """How errors of the command go from trial to trial.

    Attributes:
        radius: largest eigenvalue of 1 - M̂ M⁻¹ along the motion: the median of the arms drawn, and their 95 % quantile.
        gains: (F, 2) largest gain of A at FREQUENCIES, likewise.
    """

    radius: tuple[float, float]
    gains: FloatArray

    @property
    def gain(self) -> tuple[float, float]:
        """The largest gain over all frequencies."""
        return float(self.gains[:, 0].max()), float(self.gains[:, 1].max())

    def describe(self) -> str:
        """The same in a sentence."""
        likely, most = self.gain
        text = f"a trial leaves {100 * likely:.0f} % of the command's errors at most ({100 * most:.0f} % at 95 %)"
        if most < 1.0:
            return f"{text}: practice converges"
        if self.radius[1] < 1.0:
            return f"{text}: it may grow before it dies out"
        return f"{text}: practice with this model need not converge"


def find_convergence(
    learner: Inverse, arm: InverseModel, motion: Motion, gains: Gains | None = None, seed: int = 0
) -> Convergence:
    """How a model learns on an arm that is known with its covariance, along a motion, with feedback or without."""
    times = np.linspace(0.0, motion.duration, POINTS + 2)[1:-1]
    path = motion.at(times)
    count = motion.joint_count
    feedback = Gains(np.zeros(count), np.zeros(count)) if gains is None else gains
    own = _linearise(learner, path)
    random = np.random.default_rng(seed)
    factor = _find_root(arm.covariance)
    radii, curves = [], []
    for _ in range(DRAWS):
        drawn = arm.values + factor @ random.standard_normal(factor.shape[1])
        radius, curve = _measure(_linearise(arm.with_values(drawn), path), own, feedback)
        radii.append(radius)
        curves.append(curve)
    radius_median, radius_most = np.quantile(radii, [0.5, 0.95]).tolist()
    return Convergence((radius_median, radius_most), np.quantile(curves, [0.5, 0.95], axis=0).T)


def fit_feedback(practice: Practice) -> Gains:
    """Gains of the feedback, joint by joint, from what it did in a trial: u - u_ff = K_p (q_d - q) + K_v (v_d - v).

    All of it goes through the low-pass of the practice, for noise of the velocities would pass for too small a K_v.
    """
    trial, desired = practice.trial, practice.desired
    added = low_pass(trial.efforts - trial.feedforward)
    slipped, slow = low_pass(desired.positions - trial.positions), low_pass(desired.velocities - trial.velocities)
    away, during = np.stack((slipped, slow), axis=2), trial.times >= 0.0
    found = [np.linalg.lstsq(away[during, k], added[during, k], rcond=None)[0] for k in range(added.shape[1])]
    position, velocity = np.maximum(np.array(found).T, 0.0)
    return Gains(position, velocity)


def _linearise(model: Inverse, path: JointPath) -> tuple[FloatArray, FloatArray, FloatArray]:
    """M, B and K (N, n, n): derivatives of the efforts by accelerations, velocities and positions."""
    parts = []
    for place, step in ((2, 1.0), (1, _STEP), (0, _STEP)):
        columns = []
        for unit in np.eye(path.positions.shape[1]):
            shifted = [
                model.efforts(JointPath(*(x + sign * step * unit * (k == place) for k, x in enumerate(path))))
                for sign in (1.0, -1.0)
            ]
            columns.append((shifted[0] - shifted[1]) / (2.0 * step))
        parts.append(np.stack(columns, axis=2))
    inertia, damping, stiffness = parts
    return inertia, damping, stiffness


def _measure(
    arm: tuple[FloatArray, FloatArray, FloatArray], own: tuple[FloatArray, FloatArray, FloatArray], gains: Gains
) -> tuple[float, FloatArray]:
    """Largest eigenvalue of 1 - M̂ M⁻¹, and largest gain of A at each frequency, of all poses."""
    inertia = arm[0]
    values, vectors = np.linalg.eigh(inertia)
    root = np.einsum("nij,nj,nkj->nik", vectors, np.sqrt(np.maximum(values, 1e-12)), vectors)
    away = np.eye(inertia.shape[1]) - own[0] @ np.linalg.inv(inertia)
    radius = float(np.abs(np.linalg.eigvals(away)).max())
    curve = []
    for s in 2j * np.pi * FREQUENCIES:
        powers = (s * s, s, 1.0)
        plant, model = (sum(power * part for power, part in zip(powers, parts, strict=True)) for parts in (arm, own))
        loop = plant + np.diag(gains.velocity * s + gains.position)
        gain = np.linalg.solve(root, (plant - model) @ np.linalg.solve(loop, root.astype(complex)))
        curve.append(float(np.linalg.norm(gain, 2, axis=(1, 2)).max()))
    return radius, np.array(curve)


def _find_root(covariance: FloatArray) -> FloatArray:
    """F with F Fᵀ a covariance, which may be singular."""
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))
