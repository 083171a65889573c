"""The report of one replay: a single HTML file that needs no network."""
