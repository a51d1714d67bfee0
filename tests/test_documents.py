"""Documents are written whole or not at all, whatever the disk does."""

import os
import socket

import pytest

from paritylab.documents import DocumentCannotBeWritten, check_regular, make_folder, write_whole


def test_a_document_is_written_over_when_the_new_one_is_whole(tmp_path, monkeypatch):
    path, synced = tmp_path / "a.json", []
    monkeypatch.setattr(os, "fsync", lambda handle: synced.append(os.path.isdir(f"/proc/self/fd/{handle}")))
    write_whole(path, "é\n")
    write_whole(path, b"two", tmp_path)
    assert path.read_bytes() == b"two" and [*tmp_path.iterdir()] == [path]
    assert len(synced) == 4  # each time the file, and then the folder with its new name


def full(*_):
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_full_disk_leaves_what_was_there(tmp_path, monkeypatch, call):
    path = tmp_path / "a.json"
    write_whole(path, "one")
    monkeypatch.setattr(os, call, full)
    with pytest.raises(DocumentCannotBeWritten) as said:
        write_whole(path, "two")
    assert str(said.value) == (
        f"{path} cannot be written (No space left on device); what was there before is unchanged. "
        "Make room, or choose another folder."
    )
    assert said.value.errno == 28 and path.read_text() == "one" and [*tmp_path.iterdir()] == [path]


def test_ctrl_c_leaves_what_was_there(tmp_path, monkeypatch):
    def interrupted(_):
        raise KeyboardInterrupt

    write_whole(tmp_path / "a.json", "one")
    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_whole(tmp_path / "a.json", "two")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["one"]


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(DocumentCannotBeWritten, match="cannot be written"):
        make_folder(tmp_path / "file" / "folder")
    with pytest.raises(DocumentCannotBeWritten, match="cannot be written"):
        write_whole(tmp_path / "file" / "a.json", "one")


def test_pipes_sockets_and_devices_are_no_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # the name of a socket is short
    os.mkfifo("pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        for name, kind in (("pipe", "a pipe"), ("socket", "a socket"), (os.devnull, "a device")):
            with pytest.raises(ValueError, match=f"{name} is {kind}, and not a file. Put a file in its place."):
                check_regular(type(tmp_path)(name))
    check_regular(tmp_path / "nothing")
