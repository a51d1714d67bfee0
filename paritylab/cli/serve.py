"""`paritylab serve`."""

import secrets
from pathlib import Path
from typing import Annotated

import typer

from .app import app, exit_2_on_bad_input, say
from .options import folder, option

PORT = 8427


@app.command()
def serve(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[FOLDER ...]", help="Folders with stores and reports; none: this one.", parser=folder),
    ] = None,
    port: Annotated[int, option("Port; 0 takes one that is free.")] = PORT,
    host: Annotated[str, option("Address to listen on; another than loopback needs --expose.")] = "127.0.0.1",
    expose: Annotated[bool, option("Let other machines in, who need the token that is printed.", "--expose")] = False,
) -> None:
    """Open a page in your browser: watch hundreds of networks learn, look at stores, and at claims with their figures.

    It needs no network and no account, and asks nothing of any other machine. Ctrl-C ends it.
    """
    places = folders or [Path()]
    with exit_2_on_bad_input():
        if not 0 <= port < 2**16:
            raise ValueError(f"--port is a whole number from 0 to {2**16 - 1}, got {port}.")
        if missing := [each for each in places if not each.is_dir()]:
            raise ValueError(f"There is no folder {missing[0]}. Name one that is there, or none for the current one.")
        if not host:
            raise ValueError("--host is empty. Name an address, such as 127.0.0.1, or leave it out.")
        from ..page.safety import bracketed, is_loopback

        if not is_loopback(host) and not expose:
            raise ValueError(
                f"--host {host!a:.80} lets other machines in, who could train here. Say so with --expose, or leave it "
                "out to be reached from this machine alone."
            )
        from ..page.server import Server

        token = "" if is_loopback(host) else secrets.token_urlsafe(24)
        try:
            server = Server(host, port, places, token)
        except OSError as error:
            reason = error.strerror or str(error)
            raise ValueError(f"{host!a:.80}:{port} cannot be listened on ({reason}). Choose another --port.") from None
    address = f"http://{bracketed(host)}:{server.server_address[1]}/" + (f"?token={token}" if token else "")
    typer.echo(address)
    say("open this address in a browser; Ctrl-C ends it")
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        say("ended; what was training was stopped")
    finally:
        server.end_all()
        server.server_close()
