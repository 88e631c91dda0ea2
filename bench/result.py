"""One measured thing, the bar it has to reach, and the step of the same run that it is compared with."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reference:
    """The same figure of something plain, on the same machine at the same load."""

    name: str
    figure: float


@dataclass(frozen=True, slots=True)
class Result:
    """A figure. `bar` is in the same unit; None where the figure is only reported."""

    what: str
    figure: float
    bar: float | None = None
    unit: str = "s"
    reference: Reference | None = None
    note: str = ""

    @property
    def reached(self) -> bool | None:
        return None if self.bar is None else self.figure <= self.bar

    def row(self) -> tuple[str, str, str, str, str, str]:
        bar = "" if self.bar is None else f"≤ {self.bar:g} {self.unit}"
        verdict = {None: "", True: "reached", False: "**missed**"}[self.reached]
        ratio = ""
        if self.reference is not None:
            ratio = f"{self.figure / self.reference.figure:.1f} × {self.reference.name}"
        return self.what, f"{self.figure:.3g} {self.unit}", bar, verdict, ratio, self.note
