"""Reads kosoku's index.json: a line per case that failed, then "N passed, N failed". Exit 1 unless all of some passed."""

import json
import sys

# NON-STRICT is not a pass: it means that bad text was refused, but later than it could have been.
PASSED = {"OK", "INFORMATIONAL"}


def main() -> int:
    with open(sys.argv[1], encoding="utf-8") as file:
        agents = json.load(file)
    cases = [(name, case) for agent in agents.values() for name, case in agent.items()]
    failed = [
        (name, case) for name, case in cases if case["behavior"] not in PASSED or case["behaviorClose"] not in PASSED
    ]
    for name, case in failed:
        print(f"case {name}: {case['behavior']}, close: {case['behaviorClose']} ({case['remoteCloseCode']})")
    print(f"{len(cases) - len(failed)} passed, {len(failed)} failed")
    return 0 if cases and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
