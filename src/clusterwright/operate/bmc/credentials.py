"""User and password from where the description says that they are kept, when they are needed."""

from __future__ import annotations

import os
import shlex
import stat

from clusterwright.operate.bmc.machine import Bmc, Login

_FORM = "Write `USER:PASSWORD` on its first line"


def login(bmc: Bmc) -> Login:
    """Raises Refused where nobody wrote it down, or others can read it. Neither part is ever shown."""
    kind, _, name = bmc.credentials.partition(":")
    if not name:
        remedy = "Add `bmc_credentials: file:…` or `env:…` to the site, or the column to the file of machines"
        raise bmc.refuse("CW8191", "the description does not say where its login is kept", remedy)
    text = os.environ.get(name, "") if kind == "env" else _first_line(bmc, name)
    if kind == "env" and not text:
        what, remedy = f"the variable {name} is not set", f"Set it to `USER:PASSWORD`: `read -rs {name}`"
        raise bmc.refuse("CW8191", what, f"{remedy}, then `export {name}`")
    user, colon, password = text.partition(":")
    if not (user and colon and password):
        what = f"what {bmc.credentials} holds is not a user, a colon and a password"
        raise bmc.refuse("CW8191", what, _FORM if kind == "file" else "Set it to `USER:PASSWORD`")
    return Login(user, password)


def _first_line(bmc: Bmc, name: str) -> str:
    path = bmc.folder / name
    try:
        with path.open(encoding="utf-8") as stream:
            if stat.S_IMODE(os.fstat(stream.fileno()).st_mode) & 0o077:
                remedy = f"Run `chmod 600 {shlex.quote(str(path))}`, and change the password"
                raise bmc.refuse("CW8191", f"others may read {path}", remedy)
            return stream.readline().rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        raise bmc.refuse("CW8191", f"{path} cannot be read ({reason})", _FORM) from None
