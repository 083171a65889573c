"""The sensor's frame with the load's centre of mass and its ellipsoid of inertia, in three dimensions."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from inertid_ros.core.records import FloatArray, IntArray
from inertid_ros.core.rigid_body.description import RigidBodyEstimate
from inertid_ros.core.rigid_body.ellipsoid import equivalent_semi_axes, semi_axis_bounds
from inertid_ros.report.drawing import AMBER, AXIS_COLOURS, BLUE, style

_CONFIDENT = 2.796
"""Square root of chi-square with three degrees of freedom at 95 %."""
_SMALLEST_FRAME = 0.05


def draw_body(body: RigidBodyEstimate, shows_inertia: bool) -> go.Figure:
    """Draw a body that has a centre of mass, and its inertia if that may be shown."""
    assert body.com is not None
    assert body.com_covariance is not None
    size = max(_SMALLEST_FRAME, 1.2 * float(np.abs(body.com).max()))
    variances, axes = np.linalg.eigh(body.com_covariance)
    spread = _CONFIDENT * np.sqrt(np.maximum(variances, 0.0))
    figure = go.Figure(
        [
            *_draw_frame(size),
            _ellipsoid(body.com, axes, spread, AMBER, 0.5, "centre of mass, 95 %"),
            go.Scatter3d(
                x=body.com[:1],
                y=body.com[1:2],
                z=body.com[2:],
                mode="markers",
                marker={"size": 5, "color": AMBER},
                name="centre of mass",
                hovertemplate="centre of mass<br>%{x:.4f}, %{y:.4f}, %{z:.4f} m<extra></extra>",
            ),
        ]
    )
    if shows_inertia:
        figure.add_traces(_draw_inertia(body))
    style(figure, 520)
    titles = {f"{axis}axis": {"title": {"text": f"{axis} [m]"}} for axis in "xyz"}
    figure.update_layout(
        scene={**titles, "aspectmode": "data", "camera": {"eye": {"x": 1.7, "y": 1.5, "z": 0.9}}},
        margin={"l": 0, "r": 0, "t": 30, "b": 0},
        hovermode="closest",
    )
    return figure


def _draw_frame(size: float) -> list[go.Scatter3d]:
    lines = []
    for axis, colour, tip in zip("xyz", AXIS_COLOURS, size * np.eye(3), strict=True):
        line = go.Scatter3d(
            x=[0.0, tip[0]],
            y=[0.0, tip[1]],
            z=[0.0, tip[2]],
            mode="lines+text",
            line={"color": colour, "width": 6},
            text=["", axis],
            textfont={"color": colour, "size": 16},
            name=f"sensor {axis}",
            showlegend=False,
            hoverinfo="name",
        )
        lines.append(line)
    return lines


def _draw_inertia(body: RigidBodyEstimate) -> list[go.Mesh3d]:
    """The homogeneous ellipsoid that turns like the body, and the largest one at 95 %."""
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
) -> go.Mesh3d:
    points = ellipsoid_points(centre, axes, semi_axes)
    return go.Mesh3d(
        x=points[:, 0],
        y=points[:, 1],
        z=points[:, 2],
        i=_FACES[:, 0],
        j=_FACES[:, 1],
        k=_FACES[:, 2],
        color=colour,
        opacity=opacity,
        name=name,
        showlegend=True,
        hoverinfo="name",
    )


def ellipsoid_points(centre: FloatArray, axes: FloatArray, semi_axes: FloatArray) -> FloatArray:
    """Points (P, 3) on an ellipsoid with those semi-axes (3,) [m] along the columns of `axes` (3, 3)."""
    return np.asarray(centre + (_SPHERE * semi_axes) @ axes.T)


def _make_sphere(rings: int, sectors: int) -> tuple[FloatArray, IntArray]:
    """Points (P, 3) of a unit sphere from pole to pole, and its triangles (T, 3)."""
    latitude, longitude = np.meshgrid(
        np.linspace(0.0, np.pi, rings + 1), np.linspace(0.0, 2.0 * np.pi, sectors, endpoint=False), indexing="ij"
    )
    points = [np.sin(latitude) * np.cos(longitude), np.sin(latitude) * np.sin(longitude), np.cos(latitude)]
    ring, sector = np.meshgrid(np.arange(rings), np.arange(sectors), indexing="ij")
    here, beside = ring * sectors + sector, ring * sectors + (sector + 1) % sectors
    quads = np.stack([here, beside, beside + sectors, here + sectors], axis=-1).reshape(-1, 4)
    return np.stack(points, axis=-1).reshape(-1, 3), np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])


_SPHERE, _FACES = _make_sphere(16, 28)
