"""From messages to synchronised samples."""
