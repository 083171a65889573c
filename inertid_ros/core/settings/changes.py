"""Which parameters may change while the node runs, and what happens then."""

from __future__ import annotations

IMMEDIATE = ("estimate_rate", "save_directory")
"""Take effect at once."""

FIXED = ("estimators", "autostart", "output_reliability", "load.source", "links.source")
"""Are read when the node is configured, and rejected later."""


def restarts_identification(name: str, estimator: str) -> bool:
    """Whether a change of this parameter restarts an estimator, `load` or `links`."""
    owner = name.rpartition(".")[0]
    return name not in IMMEDIATE and name not in FIXED and owner in ("", estimator)


def describe_changes() -> str:
    """Say it in words."""
    return (
        f"{_list(IMMEDIATE)} take effect at once. {_list(FIXED)} are read when the node is configured, and rejected "
        "later. Changing a parameter of `load` or of `links` restarts the identification of that, any other one both."
    )


def _list(names: tuple[str, ...]) -> str:
    quoted = [f"`{name}`" for name in names]
    return ", ".join(quoted[:-1]) + " and " + quoted[-1]
