"""Reports: what can be said of a graph, its labels and a model of it, on one page."""

from hopscale.explore.reports.report import Settings, make_report, report_format, write_report

__all__ = ["Settings", "make_report", "report_format", "write_report"]
