"""Write what pip would install, from its report, by version and hash.

``pip install --dry-run --ignore-installed --report report.json ...``, then
``python .ci/hashed.py report.json``. The hashes are of the files for the Python and the system that
pip ran on.
"""

import json
import sys
from pathlib import Path

lines = []
for one in json.loads(Path(sys.argv[1]).read_text())["install"]:
    archive = one["download_info"].get("archive_info")
    if archive is None:  # the project itself, a folder
        continue
    name, version = one["metadata"]["name"].lower(), one["metadata"]["version"]
    lines.append(f"{name}=={version} --hash=sha256:{archive['hashes']['sha256']}\n")
sys.stdout.writelines(sorted(lines))
