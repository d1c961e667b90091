"""An answer with nothing to run: a module of comments. Must end as `no_code`."""

# The kernel would go here.
