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
from .app import INTERRUPTED, TERMINATED, app as app, give_up_output


def main() -> None:
    heard = hear_once_to_the_end()
    try:
        app()
    except OSError as error:
        give_up_output(error)
    except SystemExit as end:
        if end.code == INTERRUPTED and heard.terminated:
            raise SystemExit(TERMINATED) from None
        raise
    finally:
        hear_no_more()
