"""The report of one replay: a single HTML file that needs no network."""

from inertid_ros.report.page import write_report

__all__ = ["write_report"]
