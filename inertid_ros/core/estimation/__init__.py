"""From rows to an estimate with calibrated uncertainty."""
