"""The frame of a load with its centre of mass and its ellipsoid of inertia, in three dimensions."""

from __future__ import annotations

import numpy as np

from inertid_ros.core.records import FloatArray, IntArray
from inertid_ros.core.rigid_body.description import RigidBodyEstimate, equivalent_semi_axes, semi_axis_bounds
from inertid_ros.report.drawing import AMBER, AXIS_COLOURS, BLUE, Fields, Figure

_CONFIDENT = 2.796
"""Square root of chi-square with three degrees of freedom at 95 %."""
_SMALLEST_FRAME = 0.05
"""Length of the axes at least [m], so that they can be seen beside a load that is close to the sensor."""


def draw_body(body: RigidBodyEstimate, shows_inertia: bool) -> Figure:
    """Draw a body that has a centre of mass, and its inertia if `shows_inertia`."""
    assert body.com is not None
    assert body.com_covariance is not None
    size = max(_SMALLEST_FRAME, 1.2 * float(np.abs(body.com).max()))
    variances, axes = np.linalg.eigh(body.com_covariance)
    spread = _CONFIDENT * np.sqrt(np.maximum(variances, 0.0))
    figure = Figure(520, ())
    centre = {
        "type": "scatter3d",
        **_coordinates(body.com[None]),
        "mode": "markers",
        "marker": {"size": 5, "color": AMBER},
        "name": "centre of mass",
        "hovertemplate": "centre of mass<br>%{x:.4f}, %{y:.4f}, %{z:.4f} m<extra></extra>",
    }
    figure.data += [*_draw_frame(size), _ellipsoid(body.com, axes, spread, AMBER, 0.5, "centre of mass, 95 %"), centre]
    if shows_inertia:
        figure.data += _draw_inertia(body)
    titles = {f"{axis}axis": {"title": {"text": f"{axis} [m]"}} for axis in "xyz"}
    figure.layout |= {
        "scene": {**titles, "aspectmode": "data", "camera": {"eye": {"x": 1.7, "y": 1.5, "z": 0.9}}},
        "margin": {"l": 0, "r": 0, "t": 30, "b": 0},
        "hovermode": "closest",
    }
    return figure


def _coordinates(points: FloatArray) -> Fields:
    return dict(zip("xyz", points.T, strict=True))


def _draw_frame(size: float) -> list[Fields]:
    return [
        {
            "type": "scatter3d",
            **_coordinates(np.stack([np.zeros(3), tip])),
            "mode": "lines+text",
            "line": {"color": colour, "width": 6},
            "text": ["", axis],
            "textfont": {"color": colour, "size": 16},
            "name": axis,
            "showlegend": False,
            "hoverinfo": "name",
        }
        for axis, colour, tip in zip("xyz", AXIS_COLOURS, size * np.eye(3), strict=True)
    ]


def _draw_inertia(body: RigidBodyEstimate) -> list[Fields]:
    """The homogeneous ellipsoid with the same inertia, and the largest one within 95 %."""
    assert body.com is not None
    assert body.principal_axes is not None
    assert body.principal_moments is not None
    assert body.principal_moments_std is not None
    moments = body.principal_moments
    semi_axes = equivalent_semi_axes(body.mass, moments)
    _, largest = semi_axis_bounds(body.mass, moments, body.principal_moments_std)
    return [
        _ellipsoid(body.com, body.principal_axes, semi_axes, BLUE, 0.35, "inertia"),
        _ellipsoid(body.com, body.principal_axes, largest, BLUE, 0.10, "inertia, 95 %"),
    ]


def _ellipsoid(
    centre: FloatArray, axes: FloatArray, semi_axes: FloatArray, colour: str, opacity: float, name: str
) -> Fields:
    return {
        "type": "mesh3d",
        **_coordinates(ellipsoid_points(centre, axes, semi_axes)),
        **dict(zip("ijk", _FACES.T, strict=True)),
        "color": colour,
        "opacity": opacity,
        "name": name,
        "showlegend": True,
        "hoverinfo": "name",
    }


def ellipsoid_points(centre: FloatArray, axes: FloatArray, semi_axes: FloatArray) -> FloatArray:
    """Points (P, 3) on an ellipsoid with those semi-axes (3,) [m] along the columns of `axes` (3, 3)."""
    return np.asarray(centre + (_SPHERE * semi_axes) @ axes.T)


def _make_sphere(rings: int, sectors: int) -> tuple[FloatArray, IntArray]:
    """Points (P, 3) of a unit sphere from pole to pole, and its triangles (T, 3)."""
    latitude, longitude = np.meshgrid(
        np.linspace(0.0, np.pi, rings + 1), np.linspace(0.0, 2.0 * np.pi, sectors, endpoint=False), indexing="ij"
    )
    points = [np.sin(latitude) * np.cos(longitude), np.sin(latitude) * np.sin(longitude), np.cos(latitude)]
    here = np.arange(rings * sectors).reshape(rings, sectors)
    beside = np.roll(here, -1, axis=1)
    quads = np.stack([here, beside, beside + sectors, here + sectors], axis=-1).reshape(-1, 4)
    return np.stack(points, axis=-1).reshape(-1, 3), np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])


_SPHERE, _FACES = _make_sphere(16, 28)
