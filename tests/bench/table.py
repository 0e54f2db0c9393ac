"""Reads the figures' lines and prints them as a table, or as one JSON array."""

import json
import sys


def verdict(row):
    if "goal" not in row:
        return ""
    return "reached" if row["reached"] else "MISSED"


def main():
    rows = [json.loads(line) for line in sys.stdin]
    if sys.argv[1] == "json":
        print(json.dumps(rows, indent=1))
        return
    cells = [("FIGURE", "MEASURED", "GOAL", "", "NOTE")]
    for row in rows:
        cells.append((row["figure"], f"{row['measured']:.4g} {row['unit']}", row.get("goal", ""),
                      verdict(row), row["note"]))
    widths = [max(len(line[i]) for line in cells) for i in range(4)]
    for line in cells:
        padded = [cell.ljust(width) for cell, width in zip(line, widths)]
        print("  ".join([*padded, line[4]]).rstrip())
    missed = sum(row.get("reached") is False for row in rows)
    judged = sum("goal" in row for row in rows)
    print(f"{judged - missed} of {judged} goals reached")


if __name__ == "__main__":
    main()
