"""The live page's pictures in a notebook, as an anywidget: the same scripts, and documents of the same kind."""

import atexit
import threading
import time
from typing import Any, ClassVar

import anywidget
import traitlets

from ..demands import echo
from ..training.views import Viewed
from .bundle import bundled
from .finished import Finished
from .session import Training

TELL_SECONDS = 0.4
"""Between two documents."""


SECONDS_TO_END = 10


def _ended(seen: Training, telling: threading.Thread) -> None:
    """Ends training, and waits until nobody tells of it any more."""
    seen.stopped.set()
    telling.join(SECONDS_TO_END)


class Board(anywidget.AnyWidget):
    """Pictures of runs in a notebook: of some that train, or of some that have ended.

    Training goes on in threads of its own, so that the notebook stays free. `runs` waits for its end; `pause`, `go_on`
    and `stop` do what the buttons do. Closing the notebook's page does not end it, but `close` and the kernel's end do.
    """

    _esm: ClassVar[str] = bundled("widget.js")
    about = traitlets.Dict().tag(sync=True)
    news = traitlets.Dict().tag(sync=True)
    """The last document, once there will be no further one."""

    def __init__(self, seen: Training | Finished, runs: Viewed | None = None):
        self._seen, self._runs, self._listening = seen, runs, threading.Lock()
        last = {"news": seen.document(0)[0]} if isinstance(seen, Finished) else {}
        super().__init__(about=seen.about(), **last)
        self.on_msg(self._hear)
        if isinstance(seen, Training):
            seen.start()
            telling = threading.Thread(target=self._tell, args=(seen,), daemon=True)
            telling.start()
            # A thread that computes while the interpreter goes would end the process with an abort.
            atexit.register(_ended, seen, telling)

    @property
    def runs(self) -> Viewed:
        """The runs. While they train this waits for their end, and Ctrl-C ends them as it does in `train`."""
        if self._runs is None:
            assert isinstance(self._seen, Training)
            try:
                self._runs = self._seen.result()
            except KeyboardInterrupt:
                self._seen.stopped.set()
                self._runs = self._seen.result()
        return self._runs

    def pause(self) -> None:
        """Lets the runs wait once the call that is under way has ended."""
        self._seen.going.clear()

    def go_on(self) -> None:
        """Ends a pause."""
        self._seen.going.set()

    def stop(self) -> None:
        """Ends training. What is not finished counts for as long as it was watched."""
        self._seen.stopped.set()

    def close(self) -> None:
        """Stops training and takes the pictures away."""
        self.stop()
        super().close()

    def _tell(self, seen: Training) -> None:
        """Says what is new until there is nothing new to come."""
        since, over = 0, False
        while not over:
            over = seen.over
            with self._listening:
                before = since
                document, since = seen.document(since)
                if not over:
                    self.send({"news": document, "from": before})
            time.sleep(0 if over else TELL_SECONDS)
        with self._listening:
            self.news = seen.document(0)[0]
        self.send({"news": self.news, "from": 0})

    def _hear(self, _: Any, wish: Any, __: Any) -> None:
        """What a view asks for."""
        match wish:
            case {"wish": "pause"}:
                self.pause()
            case {"wish": "resume"}:
                self.go_on()
            case {"wish": "stop"}:
                self.stop()
            case {"wish": "look", "run": run, "neuron": neuron}:
                self._seen.look_at(run, neuron)
                self._show_again()
            case {"wish": "all"}:
                self._show_again()
            case _:
                raise ValueError(f"A view asks for pause, resume, stop, look or all, got {echo(wish)}.")

    def _show_again(self) -> None:
        """All there is, for every view."""
        with self._listening:
            self.send({"news": self._seen.document(0)[0], "from": 0})

    def __repr__(self) -> str:
        if self._runs is None:
            return f"Board({self._seen.phase}: {len(self._seen.drawn.names)} runs)"
        return f"Board({self._runs._sentence()})"
