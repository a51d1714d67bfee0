"""The command line: parses, calls, prints. No science inside, and no JAX until a command needs it."""

from ..interruptions import hear_no_more, hear_once_to_the_end
from . import (
    analyze as analyze,
    bench as bench,
    bound as bound,
    listing as listing,
    reproduce as reproduce,
    store as store,
    sweep as sweep,
    train as train,
)
from .app import app as app, give_up_output


def main() -> None:
    heard = hear_once_to_the_end()
    try:
        app()
    except OSError as error:
        give_up_output(error)
    except ImportError:  # what a library makes of an interruption while it loads
        if not heard.heard:
            raise
        raise SystemExit(heard.exit_code) from None
    except SystemExit as end:
        if not (heard.heard and end.code):
            raise
        raise SystemExit(heard.exit_code) from None
    finally:
        hear_no_more()
