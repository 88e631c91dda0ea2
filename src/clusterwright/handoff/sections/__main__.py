"""Writes the published schema."""

import sys
from pathlib import Path

from clusterwright.handoff.sections.document import FILE, text

Path(sys.argv[1] if len(sys.argv) > 1 else FILE).write_text(text(), encoding="utf-8")
