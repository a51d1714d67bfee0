"""All experiments at quick scale, judged, and their report in a browser."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from browsing import check


@pytest.mark.acceptance
def test_everything_at_quick_scale(tmp_path):
    from paritylab.registry import PAPERS

    command = [sys.executable, "-m", "paritylab", "reproduce", *PAPERS, "--out", str(tmp_path), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    print(done.stderr)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert json.loads((tmp_path / "claims.json").read_text()) == document["claims"]
    figures = sum(1 for _ in tmp_path.glob("quick/*/*/*.png"))
    check(Path(document["report"]), figures=figures, claims=len(document["claims"]))
