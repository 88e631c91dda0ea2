"""Every way in which a verb can end, and the exit code for it. Never a raw traceback."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Sequence

from clusterwright.finding import Refused

FINE, FAILED, MISTAKEN, INTERRUPTED, PIPE_CLOSED = 0, 1, 2, 130, 141


def run(arguments: argparse.Namespace, words: Sequence[str]) -> int:
    try:
        code: int = arguments.run(arguments)
        sys.stdout.flush()
        return code
    except Refused as refused:
        from clusterwright.cli.terminal.findings import show

        show(refused.findings, as_json=arguments.json, stream=getattr(arguments, "resumes", False))
        return MISTAKEN
    except KeyboardInterrupt:
        way_on = f"; `{shlex.join(['clusterwright', *words])}` goes on from here" if arguments.resumes else ""
        print(f"\ninterrupted{way_on}", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader left (`| head`). Python flushes stdout at exit, and that must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except Exception as error:
        from clusterwright.cli.crash import report

        report(error, words, as_json=arguments.json)
        return FAILED
