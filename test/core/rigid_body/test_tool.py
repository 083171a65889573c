"""The load is what is carried less the tool, and what is not known of the tool is not known of the load."""

from __future__ import annotations

import numpy as np

from inertid_ros.core.rigid_body.inertial import Tool, compose, decompose, from_pinocchio, subtract, to_pinocchio


def test_load_is_what_pinocchio_adds_to_the_tool() -> None:
    gripper = compose(0.9, np.array([0.0, 0.01, 0.05]), np.diag([1e-3, 2e-3, 1.5e-3]))
    load = compose(1.1, np.array([0.02, -0.03, 0.15]), np.diag([4e-3, 5e-3, 6e-3]))
    together = from_pinocchio(to_pinocchio(gripper) + to_pinocchio(load))
    tool = Tool(gripper, np.diag(np.arange(1.0, 11.0)), "ft_sensor")
    phi, covariance = subtract(together, 0.5 * np.eye(10), tool)
    np.testing.assert_allclose(phi, load, atol=1e-15)
    np.testing.assert_allclose(decompose(phi)[1], [0.02, -0.03, 0.15], atol=1e-14)
    np.testing.assert_allclose(covariance, np.diag(np.arange(1.5, 11.5)))


def test_errors_of_tool_and_total_scatter_together() -> None:
    generator = np.random.default_rng(1)
    mixing = generator.normal(0.0, 1.0, (2, 10, 10))
    tool_covariance, total_covariance = mixing @ mixing.transpose(0, 2, 1)
    tools = generator.multivariate_normal(np.zeros(10), tool_covariance, 20000)
    totals = generator.multivariate_normal(np.ones(10), total_covariance, 20000)
    scatter = np.cov((totals - tools).T)
    _, covariance = subtract(np.ones(10), total_covariance, Tool(np.zeros(10), tool_covariance, "ft_sensor"))
    np.testing.assert_allclose(scatter, covariance, atol=0.05 * covariance.max())
