"""One file per verb: `add` joins it to the command line, `run` does it and gives the exit code."""
