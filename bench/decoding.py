"""The content of an answer without its content coding, for the independent clients of the benches."""

import functools
import shutil
import subprocess
import sys

# Programs that decode from standard input.
DECODERS = {"gzip": ["gzip", "-dc"], "br": ["brotli", "-dc"], "zstd": ["zstd", "-dcq"]}
MISSING = [command[0] for command in DECODERS.values() if not shutil.which(command[0])]
if MISSING:
    sys.exit(f"not here: {', '.join(MISSING)}; apt install {' '.join(MISSING)}")


@functools.lru_cache(maxsize=4096)
def decoded(body, coding):
    """The content; None if it cannot be decoded."""
    if coding in ("", "identity"):
        return body
    if coding not in DECODERS:
        return None
    ran = subprocess.run(DECODERS[coding], input=body, capture_output=True, timeout=60)
    return ran.stdout if ran.returncode == 0 else None
