"""Published arms, with figures of other engines: tests/data/README.md."""

from __future__ import annotations

from pathlib import Path

import yaml

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # written in C where it is there
ARMS = yaml.load((Path(__file__).parent / "data" / "published_robots.yaml").read_text(), LOADER)["robots"]
