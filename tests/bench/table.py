"""Rows of the bench and their table. A target is a number that the value should not exceed, or,
negative, one that it should reach; it is shown, and nothing fails by it. A value without a unit is
the ratio of the two sides."""
import dataclasses
import statistics

BEGIN, END = "<!-- bench: begin -->", "<!-- bench: end -->"
HEAD = "| measured | where | cloop | peer | ratio | target | met | notes |\n" + "|---" * 8 + "|"


@dataclasses.dataclass
class Row:
    what: str
    where: str
    own: str
    other: str
    value: float
    target: float | None
    unit: str = ""
    notes: str = ""

    def met(self):
        if self.target is None:
            return ""
        good = self.value >= -self.target if self.target < 0 else self.value <= self.target
        return "yes" if good else "no"

    def bound(self):
        if self.target is None:
            return ""
        return f"{'≥' if self.target < 0 else '≤'} {abs(self.target):g} {self.unit}".strip()

    def shown(self):
        ratio = "" if self.unit else f"{self.value:.2f}"
        cells = (self.what, self.where, self.own, self.other, ratio, self.bound(), self.met(),
                 self.notes)
        return "| " + " | ".join(cells) + " |"


def seconds(values):
    middle = statistics.median(values)
    return f"{middle * 1000:.0f} ms" if middle < 10 else f"{middle:.1f} s"


def ratios(what, engine, pairs, target, notes=""):
    """A row of paired wall times: the median of the ratios, with the least and the largest."""
    each = [ours / theirs for ours, theirs in pairs]
    noise = f"{len(each)} pairs, {min(each):.2f} … {max(each):.2f}"
    return Row(what, engine.title, seconds([o for o, _ in pairs]), seconds([t for _, t in pairs]),
               statistics.median(each), target, "", f"{noise}; {notes}" if notes else noise)


def render(facts, rows):
    return "\n".join([*facts, "", HEAD, *(row.shown() for row in rows)]) + "\n"


def write(path, text):
    """Puts the table between the marks of a document."""
    old = path.read_text()
    head, _, rest = old.partition(BEGIN)
    _, _, tail = rest.partition(END)
    path.write_text(f"{head}{BEGIN}\n{text}{END}{tail}")
