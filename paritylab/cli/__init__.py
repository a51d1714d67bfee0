"""The command line: parses, calls, prints. No science inside, and no JAX until a command needs it."""

from ..interruptions import hear_no_more, hear_once_to_the_end
from . import analyze, bench, bound, listing, reproduce, serve, store, sweep, train  # noqa: F401 (they add their commands)
from .app import app as app, give_up_output


def main() -> None:
    heard = hear_once_to_the_end()
    try:
        app()
    except OSError as error:
        give_up_output(error)
    except (ImportError, SystemExit) as end:  # a library may make the former of an interruption while it loads
        if not (heard.heard and getattr(end, "code", True)):
            raise
        raise SystemExit(heard.exit_code) from None
    finally:
        hear_no_more()
